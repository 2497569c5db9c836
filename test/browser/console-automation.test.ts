import { rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import type { Me } from '../../client/http/index';
import { builtInRoles } from '../../contract/access';
import { eventually } from '../support/eventually';
import { signedAs } from '../support/trigger-bed';
import { useConsole } from './console-desk';
import { refund, violationsOf, visit } from './console-pages';

let isGone = true;
const receiver = createServer((_, response) => response.writeHead(isGone ? 410 : 204).end());
beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  process.env['RECEIVER'] = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
});
const desk = useConsole('test/browser/console-project/automation.config.ts', () => receiver.close());

const reader: Me = { tenant: 'default', user: 'rita', roles: ['reader'], proof: 'key:4f7Qa2Zk', may: builtInRoles.reader };
const tabs = ['schedules', 'triggers', 'batches', 'notices'] as const;

async function opened(tab: (typeof tabs)[number], visitor: Parameters<typeof visit>[2] = {}): Promise<Page> {
  return (await visit(desk.browser, `${desk.bed.console}#/automation?tab=${tab}`, visitor)).page;
}

const rowOf = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name });

const toast = (page: Page, text: RegExp) => page.getByRole('region', { name: 'Notices' }).filter({ hasText: text });

const inputOf = (...calls: readonly object[]): string => JSON.stringify({ say: 'Done.', calls });

/** What moved in the page. The count of the inbox may move its neighbours in the header. */
const shifts = `(() => {
  const observer = new PerformanceObserver(() => {});
  observer.observe({ type: 'layout-shift', buffered: true });
  const moved = observer.takeRecords().flatMap(({ sources }) => sources.map(({ node }) => node));
  return moved.filter((node) => !node?.parentElement?.closest('header')).map((node) => node?.parentElement?.outerHTML ?? 'gone');
})()`;

async function deliver(id: string): Promise<void> {
  const body = JSON.stringify({ order: `Ord-${'x'.repeat(300)}` });
  const response = await fetch(`${desk.bed.url}/v1/triggers/orders`, { method: 'POST', headers: signedAs(body, { id }), body });
  expect(await response.json()).toEqual({ kept: id });
}

it('says what to do where there is nothing', async () => {
  const page = await opened('batches');
  await page.getByText('There are no batches. `npx holdfast batch FILE --agent AGENT` starts one.').waitFor();
  await page.getByRole('link', { name: 'Triggers' }).click();
  await page.getByText('No delivery is kept.').waitFor();
  await page.getByText(`${desk.bed.url}/v1/triggers/orders`).waitFor();
  await page.getByRole('link', { name: 'Notices' }).click();
  await page.getByText('All notices have arrived.').waitFor();
});

it('runs a schedule now from the keyboard and links the run, pauses the schedule with a reason, and resumes it', async () => {
  const page = await opened('schedules');
  const night = rowOf(page, 'night');
  await night.getByText('0 2 1 1 * Europe/Berlin').waitFor();
  await night.getByRole('button', { name: 'Run now: night' }).press('Enter');
  await toast(page, /night starts a run/).waitFor();
  await night.getByRole('link', { name: /^night-/ }).click();
  await page.locator('.run-title').getByText('completed').waitFor();
  await page.goBack();
  await night.getByRole('button', { name: 'Pause: night' }).press('Enter');
  await page.getByLabel('Why, for other people').fill('holidays');
  await page.keyboard.press('Enter');
  await night.getByText('holidays').waitFor();
  expect(await desk.service.schedule('night')).toMatchObject({ paused: true, note: expect.stringContaining('holidays') as string });
  await night.getByRole('button', { name: 'Resume: night' }).click();
  await night.getByRole('button', { name: 'Pause: night' }).waitFor();
});

