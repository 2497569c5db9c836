import { useConsole } from './console-desk';
import { visit } from './console-pages';

const desk = useConsole();

it('begins with the agent of the example of the project', async () => {
  const { page } = await visit(desk.browser, `${desk.bed.console}#/try`);
  await page.locator('#say').waitFor();
  expect(await page.getByRole('combobox').first().inputValue()).toBe('support');
});

it('marks what a job lacks, starts one that fits, and says what came of it', async () => {
  const { page } = await visit(desk.browser, `${desk.bed.console}#/try/orders`);
  await page.getByRole('button', { name: 'Start run' }).click();
  await page.getByRole('alert').getByText('orderId is missing').waitFor();
  const field = page.getByLabel('orderId');
  expect(await field.getAttribute('aria-invalid')).toBe('true');
  expect((await desk.service.list()).runs).toEqual([]);
  await field.fill('43');
  await page.getByRole('button', { name: 'Start run' }).click();
  const line = page.getByRole('list', { name: 'Started runs' }).getByRole('listitem');
  await line.getByText('running').or(line.getByText('completed')).first().waitFor();
  const id = (await line.getByRole('link').textContent()) ?? '';
  for await (const event of desk.service.events(id)) if (event.type === 'run-end') break;
  await page.clock.fastForward(2_000);
  await line.getByText('completed').waitFor();
  await line.getByText(/"orderId":"43"/).waitFor();
});

it('shows why there is no run in a box that is no higher than its text', async () => {
  const { page } = await visit(desk.browser, `${desk.bed.console}#/runs/nope`);
  const note = page.locator('.error-note');
  await note.locator('.muted').waitFor();
  expect((await note.boundingBox())?.height).toBeLessThan(200);
});
