import type { MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';

/** Pages of other sites get no answers, and send no JSON. */
export function allowOrigins(origins: readonly string[]): MiddlewareHandler {
  const known = new Set(origins.map((origin) => origin.toLowerCase()));
  return cors({
    origin: (origin) => (known.has('*') || known.has(origin.toLowerCase()) ? origin : null),
    allowMethods: ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'],
    maxAge: 600,
  });
}
