import { readFile } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { Hono } from 'hono';
import type { Context } from 'hono';
import { compress } from 'hono/compress';
import { HoldfastError } from '../../contract/errors';
import { parseQuery } from './parse-request';
import { NoQuery } from './schemas';

// What runs from the sources has the console that was built last.
const folder = join(dirname(require.resolve('holdfast/package.json')), 'dist', 'console');

/** The page may load what this service has, and nothing else. No page of another site may show it in a frame. */
const pagePolicy = "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
};

/** The console. The names of its files change with their content, so browsers keep them. */
export function consoleRoutes(): Hono {
  return new Hono()
    .use('/', compress())
    .use('/console/*', compress())
    .get('/', async (context) => {
      parseQuery(context, NoQuery);
      const page = await read('index.html');
      if (page === undefined)
        throw new HoldfastError('route-unknown', 'The console was not built. `npm run build` makes it, in a clone of the repository.');
      return answer(context, page, 'text/html; charset=utf-8', 'no-cache');
    })
    .get('/console/:file', async (context) => {
      parseQuery(context, NoQuery);
      const { file } = context.req.param();
      const type = types[extname(file)];
      const content = type === undefined || !/^[\w.-]+$/.test(file) ? undefined : await read(file);
      if (type === undefined || content === undefined)
        throw new HoldfastError('route-unknown', `There is no route GET ${context.req.path}.`);
      return answer(context, content, type, 'public, max-age=31536000, immutable');
    });
}

async function read(file: string): Promise<Buffer | undefined> {
  return readFile(join(folder, file)).catch(() => undefined);
}

function answer(context: Context, content: Buffer, type: string, caching: string): Response {
  return context.body(new Uint8Array(content), 200, {
    'content-type': type,
    'cache-control': caching,
    'content-security-policy': pagePolicy,
    'referrer-policy': 'no-referrer',
  });
}
