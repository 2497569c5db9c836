import { deskProject, useConsole } from './console-desk';
import { endingsOf, letGo, refund, rowOf, startAsking, violationsOf, visit } from './console-pages';

const desk = useConsole(deskProject);

it('approves by mouse, and takes a decision back while it is not sent', async () => {
  await startAsking(desk.service, 'support', 'mouse-1', [refund(80)]);
  const { page } = await visit(desk.browser, `${desk.bed.console}#/inbox?q=mouse-`);
  await rowOf(page, 'mouse-1').click();
  await page.getByRole('figure').getByText('42').waitFor();
  await page.getByRole('link', { name: 'Conversation' }).and(page.locator('[href="#/runs/mouse-1"]')).waitFor();
  await page.getByRole('button', { name: 'Approve' }).click();
  await rowOf(page, 'mouse-1').getByText('You approve …').waitFor();
  await page.getByLabel('Notices').getByRole('button', { name: 'Undo' }).click();
  await letGo(page);
  expect((await desk.service.interruptsOf('mouse-1')).length).toBe(1);
  await page.getByRole('button', { name: 'Approve' }).click();
  await letGo(page);
  await rowOf(page, 'mouse-1').getByText('You approve: done').waitFor();
  expect(await endingsOf(desk.service, 'mouse-1')).toEqual([{ answer: { type: 'approve' }, by: 'ada' }]);
});

it('decides about one thing with a double click, and with a key that is held down', async () => {
  for (const id of ['twice-1', 'twice-2', 'twice-3', 'twice-4']) await startAsking(desk.service, 'support', id, [refund(80)]);
  const { page } = await visit(desk.browser, `${desk.bed.console}#/inbox?q=twice-`);
  await rowOf(page, 'twice-1').click();
  await page.getByRole('button', { name: 'Approve' }).dblclick();
  await rowOf(page, 'twice-2').and(page.locator('.chosen')).waitFor();
  await page.keyboard.down('a');
  await page.keyboard.down('a');
  await page.keyboard.up('a');
  await rowOf(page, 'twice-3').and(page.locator('.chosen')).waitFor();
  expect(await page.getByText('You approve …').count()).toBe(2);
  await letGo(page);
  expect((await desk.service.interruptsOf('twice-3')).length).toBe(1);
  expect((await desk.service.interruptsOf('twice-4')).length).toBe(1);
});

it('moves, edits, rejects with words and takes back by keyboard alone', async () => {
  for (const id of ['keys-1', 'keys-2', 'keys-3']) await startAsking(desk.service, 'support', id, [refund(80)]);
  const { page } = await visit(desk.browser, desk.bed.console);
  const focused = (id: string) => page.locator(`.row[data-key^="${id}/"] a:focus`).waitFor();
  await rowOf(page, 'keys-1').waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('keys-');
  await page.keyboard.press('Escape');
  await page.getByText('3 waiting').or(page.getByText('3 of')).waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('k');
  await focused('keys-1');

  await page.keyboard.press('e');
  await page.getByLabel('orderId').and(page.locator(':focus')).waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.type('900');
  await page.getByText('amount is more than 500').first().waitFor();
  expect(await page.getByRole('button', { name: 'Approve with these changes' }).isDisabled()).toBe(true);
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.type('60');
  await expect(page.locator('.diff').innerText()).resolves.toMatch(/amount[\s\S]*80[\s\S]*60/);
  await page.keyboard.press('Enter');
  await rowOf(page, 'keys-1').getByText('You approve with changes').waitFor();
  await focused('keys-2');

  await page.keyboard.press('r');
  await page.locator('textarea:focus').waitFor();
  await page.keyboard.type('Ask the customer for a photo first.');
  await page.keyboard.press('ControlOrMeta+Enter');
  await focused('keys-3');

  await page.keyboard.press('a');
  await rowOf(page, 'keys-3').getByText('You approve …').waitFor();
  await page.keyboard.press('u');
  await rowOf(page, 'keys-3').getByText('You approve …').waitFor({ state: 'detached' });
  await letGo(page);

  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
  await page.keyboard.press('a');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.keyboard.press('k');
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.locator('#decision:focus').waitFor();
  await page.keyboard.press('Escape');
  await page.locator('.row a:focus').waitFor();

  expect(await endingsOf(desk.service, 'keys-1')).toEqual([
    { answer: { type: 'approve', editedInput: { orderId: '42', amount: 60 } }, by: 'ada' },
  ]);
  expect(await endingsOf(desk.service, 'keys-2')).toEqual([
    { answer: { type: 'reject', feedback: 'Ask the customer for a photo first.' }, by: 'ada' },
  ]);
  expect((await desk.service.interruptsOf('keys-3')).length).toBe(1);
});

