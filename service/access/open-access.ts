import type { Hono } from 'hono';
import type { Principal } from '../../contract/access';
import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import { readConfiguration } from '../../host/configuration';
import type { AppParts } from '../parts';
import { Access } from './access';
import type { AuditEntry } from '../../contract/access';
import { Audit } from './audit';
import { decideRoutes, linkRoutes } from './decide-routes';
import { auditRoutes } from './audit-routes';
import { Issuers } from './issuers';
import { keyRoutes } from './key-routes';
import { Keys } from './keys';
import { Links } from './links';
import type { LoginEntry } from './login-routes';
import { loginRoutes } from './login-routes';
import { openAccessStore } from './open-store';
import { checkOrigin } from './origin';
import type { AccessOptions } from './parts';
import { RequestRate } from './rate';
import { Sessions } from './sessions';

interface OpenAccess {
  readonly access: Access;
  /** Adds the routes that only a service with access has. */
  readonly mount: (app: Hono) => void;
}

/** Opens the store, which closes with the service. */
export function openAccess(options: AccessOptions, parts: AppParts): OpenAccess {
  const { logger, closing, publicUrl } = parts;
  const { store, close } = openAccessStore(options, readConfiguration());
  closing.addEventListener('abort', close, { once: true });
  const audit = new Audit(store, logger);
  const keys = new Keys(store);
  const issuers = new Issuers(options.issuers ?? [], logger);
  const sessions = new Sessions(store, {
    principalOfKey: (id) => (options.keys === false ? Promise.reject(keysAreOff()) : keys.principalOf(id)),
    hasLogin: (issuer) => issuers.logins.some((one) => one.issuer === issuer),
  });
  const access = new Access(options, {
    keys,
    issuers,
    sessions: {
      identify: async (request) => {
        const principal = await sessions.identify(request);
        if (principal !== undefined) checkOrigin(request, publicUrl);
        return principal;
      },
    },
    audit,
    links: new Links(store, options.links),
    ...(options.perMinute === undefined ? {} : { rate: new RequestRate(options.perMinute) }),
  });
  const ofLogin = {
    logger,
    ...defined({ publicUrl }),
    issuers,
    sessions,
    audit: (entry: LoginEntry) => void audit.write(entryOf(entry)),
  };
  return {
    access,
    mount: (app) => {
      app.route('/', loginRoutes({ ...ofLogin, ...(options.keys === false ? {} : { identifyKey: (key) => keys.identify(key) }) }));
      app.route('/keys', keyRoutes({ keys, audit }));
      app.route('/audit', auditRoutes(audit));
      app.route('/runs', linkRoutes(parts, access));
      app.route('/', decideRoutes(parts, access));
    },
  };
}

function entryOf({ act, principal, code }: LoginEntry): Omit<AuditEntry, 'at'> {
  const { tenant, user, proof } = principal ?? ({} as Partial<Principal>);
  return { what: act === 'login-refused' ? 'refusal' : act, ...defined({ tenant, user, proof, code }) };
}

function keysAreOff(): HoldfastError {
  return new HoldfastError('identity-invalid', 'The service takes no keys, and the session began with a key.');
}
