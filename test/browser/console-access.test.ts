import type { BrowserContext, Page, Route } from 'playwright-core';
import type { ApiKey, MadeKey, Me } from '../../client/http/index';
import { allActions, builtInRoles } from '../../contract/access';
import { deskProject, useConsole } from './console-desk';
import { decision, letGo, refund, startAsking, violationsOf, visit, waits } from './console-pages';

const desk = useConsole(deskProject);

const admin: Me = { tenant: 'acme', user: 'olga', roles: ['admin', 'finance'], proof: 'login:https://id.example', may: allActions };
const reader: Me = { tenant: 'acme', user: 'rita', roles: ['reader'], proof: 'key:4f7Qa2Zk', may: builtInRoles.reader };

const missing = { error: { code: 'identity-missing', message: 'The request has no key, token or login.' } };

/** A service that knows the caller. `me` undefined: the session has ended. */
class Door {
  keys: ApiKey[] = [];
  readonly bodies: Record<string, unknown>[] = [];
  readonly logins: (string | null)[] = [];
  /** The header Origin of log-outs. */
  readonly logOuts: (string | null)[] = [];

  constructor(public me: Me | undefined) {}

  readonly prepare = async (context: BrowserContext): Promise<void> => {
    await context.route('**/*', (route) => this.guard(route));
    await context.route('**/me', (route) => route.fulfill({ json: this.me ?? missing, status: this.me === undefined ? 401 : 200 }));
    await context.route(/\/keys(\/|$)/, (route) => route.fulfill({ json: this.keyAnswer(route.request().method(), route) }));
    await context.route('**/links', async (route) => {
      this.bodies.push(route.request().postDataJSON() as Record<string, unknown>);
      await route.fulfill({ json: { url: 'https://agents.example/decide/TOKEN', expires: '2036-01-01T00:00:00.000Z' } });
    });
    await context.route(/\/login\?|\/logout$/, async (route) => {
      const request = route.request();
      if (request.method() === 'POST') this.logOuts.push(await request.headerValue('origin'));
      else this.logins.push(new URL(request.url()).searchParams.get('to'));
      await route.fulfill({ contentType: 'text/html', body: '<h1>Log in</h1>' });
    });
  };

  private async guard(route: Route): Promise<void> {
    const request = route.request();
    const type = request.resourceType();
    if (request.method() === 'POST') this.bodies.push(request.postDataJSON() as Record<string, unknown>);
    if (this.me === undefined && type === 'fetch') await route.fulfill({ json: missing, status: 401 });
    else await route.continue();
  }

  private keyAnswer(method: string, route: Route): object {
    const [, , id, act] = new URL(route.request().url()).pathname.split('/');
    if (method === 'GET') return { keys: this.keys };
    if (method === 'DELETE') {
      this.keys = this.keys.filter((key) => key.id !== id);
      return { id };
    }
    const body = route.request().postDataJSON() as { readonly name: string; readonly roles: readonly string[] };
    this.bodies.push({ ...body });
    const { name, roles } = act === 'rotate' ? this.keys.find((key) => key.id === id)! : body;
    const key = { id: `key${this.keys.length}`, name, tenant: 'acme', roles, created: new Date().toISOString() };
    this.keys.push(key);
    return { ...key, key: `hf_${key.id}_secret` } satisfies MadeKey;
  }
}

async function opened(door: Door, place: string): Promise<Page> {
  return (await visit(desk.browser, `${desk.bed.console}${place}`, { name: '', prepare: door.prepare })).page;
}

