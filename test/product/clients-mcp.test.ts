import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { modernRequest, jsonHeaders, withTasks } from '../support/mcp-bed';
import { DevWithClients } from '../support/dev-with-clients';
import { eventually } from '../support/eventually';

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Body = any;

const dev = new DevWithClients('mcp');
const refund = { name: 'support', arguments: { input: 'Refund order 42, it arrived broken' } };
const accept = { action: 'accept', content: { approved: true } };

async function rpc(method: string, params: object, { capabilities, key }: { capabilities?: object; key?: string } = {}): Promise<Body> {
  const { body, headers } = modernRequest(method, params, capabilities);
  const init = { method: 'POST', headers: { ...jsonHeaders, ...headers }, body: JSON.stringify(body) };
  const ask = key === undefined ? dev.fetch : fetch;
  const authorized = key === undefined ? init : { ...init, headers: { ...init.headers, authorization: `Bearer ${key}` } };
  return (await ask(`${dev.url}/mcp`, authorized)).json();
}

async function paidIn(runId: string): Promise<number> {
  const { result } = await rpc('tools/call', { name: 'events', arguments: { runId, limit: 500 } });
  const events = result.structuredContent.events as { readonly type: string; readonly tool?: string }[];
  return events.filter(({ type, tool }) => type === 'tool-end' && tool === 'refund').length;
}

