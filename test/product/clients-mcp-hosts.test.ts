import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { freePort } from '../../host/server/free-port';
import { eventually } from '../support/eventually';
import { jsonHeaders, modernRequest, withTasks } from '../support/mcp-bed';
import { startRedis, type TestRedis } from '../support/redis';
import { testServer } from '../support/test-bed';
import type { Command } from './command';
import { ownCommands } from './command';

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Body = any;

const agents = `import { agentsFor } from 'holdfast/workflow';
import { approval } from 'holdfast/middleware';
const { defineAgent } = agentsFor();
const desk = { instructions: '', model: 'test/model', tools: ['pay'] };
export const clerk = defineAgent({ name: 'clerk', description: 'Pays.', ...desk, middleware: [approval({ tools: { pay: true } })] });
export const hasty = defineAgent({ name: 'hasty', description: 'Gives up.', ...desk, maxIterations: 1 });`;
const config = `import { defineTool } from 'holdfast/worker';
import { z } from 'zod';
const usage = { inputTokens: 1, outputTokens: 1 };
const generate = async ({ messages }) =>
  messages.at(-1).role === 'tool'
    ? { parts: [{ type: 'text', text: 'Paid.' }], usage }
    : { parts: [{ type: 'tool-call', id: 'c', name: 'pay', input: { amount: 80 } }], usage };
const pay = defineTool({ description: 'Pays.', inputSchema: z.object({ amount: z.number() }), effect: 'once', execute: () => 'ok' });
export default { agents: './agents.ts', tools: { pay }, models: { providers: { test: { model: () => ({ generate }) } } } };`;

const { directory, start } = ownCommands('mcp-hosts');
const root = resolve(__dirname, '..', '..');
const taskQueue = `mcp-hosts-${process.pid}`;
const urls: string[] = [];
let redis: TestRedis;
let worker: Command;
let asked = 0;

/** Each host has a directory of its own. */
async function open(name: string, ...args: readonly string[]): Promise<Command> {
  const command = start(args, {
    HOLDFAST_DIR: join(directory, name),
    TEMPORAL_ADDRESS: testServer().address,
    HOLDFAST_TASK_QUEUE: taskQueue,
    HOLDFAST_REDIS_URL: redis.url,
  });
  await command.seen('Holdfast is ready.');
  return command;
}

/** One address, where each request comes to the other service. */
const inTurn = (url: string | URL, init?: RequestInit): Promise<Response> =>
  fetch(new URL(new URL(url).pathname, urls[asked++ % urls.length]), init);

async function rpc(method: string, params: object, capabilities?: object): Promise<Body> {
  const { body, headers } = modernRequest(method, params, capabilities);
  const response = await inTurn('http://desk/mcp', { method: 'POST', headers: { ...jsonHeaders, ...headers }, body: JSON.stringify(body) });
  const { result }: Body = await response.json();
  return result;
}
const use = async (name: string, given: object): Promise<Body> => (await rpc('tools/call', { name, arguments: given })).structuredContent;
const job = { name: 'clerk', arguments: { input: 'Pay!' } };
const accept = { action: 'accept', content: { approved: true } };

async function paidIn(runId: string): Promise<number> {
  const { events } = await use('events', { runId, limit: 500 });
  return (events as { readonly type: string }[]).filter(({ type }) => type === 'tool-end').length;
}

beforeAll(async () => {
  mkdirSync(join(directory, 'node_modules'));
  symlinkSync(root, join(directory, 'node_modules', 'holdfast'));
  symlinkSync(join(root, 'node_modules', 'zod'), join(directory, 'node_modules', 'zod'));
  writeFileSync(join(directory, 'agents.ts'), agents);
  writeFileSync(join(directory, 'holdfast.config.ts'), config);
  redis = await startRedis();
  worker = await open('worker', 'worker');
  for (const name of ['service-1', 'service-2']) {
    const port = String(await freePort());
    await open(name, 'serve', '--port', port);
    urls.push(`http://127.0.0.1:${port}`);
  }
}, 240_000);
afterAll(() => redis.kill());

