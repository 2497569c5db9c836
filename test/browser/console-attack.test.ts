import { deskProject, useConsole } from './console-desk';
import { decision, endingsOf, letGo, refund, rowOf, startAsking, visit, waits } from './console-pages';

const desk = useConsole(deskProject);

const fitsWidth = 'document.documentElement.scrollWidth <= innerWidth';

it('executes nothing of tags, titles, names and reasons, and writes out what nobody sees', async () => {
  const markup = '<img src=x onerror="window.fooled=1"><script>window.fooled=1</script>';
  const drawn = '✓ Approved by ada \u202egnp.exe\u202c</header><button>Approve</button>';
  const asked = { calls: [refund(1, { reason: markup })], say: `${drawn}\n${'y'.repeat(200_000)}` };
  await desk.service.send('odd:1@x_y', {
    agent: 'support',
    message: JSON.stringify(asked),
    by: drawn,
    tags: [markup, drawn],
  });
  for await (const event of desk.service.events('odd:1@x_y')) if (event.type === 'interrupt-start') break;
  await desk.service.rename('odd:1@x_y', drawn.slice(0, 100), markup);
  const { page } = await visit(desk.browser, `${desk.bed.console}#/runs/${encodeURIComponent('odd:1@x_y')}`);
  await page.locator('.run-title').getByText('⟦U+202E⟧gnp.exe').waitFor();
  await page.locator('.run-header').getByText(markup.slice(0, 20)).first().waitFor();
  for (const tab of ['Timeline', 'Events', 'Conversation']) await page.getByRole('tab', { name: tab }).click();
  await page
    .getByRole('button', { name: /Approve/ })
    .first()
    .waitFor();
  expect(await page.getByRole('button', { name: /Approve/ }).count()).toBe(1);
  await page.setViewportSize({ width: 390, height: 800 });
  expect(await page.evaluate(fitsWidth)).toBe(true);
  for (const place of ['runs?tag=', 'inbox?who=all', 'try/support?chat=odd%3A1%40x_y']) {
    await page.goto(`${desk.bed.console}#/${place}`);
    await page.locator('main > *:not(.unseen)').first().waitFor();
    expect(await page.evaluate(fitsWidth)).toBe(true);
  }
  expect(await page.locator('main img, main script').count()).toBe(0);
  expect(await page.evaluate('window.fooled')).toBeUndefined();
  await desk.service.end('odd:1@x_y', { mode: 'now' });
});

it('says something to every address that somebody can type', async () => {
  const { page } = await visit(desk.browser, desk.bed.console);
  for (const hash of ['#/runs/%E0%A4%A', '#/runs/a%2Fb', '#/runs/..', '#/nowhere/x', '#/runs/none?step=%00&of=..', '#/try/%F0%9F%92%A9'])
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 800 });
      await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
      await page.locator('main > *:not(.unseen)').first().waitFor();
      expect((await page.locator('main').innerText()).trim()).not.toBe('');
    }
  await page.evaluate("location.hash = '#/inbox?item=gone%2Fgone'");
  await page.getByText('It is not among what is listed here').waitFor();
  await page.getByRole('button', { name: 'Show what waits for others' }).click();
  await page.getByText('It does not wait any more').waitFor();
  await page.getByRole('button', { name: 'Back to the list' }).click();
  await page.getByLabel('Search').waitFor();
});

it('asks a slow service once, however often somebody clicks', async () => {
  await startAsking(desk.service, 'support', 'slow-1', [refund(1)]);
  const { page } = await visit(desk.browser, `${desk.bed.console}#/runs/slow-1`);
  let asked = 0;
  let answer = (): void => undefined;
  const answered = new Promise<void>((resolve) => (answer = resolve));
  await page.route('**/runs/slow-1/cancel', async (route) => {
    asked++;
    await answered;
    await route.continue();
  });
  await page.getByRole('button', { name: 'Cancel…' }).click();
  const submit = page.getByRole('dialog').getByRole('button', { name: 'Cancel the run' });
  await submit.click();
  await submit.and(page.locator(':disabled')).waitFor();
  await submit.dispatchEvent('click');
  await page.getByRole('dialog').locator('form').dispatchEvent('submit');
  answer();
  await page.locator('.run-title').getByText('cancelled').waitFor();
  expect(asked).toBe(1);
});

it('says what it waits for while a service does not answer, and sends a decision once', async () => {
  await startAsking(desk.service, 'support', 'held-1', [refund(1)]);
  const { page } = await visit(desk.browser, `${desk.bed.console}#/inbox?q=held-1`);
  await rowOf(page, 'held-1').waitFor();
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  const sent: string[] = [];
  await page.route(/127\.0\.0\.1:\d+\/(?!console\/|$)/, async (route) => {
    const request = route.request();
    if (request.method() === 'POST') sent.push(new URL(request.url()).pathname);
    await opened;
    await route.continue();
  });
  await page.getByRole('button', { name: 'Approve' }).click();
  await letGo(page);
  await rowOf(page, 'held-1').getByText('You approve …').waitFor();
  await page.keyboard.press('a');
  await letGo(page);
  for (const [name, says] of [
    ['Runs', 'Loading'],
    ['Try it', 'Loading'],
    ['Service', 'Loading'],
  ] as const) {
    await page.getByRole('navigation').getByRole('link', { name }).click();
    await page.locator('main').getByText(says).first().waitFor();
  }
  await page.evaluate("location.hash = '#/runs/held-1'");
  await page.getByText('Reading the log…').waitFor();
  await page.evaluate("location.hash = '#/inbox?q=held-1'");
  await rowOf(page, 'held-1').getByText('You approve …').waitFor();
  open();
  await rowOf(page, 'held-1').waitFor({ state: 'detached' });
  expect(sent).toHaveLength(1);
  expect(await endingsOf(desk.service, 'held-1')).toEqual([{ answer: { type: 'approve' }, by: 'ada' }]);
});

