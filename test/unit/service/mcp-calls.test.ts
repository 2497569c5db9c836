import { allActions } from '../../../contract/access';
import { policy } from '../../../middleware/index';
import { gate } from '../../support/gate';
import type { McpBed } from '../../support/mcp-bed';
import { jsonHeaders, mcpBed, modernRequest, withTasks } from '../../support/mcp-bed';
import type { TestRun } from '../../../testing/index';
import { agentWith } from '../../support/memory-bed';

const input = { input: 'Add!' };
const accept = { action: 'accept', content: { approved: true } };
const person = (user: string) => ({ tenant: 'acme', user, roles: ['admin'], may: new Set(allActions) });
const statusIn = ({ result }: { readonly result: { readonly structuredContent: object } }) => result.structuredContent;

/** A service whose model waits at a gate. */
function slow() {
  const model = gate();
  const bed = mcpBed({ agent: agentWith(), steps: [() => model.pass().then(() => ({ text: 'Done.' }))], caller: person('ada') });
  return { ...bed, model };
}
const goesOn = { runId: 'r1', status: 'running', statusMessage: expect.stringContaining('goes on') as string };

afterEach(() => jest.restoreAllMocks());

describe('a call that takes long', () => {
  it('says after 50 s that the run goes on, and a repeated call has the result', async () => {
    const { call, model } = slow();
    const late = new AbortController();
    const timeout = jest.spyOn(AbortSignal, 'timeout').mockReturnValueOnce(late.signal);
    const called = call('agent', { ...input, runId: 'r1' });
    await model.reached;
    late.abort();
    expect(statusIn(await called)).toMatchObject(goesOn);
    expect(timeout).toHaveBeenCalledWith(50_000);
    expect(statusIn(await call('get_run', { runId: 'r1' }))).toMatchObject(goesOn);
    model.open();
    expect(statusIn(await call('agent', { ...input, runId: 'r1' }))).toMatchObject({ status: 'completed', text: 'Done.' });
  });

  it('says which call is made again, and why', async () => {
    const { call, runs, model } = slow();
    const retried = { address: 'agent#1', attempt: 11, nextAttemptAt: 7, error: { code: 'mcp-unreachable', message: 'Nobody listens.' } };
    const called = call('agent', { ...input, runId: 'r1' });
    await model.reached;
    const run = runs.get('r1') as TestRun<unknown>;
    const view = await run.view();
    jest.spyOn(run, 'view').mockResolvedValue({ ...view, retrying: [retried] });
    expect(statusIn(await call('get_run', { runId: 'r1' }))).toMatchObject({
      retrying: [retried],
      statusMessage: expect.stringContaining('Attempt 11 of agent#1 follows mcp-unreachable: Nobody listens.'),
    });
    jest.restoreAllMocks();
    model.open();
    await called;
  });

  it.each(['2026-07-28', 'legacy'] as const)(
    'of %s leaves its run at work when the client cancels, and sends no progress',
    async (line) => {
      const { client, call, model } = slow();
      const made = await client(undefined, line === 'legacy' ? line : undefined);
      const gone = new AbortController();
      const onprogress = jest.fn();
      const called = made.callTool({ name: 'agent', arguments: { ...input, runId: 'r1' } }, { signal: gone.signal, onprogress });
      await model.reached;
      gone.abort();
      await expect(called).rejects.toThrow();
      expect(statusIn(await call('get_run', { runId: 'r1' }))).toMatchObject({ status: 'running' });
      model.open();
      expect(statusIn(await call('agent', { ...input, runId: 'r1' }))).toMatchObject({ status: 'completed' });
      expect(onprogress).not.toHaveBeenCalled();
      await made.close();
    },
  );

  it('leaves its run at work when the request breaks off', async () => {
    const { app, call, model } = slow();
    const gone = new AbortController();
    const { body, headers } = modernRequest('tools/call', { name: 'agent', arguments: { ...input, runId: 'r1' } });
    const init = { method: 'POST', headers: { ...jsonHeaders, ...headers }, body: JSON.stringify(body), signal: gone.signal };
    const called = Promise.resolve(app.request('/mcp', init));
    await model.reached;
    gone.abort();
    await called;
    expect(statusIn(await call('get_run', { runId: 'r1' }))).toMatchObject({ status: 'running' });
    model.open();
    expect(statusIn(await call('agent', { ...input, runId: 'r1' }))).toMatchObject({ status: 'completed' });
  });
});

describe('four eyes', () => {
  const agent = agentWith({ middleware: [policy({ name: 'adding', tools: ['add'], stages: [{ fourEyes: true }] })] });
  const steps = [{ toolCalls: [{ name: 'add', input: { a: 2 } }] }, { text: 'It is 3.' }];
  const of = (user: string, before?: McpBed): McpBed =>
    mcpBed({ agent, steps, caller: person(user), ...(before === undefined ? {} : { runs: before.runs, parts: { store: before.store } }) });

  it('keep the starter from the form, and say why, until somebody else has answered in a form', async () => {
    const ada = of('ada');
    const waits = await ada.call('agent', input);
    const { runId, interrupts, statusMessage } = waits.result.structuredContent;
    expect(statusMessage).toContain('needs somebody else than ada');
    expect(waits.result.content[0].text).toContain(statusMessage);
    const interruptId: string = interrupts[0].id;
    const own = await ada.call('answer_interrupt', { runId, interruptId, answer: { approved: true } });
    expect(own.result.structuredContent.error).toMatchObject({
      code: 'answer-forbidden',
      message: expect.stringContaining('somebody else than ada'),
    });
    const update = { taskId: runId, inputResponses: { [interruptId]: accept } };
    expect(await ada.rpc('tasks/update', update, withTasks)).toMatchObject({ error: { code: -32602, data: { code: 'answer-forbidden' } } });
    expect((await ada.rpc('tasks/get', { taskId: runId }, withTasks)).result).toMatchObject({ status: 'working' });
    expect(statusIn(await ada.call('get_run', { runId }))).toMatchObject({ status: 'waiting', interrupts: [{ id: interruptId }] });
    expect(ada.given).toEqual([]);

    const bob = of('bob', ada);
    expect((await bob.rpc('tasks/get', { taskId: runId }, withTasks)).result.inputRequests).toHaveProperty([interruptId]);
    await bob.rpc('tasks/update', update, withTasks);
    expect(statusIn(await ada.call('agent', { ...input, runId }))).toMatchObject({ status: 'completed' });
    expect(bob.given).toMatchObject([[interruptId, { type: 'approve' }, { by: 'bob' }]]);
  });
});
