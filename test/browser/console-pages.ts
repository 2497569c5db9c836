import { readFileSync } from 'node:fs';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { ServiceClient } from '../../client/http/index';

export interface Visitor {
  readonly name?: string;
  readonly roles?: readonly string[];
  readonly colorScheme?: 'light' | 'dark';
  readonly width?: number;
  /** Acts before the page loads. */
  readonly prepare?: (context: BrowserContext) => Promise<unknown>;
}

export interface VisitedPage {
  readonly page: Page;
  readonly errors: readonly string[];
}

const visited: VisitedPage[] = [];

export async function closeVisited(): Promise<void> {
  const pages = visited.splice(0);
  await Promise.all(pages.map(({ page }) => page.context().close()));
  expect(pages.flatMap(({ errors }) => errors)).toEqual([]);
}

/** A page in a browser of its own, with a clock that the test moves. */
export async function visit(browser: Browser, url: string, visitor: Visitor = {}): Promise<VisitedPage> {
  const { name = 'ada', roles = [], colorScheme = 'light', width = 1280, prepare } = visitor;
  const context = await browser.newContext({ colorScheme, viewport: { width, height: 800 } });
  const stored = JSON.stringify(JSON.stringify({ name, roles }));
  if (name !== '')
    await context.addInitScript(
      `location.origin === 'null' || localStorage.getItem('holdfast.identity') !== null || localStorage.setItem('holdfast.identity', ${stored})`,
    );
  await prepare?.(context);
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('console', (message) => {
    // The browser logs every failed request, and the page's own errors are tested.
    if (message.type() === 'error' && !/^Failed to load resource/.test(message.text())) errors.push(message.text());
  });
  page.on('dialog', (dialog) => {
    errors.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  visited.push({ page, errors });
  await page.clock.install();
  await page.goto(url);
  return { page, errors };
}

export const decision = (page: Page) => page.getByRole('complementary', { name: 'Waits for people' });
export const waits = (page: Page) => page.getByRole('region', { name: 'Waits for people' });

export const refund = (amount: number, more: object = {}) => ({ name: 'refund', input: { orderId: '42', amount, ...more } });

export const rowOf = (page: Page, run: string) => page.locator(`.row[data-key^="${run}/"]`);

/** Ends the five seconds in which a decision can be taken back. */
export async function letGo(page: Page): Promise<void> {
  await page.clock.fastForward(5_100);
}

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
  }[];
}

const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

/** Returns axe-core's findings at WCAG 2.2 AA. */
export async function violationsOf(page: Page): Promise<readonly string[]> {
  if (!(await page.evaluate('typeof axe === "object"'))) await page.evaluate(axe);
  const found = await page.evaluate<AxeResult>(
    `axe.run(document, { resultTypes: ['violations'], runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })`,
  );
  return found.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
  );
}

export interface DeskCall {
  readonly name: string;
  readonly input: object;
}

export async function startAsking(
  service: ServiceClient,
  agent: string,
  id: string,
  calls: readonly DeskCall[],
  say?: string,
): Promise<void> {
  await service.start({ agent, id, input: JSON.stringify({ calls, ...(say === undefined ? {} : { say }) }), by: 'carl' });
  for await (const event of service.events(id)) if (event.type === 'interrupt-start') return;
  throw new Error(`${id} has ended without asking.`);
}

export async function endingsOf(
  service: ServiceClient,
  id: string,
): Promise<readonly { readonly answer: unknown; readonly by: string | undefined }[]> {
  const endings = [];
  for await (const event of service.events(id)) if (event.type === 'interrupt-end') endings.push({ answer: event.answer, by: event.by });
  return endings;
}
