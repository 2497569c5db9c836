import type { JWTVerifyGetKey } from 'jose' with { 'resolution-mode': 'import' };
import type { Configuration } from 'openid-client' with { 'resolution-mode': 'import' };
import type { Principal } from '../../contract/access';
import { HoldfastError, codeOf, messageOf } from '../../contract/errors';
import type { ErrorCode } from '../../contract/errors';
import { publicUrlProblem } from '../../host/check-settings';
import type { Logger } from '../../host/logger';
import { principalOf } from './claims';
import type { Issuer } from './parts';

const defaultAlgorithms: readonly string[] = ['ES256', 'RS256', 'PS256', 'EdDSA'];
const toleranceSeconds = 30;
const patienceMs = 5_000;

export interface KeyTimes {
  /** Between two requests for the keys of an issuer. Default: 10 s. */
  readonly pauseMs?: number;
  /** Age at which keys are read again. Default: 10 min. */
  readonly keepMs?: number;
}

/** Reads an issuer's discovery document and keys at their first use. */
class KnownIssuer {
  private discovered: Promise<Configuration> | undefined;
  private keys: Promise<JWTVerifyGetKey> | undefined;

  constructor(
    readonly options: Issuer,
    private readonly logger: Logger,
    private readonly times: KeyTimes,
  ) {
    for (const url of [options.issuer, options.jwksUri]) if (url !== undefined) checkAddress(options, url, 'config-invalid');
  }

  configuration(): Promise<Configuration> {
    return (this.discovered ??= this.discover().catch((error: unknown) => {
      this.discovered = undefined;
      throw unavailable(this.options, 'has no discovery document that can be used', error);
    }));
  }

  verificationKeys(): Promise<JWTVerifyGetKey> {
    return (this.keys ??= this.openKeys().catch((error: unknown) => {
      this.keys = undefined;
      throw error;
    }));
  }

  private async discover(): Promise<Configuration> {
    const { allowInsecureRequests, discovery } = await import('openid-client');
    const { issuer, login } = this.options;
    const url = new URL(issuer);
    const found = await discovery(url, login?.clientId ?? 'holdfast', login?.clientSecret, undefined, {
      timeout: patienceMs / 1000,
      execute: url.protocol === 'http:' ? [allowInsecureRequests] : [],
    });
    const named = found.serverMetadata().issuer;
    if (named !== issuer) throw new Error(`it names the issuer ${named}`);
    return found;
  }

  private async openKeys(): Promise<JWTVerifyGetKey> {
    const { createLocalJWKSet, createRemoteJWKSet } = await import('jose');
    const { pauseMs = 10_000, keepMs = 600_000 } = this.times;
    const address = this.options.jwksUri ?? (await this.configuration()).serverMetadata().jwks_uri ?? '';
    checkAddress(this.options, address, 'identity-unavailable');
    const published = createRemoteJWKSet(new URL(address), {
      timeoutDuration: patienceMs,
      cooldownDuration: pauseMs,
      cacheMaxAge: keepMs,
    });
    let pauseUntil = 0;
    return async (header, token) => {
      let problem: unknown;
      if (performance.now() >= pauseUntil) {
        try {
          return await published(header, token);
        } catch (error) {
          if (isAboutToken(error)) throw error;
          problem = error;
          pauseUntil = performance.now() + pauseMs;
          this.logger.warn('An issuer gives no keys. Known keys stay valid.', { issuer: this.options.issuer, error: messageOf(error) });
        }
      }
      const known = published.jwks();
      if (known !== undefined) return createLocalJWKSet(known)(header, token).catch(() => Promise.reject(this.withoutKeys(problem)));
      throw this.withoutKeys(problem);
    };
  }

  private withoutKeys(cause: unknown): HoldfastError {
    return unavailable(this.options, 'does not give the key of the token', cause);
  }
}

/** Tells by their access tokens who sends requests. */
export class Issuers {
  private readonly known: ReadonlyMap<string, KnownIssuer>;

