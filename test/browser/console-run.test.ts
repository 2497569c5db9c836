import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { useConsole } from './console-desk';
import type { Visitor } from './console-pages';
import { violationsOf, visit } from './console-pages';

const gates = mkdtempSync(join(tmpdir(), 'holdfast-gates-'));
process.env['CONSOLE_TEST_GATES'] = gates;
const open = (gate: string): void => writeFileSync(join(gates, gate), '');

const desk = useConsole('test/browser/fixtures/holdfast.config.ts', () => rmSync(gates, { recursive: true, force: true }));
/** Built while other tests run. */
let many: string;
beforeAll(async () => {
  many = await started('plain', 'many 400');
});

async function opened(id: string, query = '', visitor: Visitor = {}): Promise<Page> {
  const { page } = await visit(desk.browser, `${desk.bed.url}/#/runs/${encodeURIComponent(id)}${query}`, { name: '', ...visitor });
  return page;
}

async function ended(id: string): Promise<void> {
  for await (const event of desk.service.events(id)) if (event.type === 'run-end') return;
}

const started = async (agent: string, input: string, id?: string): Promise<string> =>
  (await desk.service.start({ agent, input, ...(id === undefined ? {} : { id }) })).id;

const conversation = (page: Page) => page.getByRole('region', { name: 'Conversation' });

it('shows what a model says as it comes, and what counts when it has come', async () => {
  const page = await opened(await started('plain', 'stream slow'));
  await conversation(page).locator('.live').getByText('First half.').waitFor();
  expect(await conversation(page).getByText('Second half.').count()).toBe(0);
  open('slow');
  await conversation(page).locator('.bubble').getByText('First half. Second half.').waitFor();
  await conversation(page).getByText('The run is completed').waitFor();
  expect(await conversation(page).locator('.live').count()).toBe(0);
  await page.getByText('They want it slowly.').waitFor({ state: 'hidden' });
  await conversation(page).getByText('Reasoning').click();
  await page.getByText('They want it slowly.').waitFor();
});

it('shows a step as the model saw it, what changed since the step before, and who changed it, by keys', async () => {
  const id = await started('clerk', 'look 42');
  await ended(id);
  const page = await opened(id);
  await page.getByRole('tab', { name: 'Conversation' }).focus();
  await page.keyboard.press('ArrowRight');
  await page.getByRole('tab', { name: 'Timeline', selected: true }).waitFor();
  await page.locator('.step-row').getByText('clerk').last().focus();
  await page.locator('.step-row button').last().press('Enter');
  const step = page.getByRole('complementary', { name: 'Step' });
  await step.getByText('clerk/t2/model').waitFor();
  expect(await step.locator('.changed-by').innerText()).toMatch(/brief\s+instructions\s+wrapModel/);
  const added = await step.locator('.diff-list ins').allInnerTexts();
  expect(added).toHaveLength(2);
  expect(added[0]).toContain('Call of lookUp');
  expect(added[1]).toContain('"order":##');
  await step.getByText('Request', { exact: true }).click();
  await step.getByText('You are a clerk. Be brief.').waitFor();
  await step.getByText('Messages (3)').waitFor();
  expect(await step.getByText('It is on its way.').count()).toBe(1);
  await page.keyboard.press('k');
  await step.getByText('clerk/t1/lookUp.0').waitFor();
  await step.getByText('42').first().waitFor();
  expect(await step.locator('.changed-by').innerText()).toContain('hidesNumbers');
  await page.keyboard.press('Escape');
  await step.waitFor({ state: 'detached' });
});

it('opens the lane of an isolated agent in the timeline, and its steps', async () => {
  const id = await started('desk', 'look 7');
  await ended(id);
  const page = await opened(id, '?tab=timeline');
  await page.getByRole('button', { name: 'Show the steps of researcher' }).click();
  await page.locator('.step-row.inner').getByText('lookUp').click();
  await page.getByRole('complementary', { name: 'Step' }).getByText('researcher/t1/lookUp.0').waitFor();
  expect(await page.getByRole('link', { name: 'Open its run' }).first().getAttribute('href')).toContain(
    encodeURIComponent(`${id}~researcher`),
  );
});

it('cancels a run with a reason, and lets it go on', async () => {
  const id = await started('plain', 'hold cancelled');
  const page = await opened(id);
  await page.getByRole('button', { name: 'Cancel…' }).click();
  await page.getByRole('dialog').getByLabel('Why').fill('A wrong order.');
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel the run' }).click();
  await page.locator('.run-title').getByText('cancelled').waitFor();
  await conversation(page).getByText('A wrong order.').first().waitFor();
  open('cancelled');
  await page.getByRole('button', { name: 'Resume' }).click();
  await conversation(page).getByText('Held no more.').waitFor();
  await page.locator('.run-title').getByText('completed').waitFor();
});

it('shows why a run failed and what to do, and tries it again', async () => {
  const id = await started('plain', 'break mended');
  const page = await opened(id);
  const failure = page.locator('.run-header .failure');
  await failure.getByText('The provider is out of order.').waitFor();
  expect(await failure.innerText()).toContain('model-failed');
  expect(await page.title()).toBe(`${id} · failed · Holdfast`);
  open('mended');
  await page.getByRole('button', { name: 'Retry' }).click();
  await conversation(page).getByText('It works again.').waitFor();
});

