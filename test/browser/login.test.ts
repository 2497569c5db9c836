import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { HoldfastError } from '../../contract/errors';
import { createLogger } from '../../host/logger';
import { freePort } from '../../host/server/free-port';
import type { RunningService } from '../../service/http/start-service';
import { startService } from '../../service/http/start-service';
import { memoryStore } from '../support/memory-store';
import type { TestIssuer } from '../support/issuer';
import { client, startIssuer } from '../support/issuer';
import { clientWith } from '../support/service-app';
import { openBrowser } from './browser';

let issuer: TestIssuer;
let service: RunningService;
let browser: Browser;
const foreign = createServer((_, response) => response.setHeader('content-type', 'text/html').end('<!doctype html><title>A site</title>'));

beforeAll(async () => {
  const port = await freePort();
  await new Promise<void>((resolve) => foreign.listen(0, '127.0.0.1', resolve));
  [issuer, browser] = await Promise.all([startIssuer([`http://127.0.0.1:${port}/login/callback`]), openBrowser()]);
  const members = {
    as: (caller: object) => clientWith({ caller, place: { tenant: 'acme' } }),
    check: () => Promise.reject(new HoldfastError('server-unreachable', 'No server.')),
  };
  service = await startService({
    client: clientWith(members),
    agents: [],
    logger: createLogger({ level: 'silent' }),
    host: '127.0.0.1',
    port,
    store: memoryStore(),
    access: { issuers: [{ issuer: issuer.url, login: client, claims: { tenant: 'tenant' } }] },
  });
}, 120_000);
afterAll(async () => {
  await browser.close();
  await service.close();
  await issuer.stop();
  foreign.close();
});

const me = (page: Page): Promise<{ readonly status: number; readonly user?: string }> =>
  page.evaluate(`fetch('/me').then(async (answer) => ({ status: answer.status, user: (await answer.json()).user }))`);

async function logIn(page: Page): Promise<void> {
  await page.goto(`${service.url}/login?to=/health`);
  await page.getByRole('link', { name: 'Log in at' }).click();
  await page.waitForURL(`${issuer.url}/sign-in/*`);
  await page.goto(`${page.url()}/alice`);
  await page.waitForURL(`${service.url}/health`);
}

it('a person logs in at the issuer and logs out; the page has its style, and the old cookie is worthless', async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('console', (message) => problems.push(message.text()));
  await page.goto(`${service.url}/login`);
  expect(await page.evaluate(`getComputedStyle(document.querySelector('h1')).fontSize`)).toBe('22.4px');
  expect(problems).toEqual([]);
  await logIn(page);
  expect(await me(page)).toEqual({ status: 200, user: 'alice' });
  const cookies = await context.cookies();
  expect(cookies.filter(({ name }) => name.startsWith('__Host-'))).toMatchObject([
    { name: '__Host-holdfast', httpOnly: true, secure: true },
  ]);
  await page.evaluate(`document.body.innerHTML = '<form method="post" action="/logout"><button>Log out</button></form>'`);
  await page.getByRole('button').click();
  await page.getByRole('heading', { name: 'You are logged out' }).waitFor();
  expect(await page.getByRole('link', { name: 'Log out at' }).getAttribute('href')).toContain(`${issuer.url}/session/end`);
  await context.addCookies(cookies);
  await page.goto(`${service.url}/health`);
  expect(await me(page)).toMatchObject({ status: 401 });
  await context.close();
}, 60_000);

it('a wrong key is refused on the page, whose form names its origin', async () => {
  const page = await browser.newPage();
  await page.goto(`${service.url}/login`);
  await page.getByLabel('API key').fill('hf_wrong');
  await page.getByRole('button', { name: 'Log in with the key' }).click();
  expect(await page.getByRole('alert').textContent()).toContain('The key is mistyped or incomplete');
  await page.close();
}, 60_000);

it('another site neither frames the pages, nor logs out, nor reads with the session', async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await logIn(page);
  const attacker = await context.newPage();
  await attacker.goto(`http://localhost:${(foreign.address() as AddressInfo).port}`);
  await attacker.setContent(
    `<iframe src="${service.url}/login"></iframe><form method="post" action="${service.url}/logout"><button>Win</button></form>`,
  );
  await attacker.locator('iframe').waitFor();
  const framed = attacker.frames().find((frame) => frame.parentFrame() !== null);
  await framed?.waitForURL('chrome-error://**');
  const read = `fetch('${service.url}/me', { credentials: 'include' }).then((answer) => answer.status, () => 'hidden')`;
  expect(await attacker.evaluate(read)).toBe('hidden');
  await attacker.getByRole('button').click();
  await attacker.waitForURL(`${service.url}/logout`);
  expect(await attacker.textContent('body')).toContain('origin-forbidden');
  expect(await me(page)).toEqual({ status: 200, user: 'alice' });
  await context.close();
}, 60_000);
