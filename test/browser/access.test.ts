import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { ServiceClient } from '../../client/http/index';
import { createLogger } from '../../host/logger';
import { freePort } from '../../host/server/free-port';
import { policy } from '../../middleware/index';
import { Keys } from '../../service/access/keys';
import type { RunningService } from '../../service/http/start-service';
import { startService } from '../../service/http/start-service';
import { fixtureTools } from '../fixtures/tools';
import { memoryStore } from '../support/memory-store';
import { eventually } from '../support/eventually';
import type { TestIssuer } from '../support/issuer';
import { client as login, startIssuer } from '../support/issuer';
import { sharedBed } from '../support/shared-bed';
import { calls, text } from '../support/test-bed';
import { openBrowser } from './browser';
import { closeVisited, decision, letGo, violationsOf, visit } from './console-pages';

const refunds = policy({ name: 'refunds', tools: ['refund'], stages: [{ need: 2, fourEyes: true, by: { roles: ['finance'] } }] });
const bed = sharedBed({ tools: fixtureTools, policies: { refunds } });
const store = memoryStore();
const keys = new Keys(store);
const foreign = createServer((_, response) => response.setHeader('content-type', 'text/html').end('<!doctype html><title>A site</title>'));

let issuer: TestIssuer;
let browser: Browser;
let service: RunningService;

beforeAll(async () => {
  const port = await freePort();
  await new Promise<void>((resolve) => foreign.listen(0, '127.0.0.1', resolve));
  [issuer, browser] = await Promise.all([startIssuer([`http://127.0.0.1:${port}/login/callback`]), openBrowser()]);
  service = await startService({
    client: bed.client,
    agents: [{ name: 'configured', description: 'Under test.', takesJob: false }],
    policies: { refunds },
    store,
    access: { issuers: [{ issuer: issuer.url, login, claims: { tenant: 'tenant' } }] },
    logger: createLogger({ level: 'silent' }),
    host: '127.0.0.1',
    port,
  });
}, 120_000);
afterEach(closeVisited);
afterAll(async () => {
  await browser.close();
  await service.close();
  await issuer.stop();
  foreign.close();
});

async function keyOf(name: string, ...roles: readonly string[]): Promise<string> {
  return (await keys.create({ name, tenant: 'acme', roles })).key;
}

async function clientOf(name: string, ...roles: readonly string[]): Promise<ServiceClient> {
  return new ServiceClient(service.url, { key: await keyOf(name, ...roles) });
}

/** The run asks two people of finance. Returns the id of its interrupt. */
async function startAsking(starter: ServiceClient, id: string): Promise<string> {
  const pays = calls({ name: 'refund', input: { orderId: '42', amount: 80 } });
  const { model } = bed.scripted(({ messages }) => (messages.at(-1)?.role === 'tool' ? text('Done.') : pays));
  await starter.start({ agent: 'configured', input: 'Refund 42', id, model });
  return eventually(async () => (await starter.interruptsOf(id))[0]?.id);
}

async function approvedBy(client: ServiceClient, id: string): Promise<readonly unknown[] | undefined> {
  const [interrupt] = await client.interruptsOf(id);
  const given = interrupt?.kind === 'approval' ? interrupt.policy?.given : undefined;
  return given?.length === 0 ? undefined : given?.map(({ by }) => by);
}

/** Opens the place in a browser of the person's own, and logs in on the way. */
async function openAs(user: string, place: string): Promise<Page> {
  const { page } = await visit(browser, `${service.url}${place}`, { name: '' });
  await page.getByRole('link', { name: 'Log in at' }).click();
  await page.waitForURL(`${issuer.url}/sign-in/*`);
  await page.goto(`${page.url()}/${user}`);
  await page.waitForURL(`${service.url}${place}**`);
  return page;
}

it('lets people decide who did not start the run, each person once, with a login and with however many keys', async () => {
  const starter = await clientOf('alice', 'operator');
  await startAsking(starter, 'eyes');
  const [alice, dora] = await Promise.all([openAs('alice', '/#/runs/eyes'), openAs('dora', '/#/runs/eyes')]);
  await decision(alice).getByText('You cannot decide this').waitFor();
  expect(await decision(alice).getByRole('button', { name: 'Approve' }).count()).toBe(0);
  await decision(dora).getByRole('button', { name: 'Approve' }).click();
  await letGo(dora);
  expect(await eventually(() => approvedBy(starter, 'eyes'))).toEqual(['dora']);
  const [{ id = '' } = {}] = await starter.interruptsOf('eyes');
  const answer = (client: ServiceClient) => client.answer('eyes', id, { decision: 'approve' });
  for (const _ of ['first', 'second'])
    await expect(answer(await clientOf('dora', 'approver', 'finance'))).rejects.toMatchObject({ code: 'answer-forbidden' });
  await expect(answer(await clientOf('alice', 'approver', 'finance'))).rejects.toMatchObject({ code: 'answer-forbidden' });
  expect(await approvedBy(starter, 'eyes')).toEqual(['dora']);
  await answer(await clientOf('erin', 'approver', 'finance'));
  await alice.locator('.run-title').getByText('completed').waitFor();
});

