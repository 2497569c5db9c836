import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { Webhook } from 'standardwebhooks';
import { ServiceClient } from '../../client/http/index';
import { DevWithClients, whenReachable } from '../support/dev-with-clients';
import { eventually } from '../support/eventually';
import { openBrowser } from './browser';

const runs = 60;
const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const dev = new DevWithClients('notices');
const isAsking = (run: string): boolean => run.endsWith('7');

interface Told {
  readonly type: string;
  readonly data: { readonly run: string; readonly links?: readonly { readonly for: string; readonly url: string }[] };
}

/** Ids and bodies of what the receiver has taken, in order. */
const taken: { readonly id: string; readonly told: Told }[] = [];
const refused = new Set<string>();
const receiver = createServer((request, response) => {
  let body = '';
  request.on('data', (part: Buffer) => (body += part.toString()));
  request.on('end', () => {
    const headers = request.headers as Record<string, string>;
    const told = new Webhook(secret).verify(body, headers) as Told;
    const id = headers['webhook-id'] ?? '';
    // The first attempt of each notice fails.
    const isFirst = !refused.has(id);
    refused.add(id);
    if (!isFirst) taken.push({ id, told });
    response.writeHead(isFirst ? 500 : 204).end();
  });
});
let browser: Browser;

beforeAll(async () => {
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const to = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  const on = `['waiting', 'completed', 'failed']`;
  const fields = `notify: [{ to: '${to}', secret: '${secret}', on: ${on}, private: true, people: () => [{ user: 'ada' }] }],`;
  [browser] = await Promise.all([openBrowser(), dev.open({ scripts: [], fields })]);
}, 300_000);
afterAll(async () => {
  await browser.close();
  await dev.close();
  receiver.closeAllConnections();
  receiver.close();
}, 60_000);

it('each notice arrives with one id while service, worker and server are killed twice, and a person approves on a phone with its link', async () => {
  const client = new ServiceClient(dev.url, { fetch: dev.fetch });
  const ids = Array.from({ length: runs }, (_, at) => `order-${at}`);
  const start = async (some: readonly string[]): Promise<void> => {
    for (const id of some)
      await whenReachable(() =>
        client.start({ agent: 'support', id, input: isAsking(id) ? 'Refund order 42, it arrived broken' : 'Hello' }),
      );
  };
  const first = start(ids.slice(0, runs / 2));
  await eventually(async () => (taken.length > 3 ? true : undefined));
  await dev.crash();
  await first;
  const second = start(ids.slice(runs / 2));
  await dev.crash();
  await second;
  const idsOf = (run: string): ReadonlySet<string> => new Set(taken.filter(({ told }) => told.data.run === run).map(({ id }) => id));
  await eventually(async () => (ids.every((id) => idsOf(id).size > 0) ? true : undefined));
  for (const { told } of taken) expect(told.type).toBe(isAsking(told.data.run) ? 'run.waiting' : 'run.completed');
  for (const id of ids) expect([id, idsOf(id).size]).toEqual([id, 1]);

  const { told } = taken.find(({ told: { data } }) => data.run === 'order-17')!;
  const [link] = told.data.links ?? [];
  expect(link).toMatchObject({ for: 'ada' });
  const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
  await page.goto(link?.url ?? '');
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
  await page.getByRole('button', { name: 'Approve' }).click();
  await page.getByRole('heading', { name: 'Approved' }).waitFor();
  await eventually(async () => (idsOf('order-17').size === 2 ? true : undefined));
  expect(taken.at(-1)?.told).toMatchObject({ type: 'run.completed', data: { run: 'order-17' } });
  expect((await client.notices()).notices).toEqual([]);
}, 300_000);
