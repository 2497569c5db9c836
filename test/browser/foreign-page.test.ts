import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { workflowIdOf } from '../../contract/names';
import type { TemporalConnection } from '../../host/connection';
import { connectTemporal } from '../../host/connection';
import { ServiceClient } from '../../client/http/index';
import { listeningSockets } from '../support/listening-ports';
import { openBrowser } from './browser';
import type { ConsoleBed } from './console-bed';
import { openConsole } from './console-bed';
import { deskProject } from './console-desk';
import { startAsking } from './console-pages';

/** The attacker's name server resolves the name to this machine. */
const rebound = 'attacker.example';
/** With the flags, Chromium lets foreign pages reach this machine, as older browsers do. */
const older = ['--disable-features=LocalNetworkAccessChecks,BlockInsecurePrivateNetworkRequests'];
const site = createServer((_, response) => response.setHeader('content-type', 'text/html').end('<!doctype html><title>A site</title>'));

let bed: ConsoleBed;
let browser: Browser;
let temporal: TemporalConnection;
let service: ServiceClient;
let ports: readonly number[];

beforeAll(async () => {
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  [bed, browser] = await Promise.all([openConsole(deskProject), openBrowser(`--host-resolver-rules=MAP ${rebound} 127.0.0.1`, ...older)]);
  service = new ServiceClient(bed.url);
  const { address } = JSON.parse(readFileSync(join(bed.directory, 'server.json'), 'utf8')) as { readonly address: string };
  temporal = await connectTemporal({ address, namespace: 'default' });
  ports = listeningSockets(bed.pid).map(({ port }) => port);
  await startAsking(service, 'support', 'paid', [{ name: 'refund', input: { orderId: '42', amount: 1 } }]);
}, 120_000);
afterAll(async () => {
  await temporal.close();
  await browser.close();
  await bed.close();
  site.close();
}, 60_000);

/** Requests that a page may send to another site without preflight. */
const attacks = [
  ...['text/plain', undefined].flatMap((type) => [
    ['/api/v1/namespaces/default/workflows/stranger', { workflowType: { name: 'any' }, taskQueue: { name: 'any' } }, type] as const,
    [
      `/api/v1/namespaces/default/workflows/${encodeURIComponent(workflowIdOf('default', 'paid'))}/signal/resume`,
      { input: [] },
      type,
    ] as const,
    [
      '/api/v1/namespaces/default/batch-operations/all',
      { visibilityQuery: "ExecutionStatus='Running'", reason: 'x', terminationOperation: {} },
      type,
    ] as const,
    ['/runs', { agent: 'support', input: 'x', id: 'stranger' }, type] as const,
    ['/runs/cancel', { agent: 'support' }, type] as const,
    ['/runs/paid/cancel', {}, type] as const,
    ['/runs/paid/terminate', {}, type] as const,
    ['/conversations/stranger/messages', { agent: 'support', message: 'x' }, type] as const,
    ['/a2a/support', { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: {} }, type] as const,
  ]),
];
const reads = ['/runs', '/interrupts', '/service', '/metrics', '/api/v1/namespaces', '/api/v1/namespaces/default/workflows'];

async function tryAll(page: Page, host: string, at: readonly number[]): Promise<readonly string[]> {
  return page.evaluate(
    `(async ({ host, at, attacks, reads }) => {
      const read = [];
      const tried = async (port, path, init) => {
        const answer = await fetch('http://' + host + ':' + port + path, { signal: AbortSignal.timeout(5000), ...init }).catch(() => undefined);
        if (answer !== undefined && answer.type !== 'opaque' && answer.ok) read.push(path + ' of ' + port + ': ' + (await answer.text()).slice(0, 80));
      };
      for (const port of at) await Promise.all([
        ...attacks.map(([path, body, type]) => tried(port, path, {
          method: 'POST', mode: location.port === String(port) ? 'cors' : 'no-cors', ...(type === null ? {} : { headers: { 'content-type': type } }),
          body: type === null ? undefined : JSON.stringify(body),
        })),
        ...reads.map((path) => tried(port, path, {})),
      ]);
      return read;
    })(${JSON.stringify({ host, at, attacks: attacks.map(([path, body, type]) => [path, body, type ?? null]), reads })})`,
  );
}

async function nothingHappened(): Promise<void> {
  const workflow = (id: string) => ({ namespace: 'default', execution: { workflowId: workflowIdOf('default', id) } });
  const { history } = await temporal.connection.workflowService.getWorkflowExecutionHistory(workflow('paid'));
  expect(history?.events?.filter((event) => event.workflowExecutionSignaledEventAttributes)).toEqual([]);
  const stranger = { namespace: 'default', execution: { workflowId: 'stranger' } };
  for (const asked of [workflow('stranger'), stranger])
    await expect(temporal.connection.workflowService.describeWorkflowExecution(asked)).rejects.toMatchObject({ code: 5 });
  const { operationInfo } = await temporal.connection.workflowService.listBatchOperations({ namespace: 'default' });
  expect(operationInfo).toEqual([]);
  expect(await service.interruptsOf('paid')).toHaveLength(1);
}

it('a page of another site approves, starts and ends nothing at any port, and reads nothing', async () => {
  const page = await browser.newPage();
  for (const host of ['127.0.0.1', 'localhost', rebound]) {
    await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
    expect(await tryAll(page, host, ports)).toEqual([]);
  }
  await nothingHappened();
  await page.close();
});

it('nor does one whose own name is made to resolve to this machine, but for the counters of Temporal', async () => {
  const read: string[] = [];
  for (const port of ports) {
    const page = await browser.newPage();
    // The page itself came earlier, from the attacker's machine.
    await page.route('**/page', (route) => route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>A site</title>' }));
    await page.goto(`http://${rebound}:${port}/page`);
    read.push(...(await tryAll(page, rebound, [port])));
    await page.close();
  }
  // Proves that the browser did not block all ports.
  expect(read.map((text) => text.replace(/ of .*/s, ''))).toEqual(['/metrics']);
  await nothingHappened();
});
