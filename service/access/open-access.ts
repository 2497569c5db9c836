import type { Hono } from 'hono';
import type { AppParts } from '../parts';
import { Access, type AccessParts } from './access';
import { Audit } from './audit';
import { auditRoutes } from './audit-routes';
import { decideRoutes, linkRoutes } from './decide-routes';
import { Issuers } from './issuers';
import { keyRoutes } from './key-routes';
import { Keys } from './keys';
import { Links } from './links';
import { loginRoutes } from './login-routes';
import type { AccessOptions } from './parts';
import { RequestRate } from './rate';
import { Sessions } from './sessions';

interface OpenAccess {
  readonly access: Access;
  /** Adds the routes that only a service with access has. */
  readonly mount: (app: Hono) => void;
}

export function openAccess(options: AccessOptions, parts: AppParts): OpenAccess {
  const { logger, store, publicUrl } = parts;
  const keys = new Keys(store);
  const issuers = new Issuers(options.issuers ?? [], logger);
  const ofAccess: AccessParts = {
    logger,
    options,
    keys,
    issuers,
    sessions: new Sessions(store, { issuers, publicUrl, ...(options.keys === false ? {} : { keys }) }),
    audit: new Audit(store, logger),
    links: new Links(store, options.links),
    ...(options.perMinute === undefined ? {} : { rate: new RequestRate(options.perMinute) }),
  };
  const access = new Access(ofAccess);
  return {
    access,
    mount: (app) => {
      app.route('/', loginRoutes({ ...parts, ...ofAccess }));
      app.route('/keys', keyRoutes(ofAccess));
      app.route('/audit', auditRoutes(ofAccess));
      app.route('/runs', linkRoutes(parts, ofAccess));
      app.route('/', decideRoutes(parts, access));
    },
  };
}
