import type { KnownCaller } from '../../client/connection/authority';
import type { RoleTable } from '../../contract/access';
import type { MaybePromise } from '../../contract/maybe-promise';

/** Names of claims, or functions of all claims. */
export interface Claims {
  /** Default: every token belongs to the tenant `default`. */
  readonly tenant?: string | ((claims: Readonly<Record<string, unknown>>) => string | undefined);
  /** Default: `sub`. */
  readonly user?: string | ((claims: Readonly<Record<string, unknown>>) => string | undefined);
  /** Default: `roles`. A claim is a list of strings, or one string with spaces. */
  readonly roles?: string | ((claims: Readonly<Record<string, unknown>>) => readonly string[]);
}

/** An issuer of tokens (OAuth 2, OpenID Connect). */
export interface Issuer {
  /** The URL in the claim `iss`. Its discovery document names the keys. */
  readonly issuer: string;
  /** The value that the claim `aud` of access tokens must have. Absent: no access tokens, the issuer is for the login only. */
  readonly audience?: string;
  /** Default: ES256, RS256, PS256 and EdDSA. */
  readonly algorithms?: readonly string[];
  /** Claims that a token must have, besides `exp` and the user. */
  readonly requiredClaims?: readonly string[];
  /** The address of the issuer's keys. Default: from the discovery document. */
  readonly jwksUri?: string;
  readonly claims?: Claims;
  /** Lets people log in to the console at this issuer. */
  readonly login?: {
    readonly clientId: string;
    readonly clientSecret?: string;
    /** Default: `openid profile`. */
    readonly scope?: string;
  };
}

/** What `identify` gives. */
export interface Identity {
  readonly tenant: string;
  readonly user: string;
  readonly roles?: readonly string[];
  /** Decides about each run after the roles. Lists show only runs that this function lets the caller read. */
  readonly may?: KnownCaller['mayWith'];
}

export interface AccessOptions {
  /** False: API keys are refused. Default: true. */
  readonly keys?: boolean;
  readonly issuers?: readonly Issuer[];
  /** Own roles beside reader, operator, approver and admin. */
  readonly roles?: RoleTable;
  /** Identifies a request that has no API key, no token of `issuers` and no session. Undefined refuses the request. */
  readonly identify?: (request: Request) => MaybePromise<Identity | undefined>;
  /** The most requests of one key or person in a minute. Default: no limit. */
  readonly perMinute?: number;
  readonly links?: {
    /** How long a link lasts. Default: 3d. */
    readonly expires?: string;
    /** Names of policies whose links also need a login of the named person, or true for all. Default: none. */
    readonly login?: readonly string[] | true;
  };
}