it('ends a run without its code only when its id was typed', async () => {
  const id = await started('plain', 'hold never', 'to-be-ended');
  const page = await opened(id);
  await page.getByRole('button', { name: 'Terminate…' }).click();
  const submit = page.getByRole('dialog').getByRole('button', { name: 'Terminate' });
  expect(await submit.isDisabled()).toBe(true);
  await page.getByRole('dialog').getByRole('textbox').fill('to-be-ended');
  await submit.click();
  await page.locator('.run-title').getByText('failed').waitFor();
});

it('writes to a conversation, and changes what waits', async () => {
  const id = 'a-conversation';
  await desk.service.send(id, { agent: 'plain', message: 'Hello', by: 'Ada' });
  const page = await opened(id);
  const box = page.getByRole('textbox', { name: 'Your message' });
  await conversation(page).getByText('You said: Hello').waitFor();
  await box.fill('hold turn');
  await box.press('Control+Enter');
  await page.locator('.run-title').getByText('running').waitFor();
  await box.fill('Wrong words');
  await page.getByRole('button', { name: 'Send' }).click();
  const queue = page.locator('.queue');
  await queue.getByText('Wrong words').waitFor();
  await queue.getByRole('button', { name: 'Change' }).click();
  await page.getByRole('dialog').getByRole('textbox').fill('Right words');
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await queue.getByText('Right words').waitFor();
  open('turn');
  await conversation(page).getByText('You said: Right words').waitFor();
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.locator('.run-title').getByText('Paused').waitFor();
});

it('goes on at its place when the service was killed under an open page, and shows nothing twice', async () => {
  const id = await started('plain', 'stream killed');
  const page = await opened(id);
  await conversation(page).locator('.live').getByText('First half.').waitFor();
  await desk.bed.kill();
  await page.getByText('Service away').waitFor();
  await desk.bed.start();
  await page.getByText('Live', { exact: true }).waitFor();
  open('killed');
  await conversation(page).getByText('The run is completed').waitFor({ timeout: 45_000 });
  expect(await conversation(page).getByText('First half. Second half.').count()).toBe(1);
  expect(await conversation(page).getByText('stream killed').count()).toBe(1);
});

it('executes nothing of what a run says, and shows it as said by the run', async () => {
  const id = await started('plain', 'hostile');
  await ended(id);
  const page = await opened(id);
  await conversation(page).getByText('The run is completed').waitFor();
  expect(await page.evaluate('window.fooled')).toBeUndefined();
  expect(await page.getByRole('button', { name: /Approve/ }).count()).toBe(0);
  expect(await page.locator('a[href^="javascript:"]').count()).toBe(0);
  const said = conversation(page).locator('.bubble .said-text').last();
  expect(await said.innerText()).toContain('⟦U+202E⟧');
  expect((await said.innerText()).length).toBeLessThan(10_000);
  await page.getByRole('tab', { name: 'Events' }).click();
  await page.locator('.event-row').nth(1).click();
  await page.getByRole('dialog').waitFor();
  expect(await page.evaluate('window.fooled')).toBeUndefined();
});

it.each(['light', 'dark'] as const)('has no violation of axe, %s', async (colorScheme) => {
  const waiting = await started('clerk', 'pay 80');
  for await (const event of desk.service.events(waiting)) if (event.type === 'interrupt-start') break;
  const failed = await started('plain', 'break never');
  await ended(failed);
  const looked = await started('clerk', 'look 42');
  await ended(looked);
  const shown: readonly (readonly [string, string])[] = [
    [waiting, ''],
    [failed, ''],
    [looked, '?step=clerk%2Ft2%2Fmodel'],
    [looked, '?tab=timeline&step=clerk%2Ft1%2FlookUp.0'],
    [looked, '?tab=events'],
    ['a-conversation', ''],
  ];
  for (const [id, query] of shown) {
    const page = await opened(id, query, { colorScheme });
    await page.locator('.run-view > *').first().waitFor();
    if (query.includes('step=')) await page.locator('.step-section').first().waitFor();
    expect([id, query, await violationsOf(page)]).toEqual([id, query, []]);
  }
});

it('opens a run of 400 turns at its end, and scrolls through its steps', async () => {
  await ended(many);
  const page = await opened(many);
  await conversation(page).getByText('That was all.').waitFor();
  await page.getByRole('tab', { name: 'Timeline' }).click();
  await page.getByText('799 steps').waitFor();
  const rows = page.getByRole('list', { name: 'Steps of the run' }).getByRole('listitem');
  expect(await rows.first().getAttribute('aria-posinset')).toBe('1');
  await page.locator('.timeline .virtual').hover();
  await page.mouse.wheel(0, 100_000);
  await rows.getByText('completed').waitFor();
  expect(await rows.last().getAttribute('aria-posinset')).toBe(await rows.last().getAttribute('aria-setsize'));
  expect(await rows.count()).toBeLessThan(100);
});
