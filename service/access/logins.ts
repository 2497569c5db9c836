import type { Context } from 'hono';
import { deleteCookie, setCookie } from 'hono/cookie';
import type { Principal } from '../../contract/access';
import { HoldfastError, codeOf, messageOf } from '../../contract/errors';
import { shown } from '../../contract/shown';
import { isLoopback } from '../../host/check-settings';
import { principalOf } from './claims';
import type { Issuers } from './issuers';
import type { AccessStore, Issuer } from './parts';
import { cookieOf, cookieOptions, hashOf, newSecret } from './sessions';

const pendingMs = 600_000;
const pendingCookie = 'holdfast-login';

/** What the callback needs, under a hash of the cookie of the browser that began the login. */
interface PendingLogin {
  readonly issuer: string;
  readonly redirectUri: string;
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  readonly to: string;
}

export interface FinishedLogin {
  readonly principal: Principal;
  readonly issuer: string;
  /** A path of the service. */
  readonly to: string;
}

/** Logins at issuers: the authorization code flow with PKCE. */
export class Logins {
  constructor(
    private readonly issuers: Issuers,
    private readonly store: AccessStore,
  ) {}

  /** Returns the page of the issuer. */
  async start(context: Context, issuer: Issuer, address: string, to: string): Promise<URL> {
    const { buildAuthorizationUrl, calculatePKCECodeChallenge, randomNonce, randomPKCECodeVerifier, randomState } =
      await import('openid-client');
    const configuration = await this.issuers.configuration(issuer);
    const [state, nonce, verifier] = [randomState(), randomNonce(), randomPKCECodeVerifier()];
    const pending: PendingLogin = { issuer: issuer.issuer, redirectUri: `${address}/login/callback`, state, nonce, verifier, to };
    const secret = newSecret();
    await this.store.set(pendingKey(secret), JSON.stringify(pending), { ttlMs: pendingMs });
    setCookie(context, pendingCookie, secret, { ...cookieOptions, maxAge: pendingMs / 1000 });
    return buildAuthorizationUrl(configuration, {
      redirect_uri: pending.redirectUri,
      scope: issuer.login?.scope ?? 'openid profile',
      state,
      nonce,
      code_challenge: await calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
  }

  /** Each pending login finishes at most once, and only in the browser that began it. */
  async finish(context: Context): Promise<FinishedLogin> {
    const { authorizationCodeGrant } = await import('openid-client');
    const { issuer: url, redirectUri, state, nonce, verifier, to } = await this.takePending(context);
    const issuer = this.issuers.logins.find((one) => one.issuer === url);
    if (issuer === undefined) throw new HoldfastError('login-failed', `The issuer ${url} is not configured any longer.`);
    const configuration = await this.issuers.configuration(issuer);
    const answered = new URL(redirectUri);
    answered.search = new URL(context.req.url).search;
    try {
      const checks = { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true };
      const tokens = await authorizationCodeGrant(configuration, answered, checks);
      return { principal: principalOf(issuer, tokens.claims() ?? {}, 'login'), issuer: url, to };
    } catch (cause) {
      throw new HoldfastError('login-failed', `The login at ${url} did not succeed: ${reasonOf(cause)}.`, { cause });
    }
  }

  /** The page that ends the session at the issuer, too. */
  async endSessionUrl(issuer: Issuer): Promise<string | undefined> {
    const { buildEndSessionUrl } = await import('openid-client');
    const configuration = await this.issuers.configuration(issuer);
    return configuration.serverMetadata().end_session_endpoint === undefined ? undefined : buildEndSessionUrl(configuration).href;
  }

  private async takePending(context: Context): Promise<PendingLogin> {
    const secret = cookieOf(context.req.raw, pendingCookie);
    const key = pendingKey(secret ?? '');
    const text = secret === undefined ? undefined : await this.store.get(key);
    deleteCookie(context, pendingCookie, cookieOptions);
    if (text === undefined || !(await this.store.delete(key)))
      throw new HoldfastError('login-failed', 'This browser began no login in the last 10 minutes, or the login is finished.');
    return JSON.parse(text) as PendingLogin;
  }
}

/** The address of the service for browsers. A caller elsewhere than on loopback could choose the address of the request. */
export function loginAddress({ url }: Request, publicUrl: string | undefined): string {
  if (publicUrl !== undefined) return publicUrl.replace(/\/+$/, '');
  const { origin, host } = new URL(url);
  if (isLoopback(host)) return origin;
  throw new HoldfastError(
    'login-failed',
    `A login at ${origin} is not possible. Set \`http.publicUrl\` to the https address of the service. Browsers keep a session only with https, or on loopback.`,
  );
}

/** Only a path of the service: every other value becomes \`/\`. */
export function ownPath(to: string | undefined): string {
  if (to === undefined || to.length > 4_000 || !/^\/[^\\\p{Cc}\s]*$/u.test(to)) return '/';
  const service = 'http://service.invalid';
  if (!URL.canParse(to, service)) return '/';
  const { origin, pathname, search, hash } = new URL(to, service);
  return origin === service && !pathname.startsWith('//') ? `${pathname}${search}${hash}` : '/';
}

function pendingKey(secret: string): string {
  return `login/${hashOf(secret)}`;
}

/** The code of an error of the issuer, or the message of the check that failed. */
function reasonOf(error: unknown): string {
  const { error: code, cause } = error as { readonly error?: unknown; readonly cause?: unknown };
  if (typeof code === 'string') return `the issuer answered ${shown(code)}`;
  return messageOf(codeOf(error) === undefined ? (cause ?? error) : error).replace(/\.$/, '');
}