describe('two services behind one address', () => {
  it('ask a person of the new line in a form, and take the answer at the other service', async () => {
    const client = new Client(
      { name: 'editor', version: '1' },
      { capabilities: { elicitation: {} }, versionNegotiation: { mode: { pin: '2026-07-28' } } },
    );
    client.setRequestHandler('elicitation/create', async () => accept as never);
    await client.connect(new StreamableHTTPClientTransport(new URL('http://desk/mcp'), { fetch: inTurn }));
    const before = asked;
    const done = await client.callTool(job);
    expect([done.structuredContent, asked - before]).toEqual([expect.objectContaining({ status: 'completed', text: 'Paid.' }), 2]);
    await client.close();
  });

  it('show one task, take its answer, and end it', async () => {
    const { taskId } = await rpc('tools/call', job, withTasks);
    const task = () => rpc('tasks/get', { taskId }, withTasks);
    const waiting = await eventually(async () => ((await task()).status === 'input_required' ? task() : undefined));
    const [key = ''] = Object.keys(waiting.inputRequests as object);
    await rpc('tasks/update', { taskId, inputResponses: { [key]: accept } }, withTasks);
    await eventually(async () => ((await task()).status === 'completed' ? true : undefined));
    expect(await paidIn(taskId as string)).toBe(1);
  });
});

it('a client of the old line learns why a run waits, why one failed and what to change, and reads the log of both', async () => {
  const client = new OldClient({ name: 'editor', version: '1' });
  await client.connect(new OldTransport(new URL('http://desk/mcp'), { fetch: inTurn }));
  const call = async (name: string, given: Record<string, unknown>): Promise<Body> =>
    (await client.callTool({ name, arguments: given })) as Body;
  const { structuredContent: waits } = await call('clerk', { input: 'Pay!' });
  const why = (await call('get_run', { runId: waits.runId })).structuredContent;
  expect(why).toMatchObject({ status: 'waiting', interrupts: [{ kind: 'approval', tool: 'pay', input: { amount: 80 } }] });
  expect(why.statusMessage).toContain('answer_interrupt');
  const failed = await call('hasty', { input: 'Pay!' });
  expect([failed.isError, failed.structuredContent.status]).toEqual([true, 'failed']);
  const { runId, error } = failed.structuredContent;
  expect(error).toEqual({ code: 'max-iterations', message: expect.any(String), fix: expect.any(String) });
  expect((await call('get_run', { runId })).structuredContent.error).toEqual(error);
  const log = (await call('events', { runId, limit: 500 })).structuredContent;
  expect(log.events.map(({ type }: Body) => type)).toEqual(expect.arrayContaining(['run-start', 'tool-start', 'tool-end', 'run-end']));
  expect(log.events.at(-1)).toMatchObject({ error: { code: error.code } });
  await client.close();
});