  constructor(issuers: readonly Issuer[], logger: Logger, times: KeyTimes = {}) {
    this.known = new Map(issuers.map((options) => [options.issuer, new KnownIssuer(options, logger, times)]));
  }

  get logins(): readonly Issuer[] {
    return [...this.known.values()].map(({ options }) => options).filter(({ login }) => login !== undefined);
  }

  get takesTokens(): boolean {
    return [...this.known.values()].some(({ options }) => options.audience !== undefined);
  }

  /** Throws 'identity-unavailable' if the issuer cannot be reached. */
  async configuration(issuer: string): Promise<Configuration> {
    const known = this.known.get(issuer);
    if (known === undefined) throw new HoldfastError('login-failed', 'The issuer is not configured.');
    return known.configuration();
  }

  async identify(token: string): Promise<Principal> {
    const { decodeJwt, jwtVerify } = await import('jose');
    const known = this.known.get(issuerIn(() => decodeJwt(token).iss));
    const { issuer, audience, algorithms = defaultAlgorithms, requiredClaims = [], claims } = known?.options ?? {};
    if (known === undefined || issuer === undefined || audience === undefined)
      throw invalid('The token is from an issuer that is not configured for access tokens.');
    const user = claims?.user ?? 'sub';
    const keys = await known.verificationKeys();
    const { payload } = await jwtVerify(token, keys, {
      issuer,
      audience,
      algorithms: [...algorithms],
      typ: 'at+jwt',
      requiredClaims: ['exp', ...(typeof user === 'string' ? [user] : []), ...requiredClaims],
      clockTolerance: toleranceSeconds,
    }).catch((error: unknown) => {
      throw codeOf(error) === undefined ? invalid(refusalOf(error as JoseError)) : error;
    });
    return principalOf(known.options, payload, 'token');
  }
}

function issuerIn(read: () => string | undefined): string {
  try {
    return read() ?? '';
  } catch {
    throw invalid('The token has neither the form of an API key nor of a JWT.');
  }
}

interface JoseError {
  readonly code?: string;
  readonly claim?: string;
  readonly reason?: string;
}

function isAboutToken(error: unknown): boolean {
  return /^ERR_JWKS_(NO|MULTIPLE)_MATCHING_KEYS?$/.test((error as JoseError).code ?? '');
}

const refusals: Readonly<Record<string, string>> = {
  ERR_JWT_EXPIRED: 'The token has expired.',
  ERR_JOSE_ALG_NOT_ALLOWED: 'The token is signed with an algorithm that is not allowed.',
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: 'The signature of the token is wrong.',
  ERR_JWKS_NO_MATCHING_KEY: 'The issuer does not have the key of the token.',
  ERR_JWKS_MULTIPLE_MATCHING_KEYS: 'The token does not name its key, and the issuer has several keys.',
};

/** Says nothing that the token contains. */
function refusalOf({ code = '', claim, reason }: JoseError): string {
  if (claim === 'typ') return 'The token is not an access token of the type at+jwt. An ID token is not an access token.';
  if (claim !== undefined && reason === 'missing') return `The token has no claim ${claim}.`;
  if (claim === 'aud') return 'The token is for another audience.';
  if (claim === 'nbf') return 'The token is not valid yet.';
  return refusals[code] ?? 'The token cannot be verified.';
}

function checkAddress({ issuer }: Issuer, url: string, code: ErrorCode): void {
  const problem = publicUrlProblem(url.replace(/\?.*$/, ''));
  if (problem !== undefined) throw new HoldfastError(code, `The address of the issuer or its keys cannot be used (${issuer}). ${problem}`);
}

function invalid(message: string): HoldfastError {
  return new HoldfastError('identity-invalid', message);
}

function unavailable({ issuer }: Issuer, problem: string, cause: unknown): HoldfastError {
  const reason = (cause as { readonly cause?: unknown } | undefined)?.cause ?? cause;
  const why = reason === undefined ? '.' : `: ${messageOf(reason)}`;
  return new HoldfastError('identity-unavailable', `The issuer ${issuer} ${problem}${why}`, { cause });
}
