import type { MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';

/** Lets pages of these sites use the service. To other pages a browser gives no answer, and sends nothing that starts or answers. */
export function allowOrigins(origins: readonly string[]): MiddlewareHandler {
  const known = new Set(origins.map((origin) => origin.toLowerCase()));
  return cors({
    origin: (origin) => (known.has('*') || known.has(origin.toLowerCase()) ? origin : null),
    allowMethods: ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'],
    maxAge: 600,
  });
}