it('shows who has logged in and how that is proven, asks for no name, and sends none with a decision', async () => {
  await startAsking(desk.service, 'support', 'access-decide', [refund(80)]);
  const door = new Door(admin);
  const page = await opened(door, '#/runs/access-decide');
  await page.getByRole('button', { name: 'You are olga. Show the login' }).click();
  const dialog = page.getByRole('dialog', { name: 'olga' });
  for (const fact of ['acme', 'admin, finance', 'login:https://id.example']) await dialog.getByText(fact).waitFor();
  expect(await violationsOf(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Close' }).click();
  await decision(page).getByRole('button', { name: 'Approve' }).click();
  await waits(page).getByText('You approve …').waitFor();
  await letGo(page);
  await decision(page).getByText('You approve: done').waitFor();
  expect(door.bodies).toEqual([{ answer: { type: 'approve' }, inputHash: expect.any(String) as string }]);
  await page.getByRole('button', { name: 'You are olga' }).click();
  await dialog.getByRole('button', { name: 'Log out' }).click();
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
  // The service refuses a log-out by a page of another site.
  expect(door.logOuts).toEqual([new URL(desk.bed.console).origin]);
});

it('lets a reader look, and says which role each other act needs', async () => {
  await startAsking(desk.service, 'support', 'access-read', [refund(80)]);
  const page = await opened(new Door(reader), '#/runs/access-read');
  await decision(page).getByText('Your roles do not allow runs:answer. The role approver does.').waitFor();
  expect(
    await decision(page)
      .getByRole('button', { name: /Approve|Reject|Make a link/ })
      .count(),
  ).toBe(0);
  const cancel = page.getByRole('button', { name: 'Cancel…' });
  expect([await cancel.isDisabled(), await cancel.getAttribute('title')]).toEqual([
    true,
    'Your roles do not allow runs:control. The role operator does.',
  ]);
  await page.getByRole('link', { name: 'Service' }).click();
  await page.getByRole('link', { name: 'Usage' }).waitFor();
  expect(await page.getByRole('link', { name: 'Keys' }).count()).toBe(0);
  await page.getByRole('link', { name: 'Try it' }).click();
  await page.getByRole('textbox', { name: 'Message' }).fill('Hello');
  expect(await page.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true);
  expect(await violationsOf(page)).toEqual([]);
});

it('makes a key that it shows once, rotates it and revokes it', async () => {
  const door = new Door(admin);
  const page = await opened(door, '#/service?tab=keys');
  await page.getByText('This tenant has no keys.').waitFor();
  await page.getByRole('button', { name: 'Make a key' }).click();
  const making = page.getByRole('dialog', { name: 'Make a key' });
  await making.getByLabel('Name').fill('nightly');
  await making.getByLabel('Roles').fill('operator, finance');
  expect(await violationsOf(page)).toEqual([]);
  await making.getByRole('button', { name: 'Make a key' }).click();
  const made = page.getByRole('dialog', { name: 'The key of nightly' });
  await made.getByText('hf_key0_secret').waitFor();
  await made.getByRole('button', { name: 'Copy' }).waitFor();
  expect(await violationsOf(page)).toEqual([]);
  await made.getByRole('button', { name: 'Close' }).click();
  const table = page.getByRole('table', { name: 'Keys' });
  await table.getByText('operator').waitFor();
  expect(await page.getByText('hf_key0_secret').count()).toBe(0);
  await table.getByRole('button', { name: 'Rotate key key0 of nightly' }).click();
  await page.getByLabel('How long the earlier key still works').fill('1h');
  await page.getByRole('button', { name: 'Rotate', exact: true }).click();
  await made.getByText('hf_key1_secret').waitFor();
  await made.getByRole('button', { name: 'Close' }).click();
  await table.getByRole('button', { name: 'Revoke key key0 of nightly' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click();
  await table.getByText('key0').waitFor({ state: 'detached' });
  await table.getByText('key1').waitFor();
  expect(door.bodies).toEqual([{ name: 'nightly', roles: ['operator', 'finance'] }, { keep: '1h' }]);
});

it('makes a link with which a named person decides', async () => {
  await startAsking(desk.service, 'support', 'access-link', [refund(80)]);
  const door = new Door(admin);
  const page = await opened(door, '#/runs/access-link');
  await decision(page).getByRole('button', { name: 'Make a link for somebody' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name of the person').fill('carl');
  await dialog.getByLabel('How long the link works').fill('12h');
  expect(await violationsOf(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Make a link for somebody' }).click();
  await page.getByRole('dialog', { name: 'A link for carl' }).getByText('https://agents.example/decide/TOKEN').waitFor();
  expect(door.bodies).toEqual([{ for: 'carl', expires: '12h' }]);
});

it('leads to the login when the session ends, and back to the same place with the words of an open form', async () => {
  await startAsking(desk.service, 'support', 'access-again', [refund(80)]);
  const door = new Door(admin);
  const page = await opened(door, '#/runs/access-again');
  const words = page.getByLabel('What the agent should know');
  const leave = async (): Promise<void> => {
    door.me = undefined;
    await page.getByRole('heading', { name: 'Log in' }).waitFor();
  };
  const comeBack = async (me: Me): Promise<void> => {
    door.me = me;
    await page.goto(new URL(door.logins.at(-1)!, desk.bed.console).href);
  };
  await decision(page).getByRole('button', { name: 'Reject' }).click();
  await words.fill('Ask Carl first.');
  await leave();
  expect(door.logins).toEqual([expect.stringMatching(/^\/#\/runs\/access-again/)]);
  await comeBack(admin);
  await words.waitFor();
  expect(await words.inputValue()).toBe('Ask Carl first.');
  await leave();
  await comeBack({ ...admin, user: 'otto' });
  await decision(page).getByRole('button', { name: 'Reject' }).waitFor();
});
