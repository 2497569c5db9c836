import { readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { PageName } from '../../console/routes';
import { useConsole } from './console-desk';

const desk = useConsole();

it('opens at the address that the ready line says, and loads nothing from elsewhere', async () => {
  const page = await desk.browser.newPage();
  const asked: string[] = [];
  const errors: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  const answer = await page.goto(desk.bed.console);
  expect(desk.bed.console).toBe(`${desk.bed.url}/`);
  expect(answer?.headers()).toMatchObject({
    'content-security-policy': expect.stringContaining("default-src 'self'"),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'same-origin',
  });
  for (const name of ['Runs', 'Try it', 'Automation', 'Service', 'Inbox']) {
    await page.getByRole('navigation').getByRole('link', { name }).click();
    await page.getByRole('navigation').locator('a[aria-current=page]').getByText(name).waitFor();
  }
  expect(asked.filter((url) => !url.startsWith(desk.bed.url))).toEqual([]);
  expect(errors).toEqual([]);
  await page.close();
});

it('keeps the theme that somebody chose', async () => {
  const page = await desk.browser.newPage({ colorScheme: 'light' });
  await page.goto(desk.bed.console);
  const background = (): Promise<string> => page.evaluate('getComputedStyle(document.body).backgroundColor');
  const light = await background();
  await page.getByRole('button', { name: /^Theme/ }).click();
  await page.getByRole('button', { name: /^Theme/ }).click();
  const dark = await background();
  await page.reload();
  await page.getByRole('button', { name: 'Theme: dark' }).waitFor();
  expect([await background(), light === dark]).toEqual([dark, false]);
  await page.close();
});

const folder = resolve(__dirname, '..', '..', 'dist', 'console');

/** Returns bytes of gzipped script that a browser with an empty cache loads until the page shows the text. */
async function scriptOf(hash: string, shows: string, width = 1280): Promise<number> {
  const context = await desk.browser.newContext({ viewport: { width, height: 800 } });
  // A browser that saves data preloads no other pages.
  await context.addInitScript(`Object.defineProperty(navigator, 'connection', { value: { saveData: true } })`);
  const page = await context.newPage();
  const scripts = new Set<string>();
  page.on('request', (request) => {
    if (request.resourceType() === 'script') scripts.add(new URL(request.url()).pathname.replace('/console/', ''));
  });
  await page.goto(`${desk.bed.console}${hash}`);
  await page.locator(shows).first().waitFor();
  // Neither a part nor a change after an error is still loading.
  for (const meanwhile of [/^Loading$/, /: …$/]) await page.locator('main').getByText(meanwhile).waitFor({ state: 'detached' });
  await context.close();
  const bytes = [...scripts].map((file) => gzipSync(readFileSync(join(folder, file))).length).reduce((sum, size) => sum + size, 0);
  expect(scripts.size).toBeGreaterThan(2);
  process.stdout.write(`${hash} at ${width}: ${(bytes / 1000).toFixed(1)} KB of gzipped script.\n`);
  return bytes;
}

const entrances: Readonly<Record<PageName | 'run', readonly (readonly [hash: string, shows: string])[]>> = {
  inbox: [
    ['#/inbox', '#decision'],
    ['#/inbox?item=gone%2Fgone', 'main'],
  ],
  runs: [['#/runs', '.run-row']],
  run: [
    ['#/runs/some-run', '.error-note .muted'],
    ['#/runs/waits', '#decision'],
    ['#/runs/waits?tab=timeline', '#decision'],
    ['#/runs/waits?tab=events', '#decision'],
    ['#/runs/talks', '#decision'],
    ['#/runs/talks?tab=timeline', '#decision'],
    ['#/runs/fails', '.run-header .failure'],
    ['#/runs/fails?tab=timeline', '.step-row'],
  ],
  try: [
    ['#/try/support', '#say'],
    ['#/try/support?chat=talks', '#decision'],
    ['#/try/orders', 'main .field'],
    ['#/try/nobody', 'main'],
  ],
  automation: [
    ['#/automation', 'main .muted'],
    ['#/automation?tab=batches', 'main .muted'],
  ],
  service: [
    ['#/service', '.table'],
    ['#/service?tab=tools', '.table'],
    ['#/service?tab=builds', '.table'],
    ['#/service?tab=usage', 'main'],
  ],
};

describe('what a browser loads at first', () => {
  beforeAll(async () => {
    const { service } = desk;
    await service.start({ agent: 'support', id: 'waits', input: 'Refund order 42, it arrived broken' });
    await service.send('talks', { agent: 'support', message: 'Refund order 42, it arrived broken' });
    await service.start({ agent: 'support', id: 'fails', input: 'Hello', model: 'nobody/model' });
    for (const id of ['waits', 'talks', 'fails'])
      for await (const event of service.events(id)) if (event.type === 'interrupt-start' || event.type === 'run-end') break;
    // Server lists lag a moment.
    for (;;) if ((await service.list()).runs.length === 3 && (await service.interrupts()).interrupts.length === 2) break;
  });

  it.each(Object.keys(entrances) as (keyof typeof entrances)[])(
    'is at most 60 KB of gzipped script, wherever in %s somebody comes in',
    async (name) => {
      for (const [hash, shows] of entrances[name]) {
        expect([hash, (await scriptOf(hash, shows)) < 60_000]).toEqual([hash, true]);
      }
    },
  );

  it('is at most 60 KB on a phone too, where a run waits', async () => {
    for (const [hash] of entrances.run.filter(([, shows]) => shows === '#decision')) {
      expect([hash, (await scriptOf(hash, '.waits', 390)) < 60_000]).toEqual([hash, true]);
    }
  });
});

it('loads the other pages in advance, so that they are there while the service is away', async () => {
  const parts = readdirSync(folder).filter((file) => file.startsWith('part-'));
  const context = await desk.browser.newContext();
  const page = await context.newPage();
  const found = new Set<string>();
  const all = new Promise<void>((resolve) => {
    page.on('requestfinished', (request) => {
      const [, file] = /\/console\/(part-.*)$/.exec(request.url()) ?? [];
      if (file !== undefined) found.add(file);
      if (found.size === parts.length) resolve();
    });
  });
  await page.goto(desk.bed.console);
  await all;
  await context.setOffline(true);
  await page.getByText('Service away').waitFor();
  for (const name of ['Runs', 'Try it', 'Automation', 'Service']) {
    await page.getByRole('navigation').getByRole('link', { name }).click();
    await page.locator('main > *:not(.unseen)').first().waitFor();
    expect(await page.getByText('This page could not be loaded').count()).toBe(0);
  }
  await context.close();
});