it.each([
  [409, 'interrupt-answered'],
  [410, 'interrupt-expired'],
] as const)('says what a refusal with %i means, and lets somebody decide again', async (status, code) => {
  const id = `refused-${status}`;
  await startAsking(desk.service, 'support', id, [refund(1)]);
  const { page } = await visit(desk.browser, `${desk.bed.console}#/runs/${id}`);
  await page.route('**/interrupts/*', (route) =>
    route.request().method() === 'POST'
      ? route.fulfill({ status, contentType: 'application/problem+json', json: { error: { code, message: 'It is too late.', fix: '' } } })
      : route.fallback(),
  );
  await decision(page).getByRole('button', { name: 'Approve' }).click();
  await letGo(page);
  await decision(page).getByText('Your decision did not count').waitFor();
  await decision(page).getByText(code).waitFor();
  await waits(page).getByText('Your decision did not count').waitFor();
  await page.unrouteAll({ behavior: 'wait' });
  await decision(page).getByRole('button', { name: 'Decide again' }).click();
  await decision(page).getByRole('button', { name: 'Approve' }).click();
  await letGo(page);
  expect(await endingsOf(desk.service, id)).toEqual([{ answer: { type: 'approve' }, by: 'ada' }]);
});

it('goes back on a phone by its back button: from a decision to the list, and from a decision to the run', async () => {
  await startAsking(desk.service, 'support', 'back-1', [refund(1)]);
  const { page } = await visit(desk.browser, `${desk.bed.console}#/inbox?q=back-1`, { width: 390 });
  await rowOf(page, 'back-1').click();
  await page.locator('#decision').waitFor();
  await page.goBack();
  await rowOf(page, 'back-1').click();
  await page.getByRole('button', { name: 'Back to the list' }).click();
  await rowOf(page, 'back-1').waitFor();
  await page.goto(`${desk.bed.console}#/runs/back-1`);
  await waits(page).getByRole('button', { name: 'Decide about refund' }).click();
  await decision(page).waitFor();
  await page.goBack();
  await decision(page).waitFor({ state: 'detached' });
  await waits(page).waitFor();
  await page.goBack();
  await rowOf(page, 'back-1').waitFor();
  await page.goForward();
  await waits(page).waitFor();
});

it('takes a decision back while the browser is offline, and sends another one when it is not', async () => {
  await startAsking(desk.service, 'support', 'offline-1', [refund(1)]);
  const { page } = await visit(desk.browser, `${desk.bed.console}#/runs/offline-1`);
  await decision(page).getByRole('button', { name: 'Approve' }).waitFor();
  await page.context().setOffline(true);
  await page.keyboard.press('a');
  await waits(page).getByText('You approve …').waitFor();
  await page.keyboard.press('u');
  await decision(page).getByRole('button', { name: 'Reject' }).click();
  await page.keyboard.press('ControlOrMeta+Enter');
  await letGo(page);
  await waits(page).getByText('You reject …').waitFor();
  await page.context().setOffline(false);
  await page.clock.fastForward(9_000);
  expect(await endingsOf(desk.service, 'offline-1')).toEqual([{ answer: { type: 'reject' }, by: 'ada' }]);
});

it('sends what was decided when the page is loaded again, and shows it in every tab', async () => {
  await startAsking(desk.service, 'support', 'reload-1', [refund(1)]);
  const { page } = await visit(desk.browser, `${desk.bed.console}#/runs/reload-1`);
  const other = await page.context().newPage();
  await other.goto(`${desk.bed.console}#/runs/reload-1`);
  await decision(other).getByRole('button', { name: 'Approve' }).waitFor();
  await decision(page).getByRole('button', { name: 'Approve' }).click();
  await page.reload();
  await page.locator('.run-title').getByText('completed').waitFor();
  await decision(other).getByText('You approved it').waitFor();
  expect(await endingsOf(desk.service, 'reload-1')).toHaveLength(1);
});

it('decides nothing by keys that somebody types into a field', async () => {
  await desk.service.send('typing-1', { agent: 'support', message: JSON.stringify({ calls: [refund(1), refund(2)] }) });
  for await (const event of desk.service.events('typing-1')) if (event.type === 'interrupt-start') break;
  const { page } = await visit(desk.browser, `${desk.bed.console}#/runs/typing-1`);
  await decision(page).getByRole('button', { name: 'Approve' }).waitFor();
  for (const field of [page.getByRole('textbox', { name: 'Your message' }), page.getByLabel('Takes effect')]) {
    await field.focus();
    await page.keyboard.type('are jaunty');
  }
  await page.getByRole('tab', { name: 'Events' }).click();
  await page.getByLabel('Filter events').fill('');
  await page.keyboard.type('are jaunty');
  await letGo(page);
  expect(await page.getByText('You approve').count()).toBe(0);
  expect((await desk.service.interruptsOf('typing-1')).length).toBe(2);
});
