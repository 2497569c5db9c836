import type { Act, KnownCaller } from '../../client/connection/authority';
import type { Action, AuditEntry, Principal } from '../../contract/access';
import { actionsOf } from '../../contract/access';
import { isStrings } from '../../contract/check';
import { defined } from '../../contract/defined';
import { HoldfastError, codeOf } from '../../contract/errors';
import { isTenant } from '../../contract/names';
import { isPersonName } from '../../contract/people';
import { shown } from '../../contract/shown';
import type { Audit } from './audit';
import type { Issuers } from './issuers';
import type { Keys } from './keys';
import type { Links } from './links';
import type { AccessOptions, Identity } from './parts';
import type { RequestRate } from './rate';
import type { Sessions } from './sessions';

interface Ways {
  readonly keys: Pick<Keys, 'identify' | 'isKey'>;
  readonly issuers: Pick<Issuers, 'identify'>;
  /** Undefined: the request has no session. Refuses unsafe requests of foreign pages. */
  readonly sessions: Pick<Sessions, 'identify'>;
  readonly audit: Pick<Audit, 'write'>;
  readonly links: Links;
  /** Absent: no limit. */
  readonly rate?: Pick<RequestRate, 'take'>;
}

/** Tells who sends a request, and what the caller may do. */
export class Access {
  constructor(
    private readonly options: AccessOptions,
    private readonly ways: Ways,
  ) {}

  get links(): Links {
    return this.ways.links;
  }

  async identify(request: Request): Promise<KnownCaller> {
    try {
      const { principal, mayWith } = await this.find(request);
      this.ways.rate?.take(principal);
      const may = actionsOf(principal.roles, this.options.roles);
      return { ...principal, may, onAct: (act) => this.noted(principal, act), ...defined({ mayWith }) };
    } catch (error) {
      throw this.refused(request, error);
    }
  }

  /** Whether the request would still be taken as the caller's, with a role for what it asks. */
  async knows(request: Request, { tenant, user, proof }: KnownCaller, may: Action | 'identified'): Promise<boolean> {
    const found = await this.find(request).catch((error: unknown) => {
      if (codeOf(error) === 'identity-unavailable') return 'unavailable';
      return undefined;
    });
    // A store that is away ends no stream.
    if (found === 'unavailable') return true;
    if (found?.principal.tenant !== tenant || found.principal.user !== user || found.principal.proof !== proof) return false;
    return may === 'identified' || actionsOf(found.principal.roles, this.options.roles).has(may);
  }

  /** Whoever has a signed link may read and answer, and the link's routes let them see one question. */
  linked(principal: Principal): KnownCaller {
    return { ...principal, may: new Set<Action>(['runs:read', 'runs:answer']), onAct: (act) => this.noted(principal, act) };
  }

  note(entry: Omit<AuditEntry, 'at'>): void {
    void this.ways.audit.write(entry);
  }

  /** Writes the refusal to the audit log. */
  refused<Refusal>(request: Request, error: Refusal, by?: Principal): Refusal {
    const route = `${request.method} ${new URL(request.url).pathname}`;
    const { tenant, user, proof } = by ?? ({} as Partial<Principal>);
    this.note({ what: 'refusal', route, code: codeOf(error) ?? 'internal', ...defined({ tenant, user, proof }) });
    return error;
  }

  private noted({ tenant, user, proof }: Principal, { action, run, interrupt, code }: Act): void {
    const what = interrupt === undefined ? 'refusal' : 'decision';
    this.note({ what, tenant, user, proof, action, run, ...defined({ interrupt, code }) });
  }

  private async find(request: Request): Promise<{ readonly principal: Principal; readonly mayWith?: Identity['may'] }> {
    const { keys = true, issuers = [], identify } = this.options;
    const token = bearerOf(request);
    if (token !== undefined && keys && this.ways.keys.isKey(token)) return { principal: await this.ways.keys.identify(token) };
    if (token !== undefined && issuers.some(({ audience }) => audience !== undefined))
      return { principal: await this.ways.issuers.identify(token) };
    const session = token === undefined ? await this.ways.sessions.identify(request) : undefined;
    if (session !== undefined) return { principal: session };
    const identity = await identify?.(new Request(request.url, { method: request.method, headers: request.headers }));
    if (identity !== undefined) return { principal: checkedIdentity(identity), ...defined({ mayWith: identity.may }) };
    if (token === undefined) throw new HoldfastError('identity-missing', 'The request says not who sends it.');
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
