import type { Hono } from 'hono';
import { packageVersion } from '../package-version';
import { Routes, ok } from '../routes';
import type { OpenApi } from './document';
import { openApiOf } from './document';
import { openApiPage, pagePolicy } from './page';

export function openApiRoutes(app: Hono): Hono {
  let document: OpenApi | undefined;
  const made = (): OpenApi => (document ??= openApiOf(packageVersion(), app));
  return new Routes('Service')
    .add('GET /openapi.json', { summary: 'This document.', answers: ok('OpenApi', 'OpenAPI 3.1.') }, () => ({ ...made() }))
    .add(
      'GET /openapi',
      { summary: 'This document as a page.', answers: { 200: { says: 'A page.', type: 'text/html' } } },
      ({ context }) => {
        context.header('content-security-policy', pagePolicy);
        return context.html(openApiPage(made()));
      },
    ).app;
}
