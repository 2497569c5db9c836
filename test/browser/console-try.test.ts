import type { Page } from 'playwright-core';
import { deskProject, useConsole } from './console-desk';
import { letGo, refund, violationsOf, visit } from './console-pages';

const desk = useConsole(deskProject);

const ask = { name: 'askHuman', input: { question: 'Where to?' } };
const asked = (page: Page) => page.getByRole('group', { name: 'Waits for people' });

async function say(page: Page, calls: readonly object[]): Promise<void> {
  await page.getByLabel('Message', { exact: true }).fill(JSON.stringify({ calls }));
  await page.keyboard.press('Enter');
}

async function answersOf(id: string): Promise<readonly unknown[]> {
  const answers = [];
  for await (const event of desk.service.events(id)) {
    if (event.type === 'interrupt-end') answers.push(event.answer);
    if (event.type === 'turn-end') break;
  }
  return answers;
}

it('takes a decision back where it was asked, and edits it then, by mouse', async () => {
  const { page } = await visit(desk.browser, `${desk.bed.console}#/try/support?chat=try-mouse`);
  await say(page, [refund(80)]);
  await asked(page).getByRole('button', { name: 'Approve' }).click();
  await asked(page).getByText('You approve …').waitFor();
  await asked(page).getByRole('button', { name: 'Undo' }).click();
  await letGo(page);
  expect(await desk.service.interruptsOf('try-mouse')).toHaveLength(1);
  await asked(page).getByRole('button', { name: 'Edit' }).click();
  await asked(page).getByLabel('amount').fill('60');
  await asked(page).getByRole('button', { name: 'Approve with these changes' }).click();
  await letGo(page);
  expect(await answersOf('try-mouse')).toEqual([{ type: 'approve', editedInput: { orderId: '42', amount: 60 } }]);
  await asked(page).getByText('done').first().waitFor();
  await page.locator('.line.talk-agent').getByText('Done.').waitFor();
});

it('decides about several calls one after another, with words, by keyboard alone', async () => {
  const { page } = await visit(desk.browser, `${desk.bed.console}#/try/support?chat=try-keys`);
  await say(page, [refund(80), refund(81)]);
  await asked(page).getByRole('button', { name: 'Approve' }).focus();
  expect(await asked(page).getByRole('button', { name: 'Approve' }).count()).toBe(1);
  await page.keyboard.press('r');
  await page.locator('textarea:focus').waitFor();
  await page.keyboard.type('are a jar');
  await page.keyboard.press('ControlOrMeta+Enter');
  await asked(page).getByText('You reject …').waitFor();
  await asked(page).getByRole('button', { name: 'Approve' }).focus();
  await page.keyboard.press('a');
  await asked(page).getByText('You approve …').waitFor();
  await page.keyboard.press('u');
  await asked(page).getByText('You approve …').waitFor({ state: 'detached' });
  await page.keyboard.press('a');
  await letGo(page);
  const answers = await answersOf('try-keys');
  expect(answers).toHaveLength(2);
  expect(answers).toEqual(expect.arrayContaining([{ type: 'reject', feedback: 'are a jar' }, { type: 'approve' }]));
});

it('asks for a name, and says at the field what does not fit before an answer is sent', async () => {
  const { page } = await visit(desk.browser, `${desk.bed.console}#/try/shipping?chat=try-form`, { name: '' });
  await say(page, [ask]);
  await asked(page).getByRole('button', { name: 'Send the answer' }).click();
  await page.getByLabel('Your name').fill('dora');
  await page.getByRole('button', { name: 'Save' }).click();
  await asked(page).getByRole('alert').waitFor();
  await asked(page).getByLabel('Street and number').fill('Main Street 1');
  await asked(page).getByLabel('Boxes').fill('2');
  await asked(page).getByLabel('Insured').check();
  await asked(page).getByRole('button', { name: 'Send the answer' }).click();
  await letGo(page);
  expect(await answersOf('try-form')).toEqual([expect.objectContaining({ street: 'Main Street 1', boxes: 2, insured: true })]);
});

it.each(['light', 'dark'] as const)('has no violation of WCAG AA where a conversation asks: %s', async (colorScheme) => {
  const id = `try-axe-${colorScheme}`;
  const { page } = await visit(desk.browser, `${desk.bed.console}#/try/support?chat=${id}`, { colorScheme });
  await say(page, [refund(80), refund(81)]);
  await asked(page).getByRole('button', { name: 'Approve' }).waitFor();
  const found = [['asks', await violationsOf(page)]];
  await asked(page).getByRole('button', { name: 'Edit' }).click();
  found.push(['edit', await violationsOf(page)]);
  await page.setViewportSize({ width: 390, height: 800 });
  found.push(['phone', await violationsOf(page)]);
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  expect(found.filter(([, violations]) => violations!.length > 0)).toEqual([]);
});