const long = 'x'.repeat(300_000);
it.each<[string, string, object, string]>([
  ['a run that is a number', 'get_run', { runId: 7 }, 'request-invalid'],
  ['no run', 'events', {}, 'request-invalid'],
  ['an id that is none', 'get_run', { runId: 'a b' }, 'run-id-invalid'],
  ['a long id', 'get_run', { runId: long }, 'run-id-invalid'],
  ['an id of nobody', 'events', { runId: 'nobody' }, 'run-unknown'],
  ['a field that there is not', 'get_run', { runId: 'nobody', run: 'x' }, 'request-invalid'],
  ['a cursor that is none', 'list_runs', { after: 'abc' }, 'request-invalid'],
  ['a cursor that is a number', 'list_runs', { after: 7 }, 'request-invalid'],
  ['a time that is none', 'list_runs', { since: 'yesterday' }, 'request-invalid'],
  ['a status that is none', 'list_runs', { status: 'sleeping' }, 'request-invalid'],
  ['a long name', 'list_runs', { agent: long }, 'agent-unknown'],
  ['a name that no agent can have', 'list_runs', { agent: 'a b' }, 'agent-unknown'],
  ['more than a page', 'list_runs', { limit: 101 }, 'request-invalid'],
  ['half an offset', 'events', { runId: 'known', from: 0.5 }, 'request-invalid'],
  ['an offset behind the log', 'events', { runId: 'known', from: 9999 }, 'request-invalid'],
  ['an answer to nothing', 'answer_interrupt', { runId: 'known', interruptId: 'x', answer: 1 }, 'interrupt-unknown'],
  ['an answer to nothing with a long id', 'answer_interrupt', { runId: 'known', interruptId: long, answer: 1 }, 'interrupt-unknown'],
  ['an answer to nobody', 'answer_interrupt', { runId: 'nobody', interruptId: 'x', answer: 1 }, 'run-unknown'],
  ['no answer', 'answer_interrupt', { runId: 'known', interruptId: 'x' }, 'request-invalid'],
  ['roles that are no list', 'answer_interrupt', { runId: 'known', interruptId: 'x', answer: 1, roles: 'admin' }, 'request-invalid'],
  ['a long answer', 'answer_interrupt', { runId: 'known', interruptId: 'x', answer: long }, 'answer-invalid'],
  ['a long input', 'clerk', { input: long }, 'input-too-large'],
  ['a long id of a new run', 'clerk', { input: 'Pay!', runId: long }, 'run-id-invalid'],
  ['an id with another input', 'clerk', { input: 'Another', runId: 'known' }, 'run-id-in-use'],
])('%s is refused with a code', async (_, name, given, code) => {
  await rpc('tools/call', { name: 'clerk', arguments: { input: 'Pay!', runId: 'known' } }, {});
  const { isError, structuredContent } = await rpc('tools/call', { name, arguments: given });
  expect([isError, structuredContent.error]).toEqual([true, { code, message: expect.any(String), fix: expect.any(String) }]);
  expect(structuredContent.error.message.length).toBeLessThan(1000);
});

it('a request of more than 1 MB is refused before it is read', async () => {
  const { body, headers } = modernRequest('tools/call', { name: 'get_run', arguments: { runId: 'x'.repeat(1_100_000) } });
  const refused = await inTurn('http://desk/mcp', { method: 'POST', headers: { ...jsonHeaders, ...headers }, body: JSON.stringify(body) });
  const { error }: Body = await refused.json();
  expect([refused.status, error.code]).toEqual([413, 'input-too-large']);
});

it('an answer while no worker is there is stored once, no client is asked again, and its call ends when a worker comes', async () => {
  const form = await rpc('tools/call', job);
  const [key = ''] = Object.keys(form.inputRequests as object);
  const { runId, interrupts } = (await rpc('tools/call', job, {})).structuredContent;
  const { taskId } = await rpc('tools/call', job, withTasks);
  const task = () => rpc('tasks/get', { taskId }, withTasks);
  const waiting = await eventually(async () => ((await task()).status === 'input_required' ? task() : undefined));
  const [question = ''] = Object.keys(waiting.inputRequests as object);
  worker.process.kill('SIGKILL');
  await worker.ended;

  const retry = { ...job, requestState: form.requestState, inputResponses: { [key]: accept } };
  const answer = { runId, interruptId: interrupts[0].id, answer: { approved: true } };
  const calls = [rpc('tools/call', retry), rpc('tools/call', { name: 'answer_interrupt', arguments: answer })];
  await rpc('tasks/update', { taskId, inputResponses: { [question]: accept } }, withTasks);
  expect(await task()).toMatchObject({ status: 'working', statusMessage: expect.stringContaining('goes on') });
  const stored = await eventually(async () =>
    (await use('get_run', { runId })).interrupts === undefined ? use('get_run', { runId }) : undefined,
  );
  expect(stored).toMatchObject({ status: 'running', statusMessage: expect.stringContaining('goes on') });
  expect(await use('answer_interrupt', answer)).toMatchObject({ error: { code: 'interrupt-answered' } });

  worker = await open('worker', 'worker');
  for (const { resultType, structuredContent } of await Promise.all([...calls, rpc('tools/call', retry)]))
    expect([resultType, structuredContent.status, await paidIn(structuredContent.runId as string)]).toEqual(['complete', 'completed', 1]);
  await eventually(async () => ((await task()).status === 'completed' ? true : undefined));
  expect(await paidIn(taskId as string)).toBe(1);
});
