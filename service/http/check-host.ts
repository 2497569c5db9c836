import type { MiddlewareHandler } from 'hono';
import { HoldfastError } from '../../contract/errors';
import { isLoopback } from '../../host/check-settings';

/** On loopback: another site's name could resolve to 127.0.0.1, and its pages would have the service's origin. */
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
