import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';

export interface Pages {
  readonly url: string;
  readonly service: string;
  close(): Promise<void>;
}

const names = ['chat', 'agui'] as const;
const holdfast = join(dirname(require.resolve('holdfast/package.json')), 'dist', 'cli', 'main.js');
/** The compiled file is in `dist`, the pages are not. */
const folder = __filename.endsWith('.js') ? join(__dirname, '..', '..', '..', 'examples', 'pages') : __dirname;

const style = `body{font:16px/1.5 system-ui,sans-serif;max-width:42rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}
ol{list-style:none;padding:0}li[data-role=user]{text-align:right}.call{display:flex;gap:.5rem;align-items:center;flex-wrap:wrap;border:1px solid #8886;
border-radius:6px;padding:.5rem}form{display:flex;gap:.5rem}input{flex:1}input,button{font:inherit;padding:.35rem .6rem}`;

function pageOf(name: string, service: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Support</title><style>${style}</style></head>
<body data-service="${service}"><div id="page"></div><script src="/${name}.js"></script></body></html>`;
}

/** Serves the pages on one port and `holdfast dev` on another. */
export async function openPages(port: number, onText: (text: string) => void = () => undefined): Promise<Pages> {
  const { outputFiles } = await build({
    entryPoints: names.map((name) => join(folder, `${name}.tsx`)),
    bundle: true,
    write: false,
    outdir: '/',
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  const scripts = new Map(outputFiles.map(({ path, text }) => [path, text]));
  let service = '';
  const server = createServer(({ url = '/' }, response) => {
    const [path = '/'] = url.split('?');
    const script = scripts.get(path);
    const name = names.find((known) => path === `/${known}`) ?? (path === '/' ? 'chat' : undefined);
    if (script !== undefined) response.setHeader('content-type', 'text/javascript').end(script);
    else if (name !== undefined) response.setHeader('content-type', 'text/html').end(pageOf(name, service));
    else response.writeHead(404).end();
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const directory = mkdtempSync(join(tmpdir(), 'holdfast-pages-'));
  const config = join(folder, 'holdfast.config.ts');
  const dev = spawn(process.execPath, [holdfast, 'dev', '--no-watch', '--port', '0', '--config', config], {
    env: { ...process.env, HOLDFAST_DIR: directory, PAGES_ORIGIN: url },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  service = await new Promise<string>((found, failed) => {
    const hear = (chunk: Buffer): void => {
      onText(chunk.toString());
      text += chunk.toString();
      const [, address] = /service\s+(http\S+)/.exec(text) ?? [];
      if (address !== undefined) found(address);
    };
    dev.stdout.on('data', hear);
    dev.stderr.on('data', hear);
    dev.once('exit', () => failed(new Error(`holdfast dev has ended:\n${text}`)));
  });
  return {
    url,
    service,
    async close() {
      server.closeAllConnections();
      server.close();
      const ended = once(dev, 'close');
      dev.kill('SIGTERM');
      await ended;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
