import type { Page } from 'playwright-core';
import { useConsole } from './console-desk';
import { decision, letGo, violationsOf, visit } from './console-pages';
import { listsProject } from './lists-project';

const project = listsProject();
const desk = useConsole(project.config, () => project.remove());

const execution = (page: Page) => page.locator('.step-row.execution');

it('shows what each step and turn used and cost, and what this worker takes of the limits', async () => {
  await desk.service.send('priced', { agent: 'support', message: 'Hello' });
  for await (const event of desk.service.events('priced')) if (event.type === 'turn-end') break;
  const { usage, cost } = await desk.service.view('priced');
  const { page } = await visit(desk.browser, `${desk.bed.console}#/runs/priced?tab=timeline`);
  const shown = `${(usage.inputTokens + usage.outputTokens).toString()} tok`;
  await page.locator('.step-cost').nth(1).waitFor();
  const costs = await page.locator('.step-row', { hasText: shown }).locator('.step-cost').allInnerTexts();
  expect(costs).toHaveLength(2);
  for (const one of costs) expect(Number(one)).toBeCloseTo(cost?.amount ?? NaN, 3);
  await page.locator('.step-row.model button').click();
  await page.getByRole('complementary', { name: 'Step' }).getByText('Cost').waitFor();
  await page.goto(`${desk.bed.console}#/service?tab=models`);
  await page
    .getByRole('row', { name: /demo/ })
    .getByText(/^[1-9]\d* of 6,000$/)
    .waitFor();
  await page.getByText('Other workers of the task queue may take more.').waitFor();
  await page.getByRole('link', { name: 'Tools' }).click();
  await page.getByText('8 at a time, now 0 at work, 0 waiting').waitFor();
});

it('shows under which build a run went on, while the service is killed and comes back with other code', async () => {
  await desk.service.start({ agent: 'support', input: 'Refund order 42, it arrived broken', id: 'lasting' });
  for await (const event of desk.service.events('lasting')) if (event.type === 'interrupt-start') break;
  const { page } = await visit(desk.browser, `${desk.bed.console}#/runs/lasting?tab=timeline`);
  await execution(page).getByText('The run begins under build').waitFor();
  await decision(page).getByRole('button', { name: 'Reject' }).click();
  await decision(page).getByLabel('What the agent should know').fill('Half a word');
  await desk.bed.kill();
  await page.getByText('Service away').waitFor();
  project.change('You are a very careful support agent.');
  await desk.bed.start();
  await page.getByText('Live', { exact: true }).waitFor();
  expect(await decision(page).getByLabel('What the agent should know').inputValue()).toBe('Half a word');
  await page.getByRole('button', { name: 'Upgrade' }).click();
  await page.getByLabel('Notices').getByText('The run moved to build').waitFor();
  await page.clock.fastForward(11_000);
  await execution(page).getByText('Went on under build').waitFor();
  await execution(page).last().getByRole('button').press('Enter');
  await page.getByRole('dialog').getByText('Run id in Temporal').waitFor();
  expect(await violationsOf(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.keyboard.press('Escape');
  await decision(page).getByRole('button', { name: 'Approve' }).click();
  await letGo(page);
  await page.locator('.run-title').getByText('completed').waitFor();
  await page.locator('.step-row.mark').getByText('The run is completed').waitFor();
});

it('shows a retry, and the error of the execution before with its stack and what to do', async () => {
  await desk.service.start({ agent: 'support', input: 'Hello', model: 'openai/gpt-5', id: 'keyless' });
  for await (const event of desk.service.events('keyless')) if (event.type === 'run-end') break;
  await desk.service.retry('keyless', { by: 'ada' });
  for (let ends = 0; ends < 2;)
    for await (const event of desk.service.events('keyless', { from: ends })) if (event.type === 'run-end') ends++;
  const { page } = await visit(desk.browser, `${desk.bed.console}#/runs/keyless?tab=timeline`, { colorScheme: 'dark', width: 390 });
  await execution(page).getByText('Went on after an end').waitFor();
  await page.locator('.step-row.mark').getByText('The run is tried again').waitFor();
  await execution(page).first().getByRole('button').click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('model-key-missing').waitFor();
  expect(await dialog.locator('.failure').innerText()).toMatch(/OPENAI_API_KEY/);
  await dialog.getByText('Stack').click();
  await dialog.getByText(/ {4}at /).waitFor();
  expect(await violationsOf(page)).toEqual([]);
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
});
