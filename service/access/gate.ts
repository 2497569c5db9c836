import type { Context, MiddlewareHandler } from 'hono';
import type { HoldfastClient } from '../../client/index';
import { actionForbidden } from '../../client/connection/acting';
import type { Action } from '../../contract/access';
import type { Access } from './access';

/** What a route gets of its caller. */
export interface Entered {
  /** Acts for the caller, within the tenant. */
  readonly client: HoldfastClient;
  /** Whether the caller is still known, for answers that last. */
  readonly isKnown: () => Promise<boolean>;
}

const gateKey = 'holdfastGate';

/** Every route passes here before it reads the request. */
export class Gate {
  constructor(
    private readonly client: HoldfastClient,
    private readonly access: Access | undefined,
  ) {}

  readonly open: MiddlewareHandler = (context, next) => {
    context.set(gateKey, this);
    return next();
  };

  async enter(context: Context, may: Action | 'anybody'): Promise<Entered> {
    const { client, access } = this;
    if (access === undefined || may === 'anybody') return { client, isKnown: () => Promise.resolve(true) };
    const request = context.req.raw;
    const caller = await access.identify(request);
    if (!caller.may.has(may)) throw access.refused(request, actionForbidden(caller, may), caller);
    return { client: client.as(caller), isKnown: () => access.knows(request, caller) };
  }
}

export function gateOf(context: Context): Gate {
  return context.get(gateKey as never) as Gate;
}
