import type { Context } from 'hono';
import { deleteCookie, setCookie } from 'hono/cookie';
import type { CookieOptions } from 'hono/utils/cookie';
import { parse } from 'hono/utils/cookie';
import type { Principal } from '../../contract/access';
import { HoldfastError } from '../../contract/errors';
import type { Issuers } from './issuers';
import type { Keys } from './keys';
import { checkOrigin } from './origin';
import type { ServiceStore } from '../store/store';
import { hashOf, newSecret } from './secrets';

const hourMs = 3_600_000;
const idleMs = 12 * hourMs;
const absoluteMs = 7 * 24 * hourMs;
const coarseMs = 60_000;

export interface Session {
  readonly principal: Principal;
  /** Of the key or the issuer that began the session: without the key or the issuer, the session ends. */
  readonly from: { readonly key: string } | { readonly issuer: string };
  readonly started: number;
}

export interface SessionParts {
  /** Absent: keys are off. */
  readonly keys?: Pick<Keys, 'principalOf'>;
  readonly issuers: Pick<Issuers, 'logins'>;
  readonly publicUrl?: string | undefined;
}

/** Logins of browsers. The store has a hash of the cookie, so a reader of the store cannot log in. */
export class Sessions {
  constructor(
    private readonly store: ServiceStore,
    private readonly parts: SessionParts,
  ) {}

  /** Each login has a new cookie, so a cookie that a stranger planted is worthless. */
  async begin(context: Context, session: Omit<Session, 'started'>): Promise<void> {
    await this.end(context);
    const secret = newSecret();
    const hash = hashOf(secret);
    const started = Date.now();
    await this.store.set(seenKey(hash), String(started), { ttlMs: idleMs });
    await this.store.set(sessionKey(hash), JSON.stringify({ ...session, started } satisfies Session), { ttlMs: absoluteMs });
    setCookie(context, sessionCookie, secret, { ...cookieOptions, maxAge: absoluteMs / 1000 });
  }

  /** Undefined: the request has no cookie of a session. Refuses unsafe requests of pages of other sites. */
  async identify(request: Request): Promise<Principal | undefined> {
    const secret = cookieOf(request, sessionCookie);
    if (secret === undefined) return undefined;
    const hash = hashOf(secret);
    const [session, seen] = [await this.read(hash), await this.store.get(seenKey(hash))];
    if (session === undefined || seen === undefined) throw ended();
    const now = await this.principalNow(session);
    // A separate record: a simultaneous log-out stays a log-out.
    if (Date.now() - Number(seen) >= coarseMs) await this.store.set(seenKey(hash), String(Date.now()), { ttlMs: idleMs });
    checkOrigin(request, this.parts.publicUrl);
    return now;
  }

  /** Ends the session of the request's cookie, so that a copy of the cookie is worthless. */
  async end(context: Context): Promise<Session | undefined> {
    const secret = cookieOf(context.req.raw, sessionCookie);
    if (secret === undefined) return undefined;
    deleteCookie(context, sessionCookie, cookieOptions);
    const hash = hashOf(secret);
    const session = await this.read(hash);
    const wasLive = await this.store.delete(sessionKey(hash));
    await this.store.delete(seenKey(hash));
    return wasLive ? session : undefined;
  }

  private async principalNow({ principal, from }: Session): Promise<Principal> {
    const { keys, issuers } = this.parts;
    if ('issuer' in from) {
      if (issuers.logins.some(({ issuer }) => issuer === from.issuer)) return principal;
      throw ended();
    }
    if (keys !== undefined) return keys.principalOf(from.key);
    throw new HoldfastError('identity-invalid', 'The service takes no keys, and the session began with a key.');
  }

  private async read(hash: string): Promise<Session | undefined> {
    const text = await this.store.get(sessionKey(hash));
    return text === undefined ? undefined : (JSON.parse(text) as Session);
  }
}

export const sessionCookie = 'holdfast';

/** The prefix `__Host-` keeps other hosts of the domain from setting the cookie. */
export const cookieOptions: CookieOptions = { prefix: 'host', path: '/', secure: true, httpOnly: true, sameSite: 'Lax' };

export function cookieOf(request: Request, name: string): string | undefined {
  const full = `__Host-${name}`;
  return parse(request.headers.get('cookie') ?? '', full)[full];
}

function sessionKey(hash: string): string {
  return `session/${hash}`;
}

function seenKey(hash: string): string {
  return `session-seen/${hash}`;
}

function ended(): HoldfastError {
  return new HoldfastError('identity-invalid', 'The session has ended.');
}
