import { Hono } from 'hono';
import { parseQuery } from '../parse-request';
import { NoQuery } from '../schemas';
import { openApiOf } from './document';
import { openApiPage, pagePolicy } from './page';

/** The document of the service, for programs and for people. */
export function openApiRoutes(): Hono {
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- of this very package
  const { version } = require('holdfast/package.json') as { readonly version: string };
  let document: ReturnType<typeof openApiOf> | undefined;
  const made = (): ReturnType<typeof openApiOf> => (document ??= openApiOf(version));
  return new Hono()
    .get('/openapi.json', (context) => {
      parseQuery(context, NoQuery);
      return context.json(made());
    })
    .get('/openapi', (context) => {
      parseQuery(context, NoQuery);
      context.header('content-security-policy', pagePolicy);
      return context.html(openApiPage(made()));
    });
}
