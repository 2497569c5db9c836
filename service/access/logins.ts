import type { Context } from 'hono';
import { deleteCookie, setCookie } from 'hono/cookie';
import { z } from 'zod';
import type { Principal } from '../../contract/access';
import { HoldfastError, codeOf, messageOf } from '../../contract/errors';
import { shown } from '../../contract/shown';
import { isLoopback } from '../../host/check-settings';
import { principalOf } from './claims';
import type { Issuers } from './issuers';
import type { Issuer } from './parts';
import { cookieOf, cookieOptions } from './sessions';

const pendingCookie = 'holdfast-login';
/** Fits a signed link, and with the other parts of a pending login into the 4,096 bytes of a cookie. */
const longestPath = 2_100;

/** What the callback needs of the start, in a cookie of the browser that began the login. */
const Pending = z.strictObject({ issuer: z.string(), state: z.string(), nonce: z.string(), verifier: z.string(), to: z.string() });

interface FinishedLogin {
  readonly principal: Principal;
  readonly issuer: string;
  /** A path of the service. */
  readonly to: string;
}

/** Logins at issuers: the authorization code flow with PKCE. */
export class Logins {
  constructor(private readonly issuers: Issuers) {}

  /** Returns the page of the issuer. */
  async start(context: Context, { issuer, login }: Issuer, address: string, to: string): Promise<URL> {
    const { buildAuthorizationUrl, calculatePKCECodeChallenge, randomNonce, randomPKCECodeVerifier, randomState } =
      await import('openid-client');
    const configuration = await this.issuers.configuration(issuer);
    const [state, nonce, verifier] = [randomState(), randomNonce(), randomPKCECodeVerifier()];
    const pending: z.infer<typeof Pending> = { issuer, state, nonce, verifier, to };
    setCookie(context, pendingCookie, Buffer.from(JSON.stringify(pending)).toString('base64url'), { ...cookieOptions, maxAge: 600 });
    return buildAuthorizationUrl(configuration, {
      redirect_uri: callbackOf(address),
      scope: login?.scope ?? 'openid profile',
      state,
      nonce,
      code_challenge: await calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
  }

  /** A login finishes only in the browser that began it, and once, because the issuer takes a code once. */
  async finish(context: Context, address: string): Promise<FinishedLogin> {
    const { authorizationCodeGrant } = await import('openid-client');
    const { issuer: url, state, nonce, verifier, to } = takePending(context);
    const issuer = this.issuers.logins.find((one) => one.issuer === url);
    if (issuer === undefined) throw new HoldfastError('login-failed', `The issuer ${shown(url)} is not configured any longer.`);
    const configuration = await this.issuers.configuration(url);
    const answered = new URL(callbackOf(address));
    answered.search = new URL(context.req.url).search;
    try {
      const checks = { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true };
      const tokens = await authorizationCodeGrant(configuration, answered, checks);
      return { principal: principalOf(issuer, tokens.claims() ?? {}, 'login'), issuer: url, to: ownPath(to) };
    } catch (cause) {
      throw new HoldfastError('login-failed', `The login at ${url} did not succeed: ${reasonOf(cause)}.`, { cause });
    }
  }

  async endSessionUrl({ issuer }: Issuer): Promise<string | undefined> {
    const { buildEndSessionUrl } = await import('openid-client');
    const configuration = await this.issuers.configuration(issuer);
    return configuration.serverMetadata().end_session_endpoint === undefined ? undefined : buildEndSessionUrl(configuration).href;
  }
}

function takePending(context: Context): z.infer<typeof Pending> {
  const cookie = cookieOf(context.req.raw, pendingCookie) ?? '';
  deleteCookie(context, pendingCookie, cookieOptions);
  try {
    return Pending.parse(JSON.parse(Buffer.from(cookie, 'base64url').toString()));
  } catch {
    throw new HoldfastError('login-failed', 'This browser began no login in the last 10 minutes, or the login is finished.');
  }
}

function callbackOf(address: string): string {
  return `${address}/login/callback`;
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

/** Only a path of the service, short enough for a cookie: every other value becomes \`/\`. */
export function ownPath(to = '/'): string {
  if (!/^\/[^\\\p{Cc}\s]*$/u.test(to)) return '/';
  const service = 'http://service.invalid';
  if (!URL.canParse(to, service)) return '/';
  const { origin, pathname, search, hash } = new URL(to, service);
  const path = `${pathname}${search}${hash}`;
  return origin === service && !path.startsWith('//') && path.length <= longestPath ? path : '/';
}

function reasonOf(error: unknown): string {
  const { error: code, cause } = error as { readonly error?: unknown; readonly cause?: unknown };
  if (typeof code === 'string') return `the issuer answered ${shown(code)}`;
  return messageOf(codeOf(error) === undefined ? (cause ?? error) : error).replace(/\.$/, '');
}
