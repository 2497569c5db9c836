import type { MiddlewareHandler } from 'hono';
import { HoldfastError } from '../../contract/errors';
import { isLoopback } from '../../host/connection';

/**
 * For a service on loopback: refuses requests by other names. The name of another site could resolve to 127.0.0.1, and pages of that site would then
 * have the same origin as the service.
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

export function isLoopbackAddress(host: string): boolean {
  return isLoopback(host.includes(':') ? `[${host}]` : host);
}
