import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { defineTool } from '../../activities/tools/tools';
import { createLogger } from '../../host/logger';
import { startService } from '../../service/http/start-service';
import type { RunningService } from '../../service/http/start-service';
import { z } from 'zod';
import { fixtureTools } from '../fixtures/tools';
import type { FakeRequest, FakeStep } from '../support/fake-provider/fake-provider';
import { eventually } from '../support/eventually';
import type { RatedProvider } from '../support/limited-provider';
import { startRatedProvider } from '../support/limited-provider';
import type { TestBed } from '../support/test-bed';
import { startTestBed } from '../support/test-bed';
import { openBrowser } from './browser';
import type { DeskPages } from './desk-page';
import { openDeskPages } from './desk-page';

const tools = {
  ...fixtureTools,
  lookupOrder: defineTool({
    description: 'Finds the order of the claimant.',
    inputSchema: z.object({ orderId: z.string() }),
    execute: ({ orderId }, { values }) => ({ orderId, total: 80, account: values['secret'] }),
  }),
};

function answer({ body }: FakeRequest): FakeStep {
  const made = (body['messages'] as readonly { readonly role: string }[]).filter(({ role }) => role === 'tool').length;
  if (made === 0) return { blocks: [{ type: 'tool-call', name: 'lookupOrder', input: { orderId: '42' } }] };
  if (made === 1) return { blocks: [{ type: 'tool-call', name: 'refund', input: { orderId: '42', amount: 80 } }] };
  return { blocks: [{ type: 'text', text: 'Your 80 are on their way.' }] };
}

let provider: RatedProvider;
let beds: readonly TestBed[];
let service: RunningService;
let pages: DeskPages;
let browser: Browser;
beforeAll(async () => {
  [provider, pages, browser] = await Promise.all([startRatedProvider(1, answer), openDeskPages(), openBrowser()]);
  const options = { environment: provider.environment, agents: join(__dirname, 'fixtures', 'desk-agents.ts'), tools, models: {} };
  const first = await startTestBed(() => ({ parts: [] }), options);
  const second = await startTestBed(() => ({ parts: [] }), { ...options, taskQueue: first.taskQueue });
  beds = [first, second];
  service = await startService({
    client: first.client,
    agents: [{ name: 'claims', description: 'Pays claims.', takesJob: false, tools: ['lookupOrder', 'refund'] }],
    logger: createLogger({ level: 'silent' }),
    origins: [pages.url],
    host: '127.0.0.1',
    port: 0,
  });
  pages.serveFor(service.url);
}, 120_000);
afterAll(async () => {
  await browser.close();
  await pages.close();
  await service.close();
  for (const bed of beds) await bed.close({ mayBeStuck: true });
  await provider.close();
}, 60_000);

interface Question {
  readonly id: string;
  readonly inputHash?: string;
}

async function openQuestion(chat: string, not?: string): Promise<Question> {
  return eventually(async () => {
    const { interrupts } = (await (await fetch(`${service.url}/conversations/${chat}`)).json()) as { interrupts: readonly Question[] };
    return interrupts.find(({ id }) => id !== not);
  });
}

async function sayYes(chat: string, { id, inputHash }: Question, by: string): Promise<number> {
  const response = await fetch(`${service.url}/runs/${chat}/interrupts/${id}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ answer: { type: 'approve' }, by, inputHash }),
  });
  return response.status;
}

async function claim(chat: string, by: string, secret: string): Promise<Page> {
  const page = await browser.newPage();
  page.setDefaultTimeout(60_000);
  await page.goto(`${pages.url}/?${new URLSearchParams({ chat, by, secret }).toString()}`);
  await page.getByRole('button', { name: 'Claim' }).click();
  return page;
}

const waits = '[data-tool=refund][data-state=approval-requested]';

it('shows a claimant what two of three managers decide elsewhere, also after a reload, and nothing of another claim', async () => {
  const [ann, eve] = await Promise.all([claim('claim-ann', 'ann', 'DE-11'), claim('claim-eve', 'eve', 'FR-22')]);
  await Promise.all([ann.locator(waits).waitFor(), eve.locator(waits).waitFor()]);
  expect(provider.refused).toBeGreaterThan(0);

  const first = await openQuestion('claim-ann');
  expect(await sayYes('claim-ann', first, 'ann')).toBe(403);
  expect(await sayYes('claim-ann', first, 'ada')).toBe(200);
  const second = await openQuestion('claim-ann', first.id);
  expect(await sayYes('claim-ann', second, 'ada')).toBe(403);
  expect(await ann.locator(waits).count()).toBe(1);

  const decided = performance.now();
  expect(await sayYes('claim-ann', second, 'bob')).toBe(200);
  await ann.locator('[data-tool=refund][data-state=output-available]').waitFor();
  process.stderr.write(`The page shows the decision after ${Math.round(performance.now() - decided)} ms.\n`);
  await ann.getByText('Your 80 are on their way.').waitFor();

  const shown = (): Promise<readonly string[]> => ann.locator('main > section > *').allTextContents();
  const before = await shown();
  expect(before.join('\n')).toMatch(/My teapot broke\.[^]*"account":"DE-11"[^]*"paid":80[^]*Your 80 are on their way\./);
  await ann.reload();
  await ann.getByText('Your 80 are on their way.').waitFor();
  expect(await shown()).toEqual(before);
  expect(await ann.getByRole('alert').count()).toBe(0);

  const ofAnn = await (await fetch(`${service.url}/aisdk/claims/claim-ann/messages?by=ann`)).text();
  expect([ofAnn, await ann.content()].filter((text) => text.includes('FR-22'))).toEqual([]);
  const asked = provider.requests.map(({ body }) => JSON.stringify(body));
  expect(asked.filter((text) => text.includes('DE-11') && text.includes('FR-22'))).toEqual([]);
  expect(await eve.locator(waits).count()).toBe(1);
});