it('refuses a copied cookie after the log-out, to programs and on the page', async () => {
  const page = await openAs('alice', '/#/inbox');
  const copied = await page.context().cookies();
  await page.getByRole('button', { name: 'You are alice' }).click();
  await page.getByRole('dialog', { name: 'alice' }).getByRole('button', { name: 'Log out' }).click();
  await page.getByRole('heading', { name: 'You are logged out' }).waitFor();
  await page.context().addCookies(copied);
  const [{ name = '', value = '' } = {}] = copied.filter((one) => one.name === '__Host-holdfast');
  const headers = { cookie: `${name}=${value}` };
  expect(await (await fetch(`${service.url}/runs`, { headers })).json()).toMatchObject({ error: { code: 'identity-invalid' } });
  await page.goto(`${service.url}/#/runs`);
  await page.getByRole('heading', { name: 'Log in to Holdfast' }).waitFor();
});

it('changes nothing for a page of another port, which sends the cookie with JSON, forms and texts', async () => {
  const starter = await clientOf('carl', 'operator');
  const interrupt = await startAsking(starter, 'foreign');
  const page = await openAs('dora', '/#/runs/foreign');
  const paths = [`/runs/foreign/interrupts/${interrupt}`, '/runs/foreign/cancel', '/runs', '/keys', '/logout'];
  const attacker = await page.context().newPage();
  const at = `http://127.0.0.1:${(foreign.address() as AddressInfo).port}`;
  await attacker.goto(at);
  await attacker.evaluate(
    `Promise.all(${JSON.stringify(paths)}.flatMap((path) => ['application/json', 'text/plain', 'application/x-www-form-urlencoded'].map((type) =>
      fetch(${JSON.stringify(service.url)} + path, { method: 'POST', credentials: 'include', headers: { 'content-type': type },
        mode: type === 'application/json' ? 'cors' : 'no-cors', body: '{"decision":"approve"}' }).catch(() => undefined))))`,
  );
  for (const path of paths)
    for (const type of ['text/plain', 'application/x-www-form-urlencoded']) {
      await attacker.goto(at);
      await attacker.setContent(
        `<form method="post" enctype="${type}" action="${service.url}${path}"><input name='{"decision":"approve","a":"' value='"}'><button>Win</button></form>`,
      );
      await attacker.getByRole('button').click();
      await attacker.waitForURL(`${service.url}${path}`);
      // Without the cookie the service would answer 'identity-missing'.
      expect([path, type, await attacker.textContent('body')]).toEqual([path, type, expect.stringContaining('origin-forbidden')]);
    }
  expect(await starter.interruptsOf('foreign')).toMatchObject([{ id: interrupt, policy: { given: [] } }]);
  expect((await starter.list({ id: 'foreign' })).runs).toMatchObject([{ status: 'waiting' }]);
  await decision(page).getByRole('button', { name: 'Approve' }).click();
  await letGo(page);
  expect(await eventually(() => approvedBy(starter, 'foreign'))).toEqual(['dora']);
});

/** A link with which fay approves. */
async function linkFor(id: string): Promise<string> {
  const maker = await clientOf(`maker-${id}`, 'admin');
  const interrupt = await startAsking(maker, id);
  return (await maker.makeLink(id, interrupt, { for: 'fay', roles: ['finance'] })).url;
}

it('is framed by no page of another port', async () => {
  const attacker = await (await browser.newContext()).newPage();
  await attacker.goto(`http://127.0.0.1:${(foreign.address() as AddressInfo).port}`);
  for (const address of [`${service.url}/`, `${service.url}/login`, await linkFor('framed')]) {
    expect((await fetch(address)).status).toBe(200);
    await attacker.setContent(`<iframe src="${address}"></iframe>`);
    await attacker.locator('iframe').waitFor();
    await attacker
      .frames()
      .find((frame) => frame.parentFrame() !== null)
      ?.waitForURL('chrome-error://**');
  }
  await attacker.context().close();
});

it.each([
  '//attacker.example',
  'https://attacker.example/',
  '/\\attacker.example',
  '/\t/attacker.example',
  'javascript:alert(1)',
  '/..//attacker.example',
])('leads after the login to no other site: %j', async (to) => {
  const { page } = await visit(browser, `${service.url}/login?to=${encodeURIComponent(to)}`, { name: '' });
  await page.getByLabel('API key').fill(await keyOf(`guest-${Math.random()}`, 'reader'));
  await page.getByRole('button', { name: 'Log in with the key' }).click();
  await page.getByRole('button', { name: /^You are guest/ }).waitFor();
  expect(new URL(page.url()).origin).toBe(service.url);
});

it.each(['light', 'dark'] as const)('lets the person of a link decide on a phone once: %s', async (colorScheme) => {
  const link = await linkFor(`phone-${colorScheme}`);
  const { page } = await visit(browser, link, { name: '', width: 390, colorScheme });
  await page.getByRole('heading', { name: 'Approve refund?' }).waitFor();
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  expect(await violationsOf(page)).toEqual([]);
  await page.getByRole('button', { name: 'Approve' }).click();
  await page.getByRole('heading', { name: 'Approved' }).waitFor();
  await page.goto(link);
  await page.getByRole('heading', { name: 'The decision was not taken' }).waitFor();
  expect(await page.getByRole('button').count()).toBe(0);
  expect(await violationsOf(page)).toEqual([]);
  await page.goto(`${service.url}/login`);
  await page.getByRole('heading', { name: 'Log in to Holdfast' }).waitFor();
  expect(await page.evaluate('getComputedStyle(document.body).color')).toBe(colorScheme === 'dark' ? 'rgb(255, 255, 255)' : 'rgb(0, 0, 0)');
  expect(await violationsOf(page)).toEqual([]);
  expect(await bed.client.forTenant('acme').run(`phone-${colorScheme}`).interrupts()).toMatchObject([
    { policy: { given: [{ by: 'fay', type: 'approve' }] } },
  ]);
});
