import type { Hono } from 'hono';

export function methodsAt(app: Hono, path: string): readonly string[] {
  const found = app.routes.filter((route) => route.method !== 'ALL' && isAt(route.path, path)).map(({ method }) => method);
  return [...new Set(found)].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).sort();
}

/** A final slash is the most common mistake. */
export function noRoute(app: Hono, method: string, path: string): string {
  const shorter = path.replace(/^\/+/, '/').replace(/(?<=.)\/+$/, '');
  const question = shorter !== path && methodsAt(app, shorter).length > 0 ? ` Did you mean ${shorter}?` : '';
  return `There is no route ${method} ${path}.${question || (served.get(shorter) ?? '')}`;
}

const served: ReadonlyMap<string, string> = new Map(
  ['/v1/chat/completions', '/chat/completions'].map((path) => [path, ' The Responses API is served: POST /v1/responses.']),
);

function isAt(route: string, path: string): boolean {
  const [wanted, given] = [route.split('/'), path.split('/')];
  return wanted.length === given.length && wanted.every((part, at) => (part.startsWith(':') ? given[at] !== '' : part === given[at]));
}