it('shows a kept delivery with its problem, keeps it if the replay fails, makes a run of it after the correction, and drops another', async () => {
  await deliver('msg_1');
  await deliver('msg_2');
  const page = await opened('triggers');
  await rowOf(page, 'msg_1').getByText('There is no order in the delivery msg_1.').waitFor();
  await rowOf(page, 'msg_1').getByText('Show').click();
  await rowOf(page, 'msg_1').getByText('"order"').waitFor();
  await page.getByRole('button', { name: 'Replay: msg_1' }).click();
  await toast(page, /msg_1 is still kept/).waitFor();
  writeFileSync(join(desk.bed.directory, 'corrected'), '');
  await page.getByRole('button', { name: 'Replay: msg_1' }).press('Enter');
  await rowOf(page, 'msg_1').waitFor({ state: 'detached' });
  // Whoever works with the keyboard goes on where the row was.
  expect(await page.evaluate('document.activeElement.matches("main div")')).toBe(true);
  await page.getByRole('button', { name: 'Drop: msg_2' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Drop', exact: true }).click();
  await page.getByText('No delivery is kept.').waitFor();
  await toast(page, /started the run orders:msg_1/)
    .getByRole('button', { name: 'Open the run' })
    .click();
  await page.locator('.run-title').getByText('completed').waitFor();
  expect((await desk.service.list({ id: 'orders:' })).runs.map(({ id }) => id)).toEqual(['orders:msg_1']);
});

it('shows an error of an act in a dialog, and what to do', async () => {
  const page = await opened('schedules');
  await page.route('**/schedules/pulse/run', (route) =>
    route.fulfill({ status: 404, json: { error: { code: 'schedule-unknown', message: 'There is no schedule "pulse".' } } }),
  );
  await page.getByRole('button', { name: 'Run now: pulse' }).click();
  await page.getByRole('dialog', { name: 'Run now: pulse' }).getByText('There is no schedule "pulse".').waitFor();
});

it('shows the progress of a batch, stops the batch with its runs, and leads to the runs of the batch', async () => {
  const lines = [inputOf(), inputOf(), inputOf(refund(80))].map((input) => JSON.stringify(input)).join('\n');
  await desk.service.startBatch({ agent: 'support', id: 'letters', concurrency: 2, perMinute: 600 }, lines);
  const page = await opened('batches');
  const batch = rowOf(page, 'letters');
  await batch.getByText('2 of 3 lines have ended').waitFor();
  await batch.getByText(/\d a minute/).waitFor();
  expect(await batch.getByRole('progressbar').getAttribute('value')).toBe('2');
  await batch.getByRole('link', { name: 'waiting 1' }).waitFor();
  await batch.getByRole('button', { name: 'Stop: letters' }).click();
  await page.getByLabel('Also cancel open runs').check();
  await page.getByRole('dialog').getByRole('button', { name: 'Stop', exact: true }).click();
  await batch.getByText('stopped').waitFor();
  await batch.getByRole('link', { name: 'cancelled 1' }).waitFor();
  expect(await batch.getByRole('button').count()).toBe(0);
  await batch.getByRole('link', { name: 'letters', exact: true }).click();
  await page.getByText('letters-000003').waitFor();
  expect(await page.locator('.run-row').count()).toBe(3);
});

it('sends a notice that did not arrive once the receiver is back, and drops another', async () => {
  for (const id of ['told-1', 'told-2']) await desk.service.start({ agent: 'payments', id, input: inputOf() });
  const page = await opened('notices');
  for (const id of ['told-1', 'told-2']) await rowOf(page, id).getByText('undelivered').waitFor();
  await page.getByRole('button', { name: 'Send now: completed told-1' }).click();
  await page.getByRole('dialog').getByText(`${process.env['RECEIVER']} does not take the notice`).waitFor();
  await page.keyboard.press('Escape');
  isGone = false;
  await page.getByRole('button', { name: 'Send now: completed told-1' }).click();
  await rowOf(page, 'told-1').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Drop: completed told-2' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Drop', exact: true }).click();
  await page.getByText('All notices have arrived.').waitFor();
});

describe('with rows in each part', () => {
  beforeAll(async () => {
    isGone = true;
    for (const id of ['told-3', `told-${'w'.repeat(100)}`]) await desk.service.start({ agent: 'payments', id, input: inputOf() });
    rmSync(join(desk.bed.directory, 'corrected'), { force: true });
    await deliver('msg_3');
    await desk.service.startBatch({ agent: 'support', id: 'waiting' }, JSON.stringify(inputOf(refund(80))));
    // A row that comes later moves the others.
    await eventually(async () => (await desk.service.batches()).batches.some(({ id }) => id === 'waiting') || undefined);
    await eventually(
      async () => (await desk.service.notices()).notices.filter(({ state }) => state === 'undelivered').length === 2 || undefined,
    );
  });

  it.each(tabs)('nothing of %s overflows a phone or moves as it loads, and everybody can use it', async (tab) => {
    const page = await opened(tab, { width: 390, colorScheme: 'dark' });
    await page.getByRole('row').nth(1).waitFor();
    expect(
      await page.evaluate('[document.documentElement, document.querySelector("main")].map((one) => one.scrollWidth <= one.clientWidth)'),
    ).toEqual([true, true]);
    expect(await page.evaluate(shifts)).toEqual([]);
    expect(await violationsOf(page)).toEqual([]);
  });

  it.each(tabs)('a reader sees %s without a button, and which role has them', async (tab) => {
    const page = await opened(tab, { name: '', prepare: (context) => context.route('**/me', (route) => route.fulfill({ json: reader })) });
    await page.getByRole('row').nth(1).waitFor();
    await page.getByText(/Your roles do not allow runs:(control|start). The role operator does./).waitFor();
    expect(
      await page
        .locator('main')
        .getByRole('button', { name: /^(?!Copy$)/ })
        .count(),
    ).toBe(0);
    expect(await violationsOf(page)).toEqual([]);
  });
});
