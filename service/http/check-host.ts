import type { MiddlewareHandler } from 'hono';
import { HoldfastError } from '../../contract/errors';
import { isLoopback } from '../../host/connection';

/**
 * For a service on loopback: refuses requests by a name that is not loopback's. A page of another site can have its own name resolve to
 * 127.0.0.1 and would then be of the same origin as the service.
 */
export function checkHost(allowed: readonly string[]): MiddlewareHandler {
  const names = new Set(allowed.map((name) => name.toLowerCase()));
  return async (context, next) => {
    const host = (context.req.header('host') ?? '').toLowerCase();
    if (!isLoopback(host) && !names.has(host) && !names.has(host.replace(/:\d+$/, ''))) {
      throw new HoldfastError('host-forbidden', `The service is not reachable by the name "${host}".`);
    }
    await next();
  };
}

/** Whether an address to listen on is loopback's. */
export function isLoopbackAddress(host: string): boolean {
  return isLoopback(host.includes(':') ? `[${host}]` : host);
}
