import type { Context, MiddlewareHandler } from 'hono';
import type { HoldfastClient } from '../../client/index';
import { actionForbidden } from '../../client/connection/authority';
import type { Action } from '../../contract/access';
import type { HoldfastError } from '../../contract/errors';
import { codeOf } from '../../contract/errors';
import type { Access } from './access';

export interface Entered {
  readonly client: HoldfastClient;
  /** Whether the caller is still known, for answers that last. */
  readonly isKnown: () => Promise<boolean>;
}

export type May = Action | 'identified' | 'anybody';

const gateKey = 'holdfastGate';

/** Every route passes here before it reads the request. */
export class AccessGate {
  constructor(
    private readonly client: HoldfastClient,
    private readonly access: Access | undefined,
  ) {}

  readonly open: MiddlewareHandler = (context, next) => {
    context.set(gateKey, this);
    return next();
  };

  async enter(context: Context, may: May): Promise<Entered> {
    const { client, access } = this;
    if (access === undefined || may === 'anybody') return { client, isKnown: () => Promise.resolve(true) };
    const request = context.req.raw;
    const caller = await access.identify(request).catch((error: unknown) => {
      for (const [name, value] of Object.entries(headersOf(error))) context.header(name, value);
      throw error;
    });
    if (may !== 'identified' && !caller.may.has(may)) throw access.refused(request, actionForbidden(caller, may), caller);
    return { client: client.as(caller), isKnown: () => access.knows(request, caller, may) };
  }

  /** Writes a refusal of a route for anybody to the audit log. */
  refused<Refusal>(context: Context, error: Refusal): Refusal {
    return this.access?.refused(context.req.raw, error) ?? error;
  }
}

function headersOf(error: unknown): Readonly<Record<string, string>> {
  const code = codeOf(error);
  if (code === 'identity-missing' || code === 'identity-invalid') return { 'www-authenticate': 'Bearer realm="holdfast"' };
  const { retryAfter } = ((error as HoldfastError).details ?? {}) as { readonly retryAfter?: number };
  return code === 'requests-limited' ? { 'retry-after': String(retryAfter) } : {};
}

export function gateOf(context: Context): AccessGate {
  return context.get(gateKey as never) as AccessGate;
}
