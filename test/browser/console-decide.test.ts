import { deskProject, useConsole } from './console-desk';
import { decision, endingsOf, letGo, refund, rowOf, startAsking, violationsOf, visit, waits } from './console-pages';

const desk = useConsole(deskProject);

const ask = { name: 'askHuman', input: { question: 'Where to?' } };

async function stillOpen(id: string, count: number): Promise<void> {
  while ((await desk.service.interruptsOf(id)).length !== count);
}

it('decides on the page of the run by mouse, and takes it back while it is not sent', async () => {
  await startAsking(desk.service, 'support', 'run-mouse', [refund(80)]);
  const { page } = await visit(desk.browser, `${desk.bed.console}#/runs/run-mouse`);
  await decision(page).getByRole('figure').getByText('42').waitFor();
  await decision(page).getByRole('button', { name: 'Approve' }).click();
  await waits(page).getByText('You approve …').waitFor();
  await decision(page).getByRole('button', { name: 'Undo' }).click();
  await letGo(page);
  expect((await desk.service.interruptsOf('run-mouse')).length).toBe(1);
  await decision(page).getByRole('button', { name: 'Approve' }).click();
  await letGo(page);
  await page.locator('.run-title').getByText('completed').waitFor();
  await decision(page).getByText('You approve: done').waitFor();
  expect(await endingsOf(desk.service, 'run-mouse')).toEqual([{ answer: { type: 'approve' }, by: 'ada' }]);
  await decision(page).getByRole('button', { name: 'Close the decision' }).click();
  await decision(page).waitFor({ state: 'detached' });
});

it('moves, edits, rejects with words and takes back on the page of the run by keyboard alone', async () => {
  await startAsking(desk.service, 'support', 'run-keys', [refund(80), refund(81), refund(82)]);
  const { page } = await visit(desk.browser, `${desk.bed.console}#/runs/run-keys`);
  await decision(page).getByText('80').waitFor();
  await page.keyboard.press('j');
  await decision(page).getByText('81').waitFor();
  await page.keyboard.press('k');
  await decision(page).getByText('80').waitFor();
  await page.keyboard.press('e');
  await page.getByLabel('amount').fill('60');
  await page.keyboard.press('Enter');
  await decision(page).getByText('81').waitFor();
  await page.keyboard.press('r');
  await page.locator('textarea:focus').waitFor();
  await page.keyboard.type('are a jar');
  await page.keyboard.press('ControlOrMeta+Enter');
  await decision(page).getByText('82').waitFor();
  await page.keyboard.press('a');
  await waits(page).getByText('You approve …').waitFor();
  await page.keyboard.press('u');
  await waits(page).getByText('You approve …').waitFor({ state: 'detached' });
  await letGo(page);
  await stillOpen('run-keys', 1);
  await page.keyboard.press('Escape');
  await decision(page).waitFor({ state: 'detached' });
  // A key must not decide an invisible question.
  await page.keyboard.press('a');
  await letGo(page);
  expect((await desk.service.interruptsOf('run-keys')).length).toBe(1);
  await page.keyboard.press('j');
  await decision(page).getByRole('button', { name: 'Approve' }).waitFor();
  await page.keyboard.press('a');
  await letGo(page);
  const answers = (await endingsOf(desk.service, 'run-keys')).map(({ answer }) => answer);
  expect(answers).toHaveLength(3);
  expect(answers).toEqual(
    expect.arrayContaining([
      { type: 'approve', editedInput: { orderId: '42', amount: 60 } },
      { type: 'reject', feedback: 'are a jar' },
      { type: 'approve' },
    ]),
  );
});

it('shows on the page of the run at once what somebody else has decided, also while its form is filled', async () => {
  await startAsking(desk.service, 'shipping', 'run-two', [ask]);
  const [ada, bob] = await Promise.all([
    visit(desk.browser, `${desk.bed.console}#/runs/run-two`),
    visit(desk.browser, `${desk.bed.console}#/inbox?q=run-two`, { name: 'bob' }),
  ]);
  await decision(ada.page).getByLabel('Street and number').fill('Side Street');
  await rowOf(bob.page, 'run-two').click();
  await bob.page.getByLabel('Street and number').fill('Main Street 1');
  await bob.page.getByLabel('Boxes').fill('2');
  await bob.page.getByLabel('Insured').check();
  await bob.page.getByRole('button', { name: 'Send the answer' }).click();
  await letGo(bob.page);
  await decision(ada.page).getByText('bob answered it').waitFor();
  await waits(ada.page).getByText('bob answered it').waitFor();
  expect(await decision(ada.page).getByRole('button', { name: 'Send the answer' }).count()).toBe(0);
});

