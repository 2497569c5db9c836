import type { Hono } from 'hono';
import { Routes, ok } from '../routes';
import { openApiOf } from './document';
import { openApiPage, pagePolicy } from './page';

/** The document of an app, for programs and for people. */
export function openApiRoutes(app: Hono): Hono {
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- of this very package
  const { version } = require('holdfast/package.json') as { readonly version: string };
  let document: ReturnType<typeof openApiOf> | undefined;
  const made = (): ReturnType<typeof openApiOf> => (document ??= openApiOf(version, app));
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