const keyOf = async (name: string, roles: readonly string[]): Promise<string> => {
  const body = JSON.stringify({ name, roles });
  const made = await dev.fetch(`${dev.url}/keys`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  return ((await made.json()) as { readonly key: string }).key;
};

describe('the clients of MCP', () => {
  beforeAll(() => dev.open({ scripts: ['mcp.mjs', 'check.mjs'], linked: ['@modelcontextprotocol'] }), 300_000);
  afterAll(() => dev.close(), 60_000);

  it('of both lines call agents, answer, repeat, read runs and follow tasks', async () => {
    const stdout = await dev.script('mcp.mjs');
    expect(stdout).toMatch(/^21 passed, 0 failed$/m);
  });

  it('connect as the guide says, start a run, say why it waits, and see what a person decided elsewhere', async () => {
    const guide = readFileSync(join(__dirname, '..', '..', 'docs', 'guides', 'mcp-server.md'), 'utf8');
    const [, text = ''] = /```json\n([^]*?)```/.exec(guide) ?? [];
    const filled = text.replace('http://127.0.0.1:4747', dev.url).replace('${HOLDFAST_KEY}', await keyOf('editor', ['operator']));
    const { url, headers } = JSON.parse(filled).mcpServers.holdfast;
    const client = new Client({ name: 'editor', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL(url as string), { requestInit: { headers } }));
    const use = async (name: string, more: object = {}): Promise<Body> =>
      (await client.callTool({ name, arguments: { runId: 'ticket-981', ...more } })).structuredContent;
    const [{ id }] = (await use('support', refund.arguments)).interrupts;
    expect((await use('get_run')).interrupts).toMatchObject([{ id, kind: 'approval', tool: 'refund', input: { amount: 80 } }]);
    const decided = await dev.fetch(`${dev.url}/runs/ticket-981/interrupts/${encodeURIComponent(id as string)}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ decision: 'reject', feedback: 'Too late.' }),
    });
    expect(decided.status).toBe(200);
    const ended = await eventually(async () => ((await use('get_run')).status === 'completed' ? use('events', { limit: 500 }) : undefined));
    expect(JSON.stringify(ended.events)).toContain('Too late.');
    expect((await use('list_runs', { runId: undefined })).runs).toContainEqual(expect.objectContaining({ runId: 'ticket-981' }));
    await client.close();
  });

  it('give an answer after the service and the worker were killed, also while they took it, and a repeated answer pays once', async () => {
    const { result: first } = await rpc('tools/call', refund);
    const [key = ''] = Object.keys(first.inputRequests as object);
    await dev.crash();
    const retry = { ...refund, requestState: first.requestState, inputResponses: { [key]: accept } };
    const broken = rpc('tools/call', retry).catch(() => undefined);
    await dev.crash();
    await broken;
    const { result: done } = await rpc('tools/call', retry);
    expect(done).toMatchObject({ structuredContent: { status: 'completed' } });
    await dev.crash();
    expect((await rpc('tools/call', retry)).result).toEqual(done);
    expect(await paidIn(done.structuredContent.runId as string)).toBe(1);
  });

  it.each([1, 2, 3])('find a task again whose service was killed while it worked, waited and went on (%i)', async () => {
    const options = { capabilities: withTasks };
    const { taskId } = (await rpc('tools/call', refund, options)).result;
    await dev.crash();
    const task = async () => (await rpc('tasks/get', { taskId }, options)).result;
    const waiting = await eventually(async () => ((await task()).status === 'input_required' ? task() : undefined));
    const [key = ''] = Object.keys(waiting.inputRequests as object);
    const update = rpc('tasks/update', { taskId, inputResponses: { [key]: accept } }, options).catch(() => undefined);
    await dev.crash();
    await update;
    // The first update may have died with the service.
    await rpc('tasks/update', { taskId, inputResponses: { [key]: accept } }, options);
    const done = await eventually(async () => ((await task()).status === 'completed' ? task() : undefined));
    expect(done.result).toMatchObject({ structuredContent: { status: 'completed' } });
    expect(await paidIn(taskId as string)).toBe(1);
  });

  it('do what their key allows, and no answer in the name of another', async () => {
    const [reader, operator] = await Promise.all([keyOf('ann', ['reader']), keyOf('bob', ['operator'])]);
    const refused = (await rpc('tools/call', refund, { key: reader })).result;
    expect([refused.isError, refused.structuredContent.error.code]).toEqual([true, 'action-forbidden']);
    const { result: waiting } = await rpc('tools/call', refund, { key: operator });
    const { runId, interrupts } = waiting.structuredContent;
    const answer = { name: 'answer_interrupt', arguments: { runId, interruptId: interrupts[0].id, answer: { approved: true } } };
    for (const key of [reader, operator])
      expect((await rpc('tools/call', answer, { key })).result).toMatchObject({
        structuredContent: { error: { code: 'action-forbidden' } },
      });
    expect((await rpc('tasks/cancel', { taskId: runId }, { key: reader, capabilities: withTasks })).error).toMatchObject({
      data: { code: 'action-forbidden' },
    });
    const { result: mine } = await rpc('tools/call', refund);
    const [key = ''] = Object.keys(mine.inputRequests as object);
    const stolen = { ...refund, requestState: mine.requestState, inputResponses: { [key]: accept } };
    expect((await rpc('tools/call', stolen, { key: operator })).error).toMatchObject({ code: -32602 });
    const other = { ...answer, arguments: { ...answer.arguments, by: 'zoe' } };
    expect((await rpc('tools/call', other)).result).toMatchObject({ structuredContent: { error: { code: 'author-forbidden' } } });
  });

  it('see nothing of another tenant: each tool and method answers as for a run that is not there', async () => {
    const { runId, interrupts } = (await rpc('tools/call', refund, { capabilities: {} })).result.structuredContent;
    const strange = { key: await dev.createKey('zoe', '--tenant', 'globex', '--roles', 'admin') };
    const told = async (method: string, of: (id: string) => object, capabilities?: object): Promise<void> => {
      const answers = [runId as string, 'nobody'].map(async (id) => {
        const { result, error } = await rpc(method, of(id), { ...strange, ...(capabilities === undefined ? {} : { capabilities }) });
        return JSON.parse(JSON.stringify(result ?? error).replaceAll(id, 'ID'));
      });
      const [foreign, unknown] = await Promise.all(answers);
      expect(foreign).toEqual(unknown);
      expect(JSON.stringify(foreign)).toContain('run-unknown');
    };
    for (const name of ['get_run', 'events']) await told('tools/call', (id) => ({ name, arguments: { runId: id } }));
    const interruptId: string = interrupts[0].id;
    await told('tools/call', (id) => ({ name: 'answer_interrupt', arguments: { runId: id, interruptId, answer: { approved: true } } }));
    for (const method of ['tasks/get', 'tasks/cancel']) await told(method, (taskId) => ({ taskId }), withTasks);
    await told('tasks/update', (taskId) => ({ taskId, inputResponses: { [interruptId]: accept } }), withTasks);
    const { result: own } = await rpc(
      'tools/call',
      { ...refund, arguments: { ...refund.arguments, runId } },
      { ...strange, capabilities: {} },
    );
    expect(own.structuredContent).toMatchObject({ runId, status: 'waiting' });
    const { result: listed } = await rpc('tools/call', { name: 'list_runs', arguments: {} }, strange);
    expect(listed.structuredContent.runs.map((run: Body) => run.runId)).toEqual([runId]);
    expect((await rpc('tools/call', { name: 'get_run', arguments: { runId } })).result.structuredContent.status).toBe('waiting');
    expect(await paidIn(runId as string)).toBe(0);
  });
});