it('opens and closes a dialog before the next key is pressed, and the focus is back by then', async () => {
  await startAsking(desk.service, 'support', 'run-dialog', [refund(80)]);
  const { page } = await visit(desk.browser, `${desk.bed.console}#/inbox?q=run-dialog`);
  await rowOf(page, 'run-dialog').click();
  await page.locator('.row a:focus').waitFor();
  // Keys of one moment: the page draws nothing between them.
  const seen = await page.evaluate<readonly unknown[]>(`(async () => {
    const press = (key) => document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
    const said = [];
    const look = async () => {
      for (let turn = 0; turn < 10; turn++) await undefined;
      said.push([document.querySelector('dialog[open]') !== null, document.activeElement.classList[0]]);
    };
    press('?');
    await look();
    press('a');
    document.querySelector('dialog .icon-button').click();
    await look();
    press('Enter');
    await look();
    return said;
  })()`);
  expect(seen).toEqual([
    [true, 'icon-button'],
    [false, 'row-link'],
    [false, 'detail'],
  ]);
  await letGo(page);
  expect(await page.evaluate('document.activeElement.id')).toBe('decision');
  expect((await desk.service.interruptsOf('run-dialog')).length).toBe(1);
});

it('asks for a name on the page of the run, and says there who may not decide', async () => {
  await startAsking(desk.service, 'payments', 'run-name', [refund(250)]);
  const { page } = await visit(desk.browser, `${desk.bed.console}#/runs/run-name`, { name: '' });
  await decision(page).getByRole('button', { name: 'Approve' }).click();
  await page.getByLabel('Your name').fill('dora');
  await page.getByRole('button', { name: 'Save' }).click();
  await decision(page).getByText('You cannot decide this').waitFor();
  expect(await decision(page).getByRole('button', { name: 'Approve' }).count()).toBe(0);
});

it('decides on a phone, where the decision covers the run until it is given', async () => {
  await startAsking(desk.service, 'support', 'run-phone', [refund(80), refund(81)]);
  const { page } = await visit(desk.browser, `${desk.bed.console}#/runs/run-phone`, { width: 390 });
  await waits(page).getByRole('button', { name: 'Decide about refund' }).first().click();
  await decision(page).getByRole('button', { name: 'Close the decision' }).click();
  await waits(page).getByRole('button', { name: 'Decide about refund' }).last().click();
  await decision(page).getByRole('button', { name: 'Approve' }).click();
  await decision(page).waitFor({ state: 'detached' });
  await waits(page).getByText('You approve …').waitFor();
  await letGo(page);
  await stillOpen('run-phone', 1);
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
});

it('does not move the page when a run begins to ask: what it asks is shown when somebody wants it', async () => {
  await desk.service.send('run-later', { agent: 'support', message: JSON.stringify({ calls: [] }) });
  const { page } = await visit(desk.browser, `${desk.bed.console}#/runs/run-later`);
  await page.locator('.run-title').getByText('idle').waitFor();
  await desk.service.send('run-later', { message: JSON.stringify({ calls: [refund(3)] }) });
  await waits(page).getByRole('button', { name: 'Decide about refund' }).waitFor();
  expect(await decision(page).count()).toBe(0);
  await waits(page).getByRole('button', { name: 'Decide about refund' }).press('Enter');
  await decision(page).getByRole('button', { name: 'Approve' }).waitFor();
});

it.each(['light', 'dark'] as const)('has no violation of WCAG AA where a run is decided about: %s', async (colorScheme) => {
  const [pay, form] = [`run-axe-${colorScheme}-1`, `run-axe-${colorScheme}-2`];
  await startAsking(desk.service, 'support', pay, [refund(80), refund(81)]);
  await startAsking(desk.service, 'shipping', form, [ask]);
  const { page } = await visit(desk.browser, `${desk.bed.console}#/runs/${pay}`, { colorScheme });
  await decision(page).getByRole('button', { name: 'Approve' }).waitFor();
  const found = [['approval', await violationsOf(page)]];
  await page.keyboard.press('e');
  await page.getByLabel('amount').fill('7');
  found.push(['edit', await violationsOf(page)]);
  await page.keyboard.press('Escape');
  await decision(page).getByRole('button', { name: 'Approve' }).click();
  found.push(['given', await violationsOf(page)]);
  await page.evaluate(`location.hash = '#/runs/${form}'`);
  await decision(page).getByRole('button', { name: 'Send the answer' }).click();
  await page.getByRole('alert').waitFor();
  found.push(['refused form', await violationsOf(page)]);
  await page.setViewportSize({ width: 390, height: 800 });
  found.push(['phone', await violationsOf(page)]);
  expect(found.filter(([, violations]) => violations!.length > 0)).toEqual([]);
});