it('shows at once who else has decided, in its place, and one of two decisions counts', async () => {
  for (const id of ['two-1', 'two-2', 'two-3']) await startAsking(desk.service, 'support', id, [refund(80)]);
  const [ada, bob] = await Promise.all(['ada', 'bob'].map((name) => visit(desk.browser, `${desk.bed.console}#/inbox?q=two-`, { name })));
  const order = () => ada!.page.locator('.row').evaluateAll((rows) => rows.map((row) => row.getAttribute('data-key')?.split('/')[0]));
  await rowOf(ada!.page, 'two-3').waitFor();
  await rowOf(ada!.page, 'two-1').click();
  const before = await order();
  await rowOf(bob!.page, 'two-1').click();
  await bob!.page.keyboard.press('r');
  await bob!.page.locator('textarea:focus').waitFor();
  await bob!.page.keyboard.type('Too early.');
  await bob!.page.keyboard.press('ControlOrMeta+Enter');
  await letGo(bob!.page);
  await rowOf(ada!.page, 'two-1').getByText('bob rejected it').waitFor();
  await ada!.page.locator('#decision').getByText('Too early.').waitFor();
  expect(await ada!.page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
  expect(await order()).toEqual(before);

  await rowOf(ada!.page, 'two-2').click();
  await rowOf(bob!.page, 'two-2').click();
  await ada!.page.keyboard.press('a');
  await bob!.page.keyboard.press('a');
  // A decision is shown for a few seconds only, so all pages must wait at once.
  const said = [ada!, bob!].map(({ page }) =>
    rowOf(page, 'two-2')
      .getByText(/You approve: done|approved it/)
      .innerText(),
  );
  await Promise.all([letGo(ada!.page), letGo(bob!.page)]);
  const [ending, ...others] = await endingsOf(desk.service, 'two-2');
  expect(others).toEqual([]);
  const [toAda, toBob] = ['You approve: done', expect.stringContaining(`${ending?.by} approved it`)];
  expect(await Promise.all(said)).toEqual(ending?.by === 'ada' ? [toAda, toBob] : [toBob, toAda]);
});

it('asks for a name once, shows whom a policy asks and why, and follows its stages', async () => {
  await startAsking(desk.service, 'payments', 'stage-1', [refund(250)]);
  const { page } = await visit(desk.browser, `${desk.bed.console}#/inbox?q=stage-&group=policy`, { name: '' });
  await page.getByRole('heading', { name: /^refunds 1/ }).waitFor();
  await page.getByRole('button', { name: 'Approve' }).click();
  await page.getByLabel('Your name').fill('dora');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByLabel('Notices').getByText('Only the role "support" may answer').waitFor();
  await page.getByRole('button', { name: 'You are dora' }).click();
  await page.getByLabel('Your roles').fill('support');
  await page.getByRole('button', { name: 'Save' }).click();
  const facts = page.locator('.why');
  for (const fact of ['support (1 of 2)', 'role support', 'Goes also to olga']) await facts.getByText(fact).waitFor();
  await page.getByRole('button', { name: 'Approve' }).click();
  await letGo(page);
  await page.getByRole('button', { name: 'All', exact: true }).click();
  await facts.getByText('finance (2 of 2)').waitFor();
  await facts.getByText('dora approved').waitFor();
  await page.getByText('You cannot decide this').waitFor();
  expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
});

it('answers a form that is made from its schema', async () => {
  await startAsking(desk.service, 'shipping', 'form-1', [{ name: 'askHuman', input: { question: 'Where should the parcel go?' } }]);
  await startAsking(desk.service, 'asker', 'form-2', [
    { name: 'askHuman', input: { question: 'Which colour?', options: ['blue', 'green'], other: true } },
  ]);
  const { page } = await visit(desk.browser, `${desk.bed.console}#/inbox?q=form-1`);
  await page.getByRole('heading', { name: 'Where to send it' }).waitFor();
  await page.getByRole('button', { name: 'Send the answer' }).click();
  await page.getByRole('alert').getByText('street is missing').waitFor();
  await page.getByLabel('Street and number').fill('Main Street 1');
  await page.getByLabel('Boxes').fill('two');
  await page.getByRole('button', { name: 'Send the answer' }).click();
  await page.getByRole('alert').getByText('boxes is no integer').waitFor();
  await page.getByLabel('Boxes').fill('2');
  await page.getByLabel('ups').check();
  await page.getByLabel('gift').check();
  await page.getByLabel('Insured').check();
  await page.keyboard.press('Enter');
  await letGo(page);
  expect((await endingsOf(desk.service, 'form-1'))[0]?.answer).toEqual({
    ...{ street: 'Main Street 1', boxes: 2, carrier: 'ups', extras: ['gift'], insured: true },
  });
  await page.getByLabel('Search').fill('form-2');
  await page.getByRole('button', { name: 'green' }).click();
  await page.getByRole('button', { name: 'Send the answer' }).click();
  await letGo(page);
  expect((await endingsOf(desk.service, 'form-2'))[0]?.answer).toBe('green');
});

it('shows what is known of a call in doubt, and takes what a person found out', async () => {
  await startAsking(desk.service, 'payer', 'doubt-1', [{ name: 'payOut', input: { account: 'DE12', amount: 99 } }]);
  const { page } = await visit(desk.browser, `${desk.bed.console}#/inbox?kind=in-doubt`);
  await page.getByText('default/doubt-1/payer/t1/payOut.0').waitFor();
  await page.getByText('It does not know.').waitFor();
  await page.getByLabel('What it returned').fill('{"receipt": 7}');
  await page.getByRole('button', { name: 'It happened' }).click();
  await letGo(page);
  expect((await endingsOf(desk.service, 'doubt-1'))[0]?.answer).toEqual({ happened: true, result: { receipt: 7 } });
});

it('decides about many that are shown, after a question with their number', async () => {
  await Promise.all(Array.from({ length: 12 }, (_, at) => startAsking(desk.service, 'support', `many-${at}`, [refund(at + 1)])));
  await startAsking(desk.service, 'asker', 'many-question', [{ name: 'askHuman', input: { question: 'Why?' } }]);
  const { page } = await visit(desk.browser, `${desk.bed.console}#/inbox?q=many-`);
  await rowOf(page, 'many-question').waitFor();
  await page.getByLabel('Select all that are shown').check();
  await page.getByRole('button', { name: 'Approve 12' }).click();
  const dialog = page.getByRole('dialog', { name: 'Approve 12 calls?' });
  await dialog.getByText('refund × 12').waitFor();
  await dialog.getByText('1 of the selected row is left out').waitFor();
  await dialog.getByRole('button', { name: 'Approve 12' }).click();
  await letGo(page);
  await Promise.all(Array.from({ length: 12 }, async (_, at) => expect(await endingsOf(desk.service, `many-${at}`)).toHaveLength(1)));
  await page.mouse.move(1_000, 400);
  await rowOf(page, 'many-0').waitFor({ state: 'detached' });
  await rowOf(page, 'many-question').waitFor();
});

it('sends at once what is held when the page goes', async () => {
  await startAsking(desk.service, 'support', 'leave-1', [refund(5)]);
  const { page } = await visit(desk.browser, `${desk.bed.console}#/inbox?q=leave-`);
  await page.getByRole('button', { name: 'Approve' }).click();
  await rowOf(page, 'leave-1').getByText('You approve …').waitFor();
  await page.goto('about:blank');
  expect(await endingsOf(desk.service, 'leave-1')).toEqual([{ answer: { type: 'approve' }, by: 'ada' }]);
});

it('executes nothing that a run says, and lets none of it stand for the console', async () => {
  const hostile = [
    '<script>window.hacked = 1</script><img src=x onerror="window.hacked = 1"><svg onload="window.hacked = 1">',
    '</div></figure><button>Approve</button><a href="javascript:window.hacked = 1">You approved this</a>',
    '\u202etxt.exe\u202c \u2066hidden\u2069 \u200bzero',
    '✓ You approve: done. Nothing waits for you.\n'.repeat(3),
    'x'.repeat(100_000),
  ].join('\n');
  await startAsking(desk.service, 'support', 'hostile-1', [refund(1, { orderId: hostile.slice(0, 300), reason: 'r' })], hostile);
  await startAsking(desk.service, 'asker', 'hostile-2', [
    { name: 'askHuman', input: { question: hostile.slice(0, 900), details: hostile.slice(0, 15_000) } },
  ]);
  const { page } = await visit(desk.browser, `${desk.bed.console}#/inbox?q=hostile-`);
  for (const id of ['hostile-1', 'hostile-2']) {
    await rowOf(page, id).click();
    const frame = page
      .getByRole('figure')
      .filter({ hasText: id === 'hostile-1' ? 'as the model of support wrote them' : 'In the words of asker' });
    await frame.getByText('<script>window.hacked = 1</script>').first().waitFor();
    await frame.getByText('⟦U+202E⟧txt.exe').first().waitFor();
  }
  expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
  expect(await page.locator('figure button:not(.link), figure a, figure img, figure script').count()).toBe(0);
  expect(await page.locator('a[href^="javascript"]').count()).toBe(0);
  // A line of a megabyte, larger than a run can put into an interrupt.
  await page.route('**/interrupts?*', async (route) => {
    const answer = await route.fetch();
    const body = (await answer.json()) as { interrupts: { interrupt: { info?: unknown } }[] };
    for (const { interrupt } of body.interrupts) if (interrupt.info !== undefined) interrupt.info = { question: 'y'.repeat(1_000_000) };
    await route.fulfill({ response: answer, json: body });
  });
  await page.getByRole('button', { name: 'Show all (1.0 M)' }).waitFor();
  expect((await page.locator('figure').innerText()).length).toBeLessThan(20_000);
  expect(await page.evaluate('window.hacked')).toBeUndefined();
  await page.unrouteAll({ behavior: 'ignoreErrors' });
});

it.each(['light', 'dark'] as const)('has no violation of WCAG AA in its pages: %s', async (colorScheme) => {
  const [run, ask] = [`axe-${colorScheme}-1`, `axe-${colorScheme}-2`];
  await startAsking(desk.service, 'payments', run, [refund(100, { reason: 'It was late.' })]);
  await startAsking(desk.service, 'shipping', ask, [{ name: 'askHuman', input: { question: 'Where to?' } }]);
  const { page } = await visit(desk.browser, `${desk.bed.console}#/inbox?who=all&group=agent&q=axe-${colorScheme}`, {
    roles: ['support'],
    colorScheme,
  });
  await rowOf(page, run).click();
  const found = [['list and approval', await violationsOf(page)]];
  await page.keyboard.press('e');
  await page.getByLabel('amount').fill('7');
  found.push(['edit', await violationsOf(page)]);
  await page.keyboard.press('Escape');
  await rowOf(page, ask).click();
  await page.getByLabel('Boxes').fill('none');
  await page.getByRole('button', { name: 'Send the answer' }).click();
  found.push(['refused form', await violationsOf(page)]);
  await rowOf(page, run).getByRole('checkbox').check();
  await page.getByRole('button', { name: 'Reject 1' }).click();
  found.push(['dialog', await violationsOf(page)]);
  await page.keyboard.press('Escape');
  await page.getByLabel('Search').fill('nothing has this');
  found.push(['nothing', await violationsOf(page)]);
  await page.setViewportSize({ width: 390, height: 800 });
  found.push(['phone', await violationsOf(page)]);
  expect(found.filter(([, violations]) => violations!.length > 0)).toEqual([]);
});

it('says that the service is away, and goes on by itself, also with what was decided meanwhile', async () => {
  await startAsking(desk.service, 'support', 'kill-1', [refund(3)]);
  const { page } = await visit(desk.browser, `${desk.bed.console}#/inbox?q=kill-`);
  await rowOf(page, 'kill-1').waitFor();
  await page.getByText('Live').waitFor();
  await desk.bed.kill();
  await page.getByText('Service away').waitFor();
  await page.getByText('goes on by itself').first().waitFor();
  await page.getByRole('button', { name: 'Approve' }).click();
  await letGo(page);
  // The message is shown for a few seconds only, and the page may be faster than the ready line.
  const isDone = rowOf(page, 'kill-1').getByText('You approve: done').waitFor({ timeout: 60_000 });
  await Promise.all([desk.bed.start(), isDone]);
  await page.getByText('Live').waitFor();
  expect(await endingsOf(desk.service, 'kill-1')).toEqual([{ answer: { type: 'approve' }, by: 'ada' }]);
  await startAsking(desk.service, 'support', 'kill-2', [refund(4)]);
  await rowOf(page, 'kill-2').waitFor();
});
