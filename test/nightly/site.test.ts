import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { existsSync, readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { openBrowser } from '../browser/browser';
import { docPages } from '../support/doc-pages';

const site = join(__dirname, '..', '..', 'docs', '.vitepress');
const dist = join(site, 'dist');
const pages = docPages.map((page) => page.slice('docs/'.length));
const run = promisify(execFile);

beforeAll(async () => {
  await run('npm', ['ci', '--no-audit', '--no-fund'], { cwd: site });
  await run('npm', ['run', 'build'], { cwd: site });
}, 600_000);

describe('the site of the docs', () => {
  it('has each page, as HTML for people and as Markdown for coding agents', () => {
    expect(pages.length).toBeGreaterThan(80);
    const html = (name: string): string => name.replace(/(^|\/)README\.md$/, '$1index.md').replace(/\.md$/, '.html');
    expect(pages.filter((name) => !existsSync(join(dist, name)) || !existsSync(join(dist, html(name))))).toEqual([]);
  });

  it('lists in llms.txt the pages of the index', () => {
    const text = readFileSync(join(dist, 'llms.txt'), 'utf8');
    expect(text).toMatch(/^# Holdfast\n\n> \S/);
    expect(text).toContain('[Tutorial](tutorial.md)');
    expect([...text.matchAll(/\]\(([^)#]+\.md)/g)].filter(([, page = '']) => !existsSync(join(dist, page)))).toEqual([]);
  });

  it('finds "idempotency" by its search, and shows drawn diagrams, without an error in the browser', async () => {
    const server = createServer((request, response) => {
      const path = decodeURI((request.url ?? '/').split(/[?#]/)[0] ?? '').replace(/\/$/, '/index');
      const file = join(dist, extname(path) === '' ? `${path}.html` : path);
      response.setHeader('content-type', types[extname(file)] ?? 'application/octet-stream');
      response.writeHead(existsSync(file) ? 200 : 404).end(existsSync(file) ? readFileSync(file) : '');
    }).listen(0, '127.0.0.1');
    const browser = await openBrowser();
    try {
      const page = await browser.newPage();
      const errors: string[] = [];
      page.on('pageerror', ({ message }) => errors.push(message));
      page.on('console', (line) => line.type() === 'error' && errors.push(line.text()));
      await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/concepts`);
      expect(
        await page
          .locator('img.diagram')
          .evaluateAll((all) => all.map((one) => (one as { readonly naturalWidth?: number }).naturalWidth !== 0)),
      ).toEqual([true, true, true]);
      await page.locator('.VPNavBarSearch button').first().click();
      await page.locator('.VPLocalSearchBox input').fill('idempotency');
      await page.locator('.VPLocalSearchBox .results a[href*="/guides/tools"]').first().click();
      await page.waitForURL(/\/guides\/tools/);
      expect(errors).toEqual([]);
    } finally {
      await browser.close();
      server.close();
    }
  });
});

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
};
