import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import type * as Opening from '../../examples/pages/open-pages';
import { ServiceClient } from '../../client/http/index';
import { openBrowser } from './browser';

// The processes run the compiled files.
// eslint-disable-next-line @typescript-eslint/no-require-imports -- what is compiled has no place among the sources
const { openPages } = require(join(__dirname, '..', '..', 'dist', 'examples', 'pages', 'open-pages.js')) as typeof Opening;

let pages: Opening.Pages;
let browser: Browser;
beforeAll(async () => {
  [pages, browser] = await Promise.all([openPages(0), openBrowser()]);
});
afterAll(async () => {
  await browser.close();
  await pages.close();
});

async function visited(path: string, play: (page: Page) => Promise<void>): Promise<void> {
  const page = await browser.newPage();
  page.setDefaultTimeout(20_000);
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error' && !/status of 404|favicon/.test(message.text())) errors.push(message.text());
  });
  try {
    await page.goto(`${pages.url}${path}`);
    await play(page);
    expect(errors).toEqual([]);
  } finally {
    await page.close();
  }
}

async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message').fill(text);
  await page.getByRole('button', { name: 'Send' }).click();
}

async function lastSaid(id: string): Promise<string> {
  const holdfast = new ServiceClient(pages.service);
  for await (const event of holdfast.events(id)) if (event.type === 'turn-end') break;
  return (
    (await holdfast.transcript(id))
      .at(-1)
      ?.parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
      .join('') ?? ''
  );
}

const saidBy = (page: Page, role: string) => page.locator(`li[data-role=${role}]`);
const ask = 'Refund order 42, it arrived broken';

describe.each([
  { name: 'useChat', path: '/chat', thread: 'chat' },
  { name: 'AG-UI', path: '/agui', thread: 'thread' },
])('a page with $name', ({ path, thread }) => {
  it('asks, is answered, and shows it again when it is loaded again', async () => {
    const id = `${thread}-hello`;
    await visited(`${path}?${thread}=${id}`, async (page) => {
      await say(page, 'Hello');
      await saidBy(page, 'assistant').last().getByText(/\w/).first().waitFor();
      const said = await lastSaid(id);
      await saidBy(page, 'assistant').getByText(said).waitFor();
      await page.reload();
      await saidBy(page, 'assistant').getByText(said).waitFor();
      expect([await saidBy(page, 'user').count(), await saidBy(page, 'assistant').count()]).toEqual([1, 1]);
    });
  });

  it('approves after it was loaded again, and the refund is made once', async () => {
    const id = `${thread}-refund`;
    await visited(`${path}?${thread}=${id}`, async (page) => {
      await say(page, ask);
      await page.getByRole('button', { name: 'Approve' }).waitFor();
      await page.reload();
      await page.getByRole('button', { name: 'Approve' }).click();
      await page.getByRole('button', { name: 'Approve' }).waitFor({ state: 'detached' });
      await saidBy(page, 'assistant')
        .getByText(await lastSaid(id))
        .waitFor();
    });
    const messages = await new ServiceClient(pages.service).transcript(id);
    const results = messages.flatMap(({ parts }) => parts.filter((part) => part.type === 'tool-result' && part.name === 'refund'));
    expect(results).toHaveLength(1);
  });

  it('rejects, and the agent answers without the refund', async () => {
    const id = `${thread}-reject`;
    await visited(`${path}?${thread}=${id}`, async (page) => {
      await say(page, ask);
      await page.getByRole('button', { name: 'Reject' }).click();
      await page.getByRole('button', { name: 'Reject' }).waitFor({ state: 'detached' });
      await saidBy(page, 'assistant')
        .getByText(await lastSaid(id))
        .waitFor();
    });
    const view = await new ServiceClient(pages.service).conversation(id);
    expect(view.interrupts).toEqual([]);
  });
});

it('a page of another origin is shown nothing', async () => {
  const page = await browser.newPage();
  await page.goto(pages.url);
  const other = pages.url.replace('127.0.0.1', 'localhost');
  await page.goto(other).catch(() => undefined);
  const seen = await page.evaluate(
    async (service) =>
      fetch(`${service}/agents`).then(
        () => 'seen',
        () => 'refused',
      ),
    pages.service,
  );
  expect(seen).toBe(page.url().startsWith(other) ? 'refused' : 'seen');
  expect(page.url().startsWith(other)).toBe(true);
  await page.close();
});
