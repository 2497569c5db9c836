import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { ServiceClient } from '../../client/http/index';
import { openBrowser } from '../browser/browser';

// Draws the console's pictures: `npm run build && node dist/test/pictures/console.js`, from the repository's root.
const root = process.cwd();
const size = { width: 1200, height: 750 };
const quality = 72;

interface Picture {
  readonly name: string;
  readonly hash: string;
  readonly shows: string;
  readonly act?: (page: Page) => Promise<void>;
}

const pictures: readonly Picture[] = [
  { name: 'inbox', hash: '#/inbox', shows: '#decision' },
  {
    name: 'runs',
    hash: '#/runs',
    shows: '.run-row',
    act: async (page) => {
      for (const at of [0, 1, 2]) await page.locator('.run-row').nth(at).getByRole('checkbox').check();
    },
  },
  { name: 'run', hash: '#/runs/ticket-981', shows: '#decision' },
  {
    name: 'try',
    hash: '#/try/support?chat=shop-desk',
    shows: '.talk-question #decision',
    act: async (page) => {
      await page.getByLabel('Message', { exact: true }).fill("It's the second one this week");
      await page.getByRole('button', { name: 'CLI' }).click();
    },
  },
  { name: 'service', hash: '#/service', shows: '.table' },
];

async function main(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-pictures-'));
  const environment = Object.entries(process.env).filter(([name]) => !/_API_KEY$|^TEMPORAL_|^HOLDFAST_(?!TEMPORAL_CLI$)/.test(name));
  const flags = ['dev', '--no-watch', '--port', '0', '--config', 'examples/support/holdfast.config.ts'];
  const process_ = spawn(process.execPath, [resolve(root, 'dist/cli/main.js'), ...flags], {
    cwd: root,
    env: { ...Object.fromEntries(environment), HOLDFAST_DIR: directory, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    let said = '';
    process_.stdout.on('data', (chunk: Buffer) => void (said += chunk.toString()));
    while (!said.includes('Try:')) await delay(200);
    const url = /service\s+(http\S+)/.exec(said)?.[1] ?? '';
    await play(new ServiceClient(url));
    const browser = await openBrowser();
    for (const theme of ['light', 'dark'] as const) for (const picture of pictures) await draw(browser, url, theme, picture);
    await browser.close();
  } finally {
    const ended = once(process_, 'close');
    process_.kill('SIGTERM');
    await ended;
    rmSync(directory, { recursive: true, force: true });
  }
}

async function play(service: ServiceClient): Promise<void> {
  for (const [at, order] of [42, 43, 42, 43, 43, 42, 42].entries())
    await service.start({
      agent: 'support',
      id: `ticket-${975 + at}`,
      input: `Refund order ${order}, it arrived broken`,
      tags: at % 2 === 0 ? ['night'] : ['day', 'vip'],
      by: 'carl',
    });
  await service.start({ agent: 'support', id: 'ticket-970', input: 'Hello', model: 'openai/gpt-5', by: 'carl' });
  await service.start({ agent: 'orders', id: 'order-42', input: { orderId: '42' }, by: 'ada' });
  await service.send('shop-desk', { agent: 'support', message: 'Refund order 42, it arrived broken', by: 'ada' });
  for await (const event of service.events('shop-desk')) if (event.type === 'interrupt-start') break;
  for await (const event of service.events('order-42')) if (event.type === 'run-end') break;
  // Lists lag a moment.
  await delay(2_000);
}

async function draw(browser: Browser, url: string, theme: 'light' | 'dark', { name, hash, shows, act }: Picture): Promise<void> {
  const context = await browser.newContext({ colorScheme: theme, viewport: size });
  await context.addInitScript(`localStorage.setItem('holdfast.identity', JSON.stringify({ name: 'ada', roles: ['finance'] }))`);
  const page = await context.newPage();
  await page.goto(`${url}/${hash}`);
  await page.locator(shows).first().waitFor();
  await act?.(page);
  await page.mouse.move(size.width - 1, size.height - 1);
  await delay(1_500);
  const session = await context.newCDPSession(page);
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality });
  const file = resolve(root, 'docs', 'pictures', `console-${name}-${theme}.webp`);
  writeFileSync(file, Buffer.from(data, 'base64'));
  console.log(`${file} ${Math.round((data.length * 3) / 4 / 1000)} KB`);
  await context.close();
}

void main();
