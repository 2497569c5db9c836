import type { Act, KnownCaller } from '../../client/connection/authority';
import type { Action, Principal } from '../../contract/access';
import { actionsOf } from '../../contract/access';
import { isStrings } from '../../contract/check';
import { defined } from '../../contract/defined';
import { HoldfastError, codeOf, messageOf } from '../../contract/errors';
import { isTenant } from '../../contract/names';
import { isPersonName } from '../../contract/people';
import { shown } from '../../contract/shown';
import type { Logger } from '../../host/logger';
import { whoOf, type Audit } from './audit';
import type { May } from './gate';
import type { Issuers } from './issuers';
import type { Keys } from './keys';
import type { Links } from './links';
import { checkSite } from './origin';
import type { AccessOptions, Identity } from './parts';
import type { RequestRate } from './rate';
import type { Sessions } from './sessions';

export interface AccessParts {
  readonly logger: Logger;
  readonly options: AccessOptions;
  readonly keys: Keys;
  readonly issuers: Issuers;
  readonly sessions: Sessions;
  readonly audit: Audit;
  readonly links: Links;
  /** Absent: no limit. */
  readonly rate?: RequestRate;
}

/** Tells who sends a request, and what the caller may do. */
export class Access {
  constructor(readonly parts: AccessParts) {}

  async identify(request: Request): Promise<KnownCaller> {
    let known: Principal | undefined;
    try {
      const { principal, mayWith } = await this.find(request);
      known = principal;
      this.parts.rate?.take(principal);
      const may = actionsOf(principal.roles, this.parts.options.roles);
      return { ...principal, may, onAct: (act) => this.noted(principal, act), ...defined({ mayWith }) };
    } catch (error) {
      throw this.refused(request, this.untold(error), known);
    }
  }

  /** A stranger learns no address of a store or an issuer. */
  private untold(error: unknown): unknown {
    if (codeOf(error) !== 'identity-unavailable') return error;
    this.parts.logger.error(`Nobody can be identified: ${messageOf(error)}`);
    return new HoldfastError(
      'identity-unavailable',
      'The service cannot find out who calls, because its store or the issuer gives no answer.',
    );
  }

  /** Whether the request would still be taken as the caller's, and the caller's roles still allow what the route needs. */
  async knows(request: Request, caller: KnownCaller, needs: Exclude<May, 'anybody'>): Promise<boolean> {
    const { tenant, user, proof } = caller;
    const found = await this.find(request).catch((error: unknown) => {
      const code = codeOf(error);
      return code === undefined || code === 'identity-unavailable' ? 'unavailable' : undefined;
    });
    // A store that is away ends no stream.
    if (found === 'unavailable') return true;
    if (found?.principal.tenant !== tenant || found.principal.user !== user || found.principal.proof !== proof) return false;
    caller.mayWith = found.mayWith;
    return needs === 'identified' || actionsOf(found.principal.roles, this.parts.options.roles).has(needs);
  }

  /** Whoever has a signed link may read and answer, and the link's routes let them see one question. */
  linked(principal: Principal): KnownCaller {
    return { ...principal, may: new Set<Action>(['runs:read', 'runs:answer']), onAct: (act) => this.noted(principal, act) };
  }

  refused<Refusal>(request: Request, error: Refusal, by?: Principal): Refusal {
    const route = `${request.method} ${new URL(request.url).pathname}`;
    void this.parts.audit.write({ what: 'refusal', route, code: codeOf(error) ?? 'internal', ...whoOf(by) });
    return error;
  }

  private noted(by: Principal, act: Act): void {
    void this.parts.audit.write({ what: act.interrupt === undefined ? 'refusal' : 'decision', ...whoOf(by), ...act });
  }

  private async find(request: Request): Promise<{ readonly principal: Principal; readonly mayWith?: Identity['may'] }> {
    const { options, keys, issuers, sessions } = this.parts;
    const { identify } = options;
    const token = bearerOf(request);
    if (token !== undefined && options.keys !== false && keys.isKey(token)) return { principal: await keys.identify(token) };
    if (token !== undefined && issuers.takesTokens) return { principal: await issuers.identify(token) };
    const session = token === undefined ? await sessions.identify(request) : undefined;
    if (session !== undefined) return { principal: session };
    const identity = await identify?.(new Request(request.url, { method: request.method, headers: request.headers }));
    if (identity != null && request.headers.has('cookie')) checkSite(request);
    if (identity != null) return { principal: checkedIdentity(identity), ...defined({ mayWith: identity.may }) };
    if (token === undefined) throw new HoldfastError('identity-missing', 'The request does not say who sends it.');
    throw new HoldfastError('identity-invalid', 'The service takes no such token.');
  }
}

function bearerOf(request: Request): string | undefined {
  const [scheme = '', token] = (request.headers.get('authorization') ?? '').split(/ +/, 2);
  return scheme.toLowerCase() === 'bearer' ? (token ?? '') : undefined;
}

/** A name that is no name would act in the name of nobody. */
function checkedIdentity({ tenant, user, roles = [], may }: Identity): Principal {
  const wrong =
    (!isTenant(tenant) && `tenant is ${shown(tenant)}`) ||
    (!isPersonName(user) && `user is ${shown(user)}`) ||
    (!isStrings(roles) && `roles is ${shown(roles)}`) ||
    (may !== undefined && typeof may !== 'function' && `may is ${shown(may)}`);
  if (wrong === false) return { tenant, user, roles, proof: 'identify' };
  throw new HoldfastError('config-invalid', `\`access.identify\` must give { tenant, user, roles, may }. Its ${wrong}.`);
}
