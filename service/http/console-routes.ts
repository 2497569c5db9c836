import { readFile } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import type { Context, Hono } from 'hono';
import { compress } from 'hono/compress';
import { HoldfastError } from '../../contract/errors';
import { Routes } from './routes';

// Sources serve the console of the last build.
const folder = join(dirname(require.resolve('holdfast/package.json')), 'dist', 'console');

const pagePolicy = "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'";

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
};

/** File names change with their content, so browsers keep the files. */
export function consoleRoutes(): Hono {
  const routes = new Routes('Service');
  routes.app.use('/', compress()).use('/console/*', compress());
  return routes
    .add(
      'GET /',
      { may: 'anybody', summary: 'The console, for people.', answers: { 200: { says: 'A page.', type: 'text/html' } } },
      async ({ context }) => {
        const page = await read('index.html');
        if (page === undefined)
          throw new HoldfastError('route-unknown', 'The console was not built. `npm run build` makes it, in a clone of the repository.');
        return answer(context, page, 'text/html; charset=utf-8', 'no-cache');
      },
    )
    .add(
      'GET /console/:file',
      { may: 'anybody', summary: 'A file of the console.', answers: { 200: { says: 'Its content.', type: '*/*' } } },
      async ({ file, context }) => {
        const type = types[extname(file)];
        const content = type === undefined || !/^[\w.-]+$/.test(file) ? undefined : await read(file);
        if (type === undefined || content === undefined)
          throw new HoldfastError('route-unknown', `There is no route GET ${context.req.path}.`);
        return answer(context, content, type, 'public, max-age=31536000, immutable');
      },
    ).app;
}

async function read(file: string): Promise<Buffer | undefined> {
  return readFile(join(folder, file)).catch(() => undefined);
}

function answer(context: Context, content: Buffer, type: string, caching: string): Response {
  return context.body(new Uint8Array(content), 200, {
    'content-type': type,
    'cache-control': caching,
    'content-security-policy': pagePolicy,
    // The log-out needs the header Origin.
    'referrer-policy': 'same-origin',
  });
}
