import { approval, askHuman } from '../../../middleware/index';
import type { Action } from '../../../contract/access';
import { allActions } from '../../../contract/access';
import { HoldfastError } from '../../../contract/errors';
import type { ShownTool } from '../../../service/mcp/agent-tool';
import type { McpBed } from '../../support/mcp-bed';
import { mcpBed, withTasks } from '../../support/mcp-bed';
import type { TestRun } from '../../../testing/index';
import { agentWith } from '../../support/memory-bed';

const careful = agentWith({ middleware: [approval({ tools: { add: { by: ['ada'] } } }), askHuman()] });
const adding = { toolCalls: [{ name: 'add', input: { a: 2 } }] };
const steps = [adding, { text: 'It is 3.' }];
const person = (user: string, may: readonly Action[] = allActions) => ({ tenant: 'acme', user, roles: ['admin'], may: new Set(may) });
const bed = (more: Partial<Parameters<typeof mcpBed>[0]> = {}): McpBed => mcpBed({ agent: careful, steps, caller: person('ada'), ...more });
const otherTimers = [
  'hrtime',
  'nextTick',
  'performance',
  'queueMicrotask',
  'setImmediate',
  'setInterval',
  'setTimeout',
  'clearImmediate',
  'clearInterval',
  'clearTimeout',
] as const;
const accept = (content: object = { approved: true }) => ({ action: 'accept', content });
const input = { input: 'Add!' };
const textOf = ({ content }: { readonly content?: unknown }) => (content as { readonly text: string }[] | undefined)?.[0]?.text;
const codeIn = (result: unknown) =>
  (result as { readonly structuredContent?: { readonly error?: { readonly code: string } } }).structuredContent?.error?.code;

describe('a client of 2026-07-28', () => {
  it('is asked for an approval in the call, and the call ends with the answer', async () => {
    const asked: unknown[] = [];
    const { client, given } = bed();
    const made = await client((form) => (asked.push(form), accept({ approved: true, comment: 'fine' })));
    const result = await made.callTool({ name: 'agent', arguments: input });
    expect(result).toMatchObject({ content: [{ type: 'text', text: 'It is 3.' }], structuredContent: { status: 'completed' } });
    expect(asked).toMatchObject([
      { mode: 'form', message: 'May add be called?\n\nadd {"a":2,"b":1}', requestedSchema: { required: ['approved'] } },
    ]);
    expect(given).toMatchObject([[expect.any(String), { type: 'approve', comment: 'fine' }, { by: 'ada', inputHash: expect.any(String) }]]);
    await made.close();
  });

  it.each(['decline', 'cancel'])('decides with %s, and is asked once', async (action) => {
    let times = 0;
    const { client, given } = bed({ steps: [adding, { text: 'Not done.' }] });
    const made = await client(() => (times++, { action }));
    expect(textOf(await made.callTool({ name: 'agent', arguments: input }))).toBe('Not done.');
    expect([times, given.map(([, answer]) => answer)]).toEqual([1, [{ type: 'reject' }]]);
    await made.close();
  });

  it('leaves a question open that its person declines, and answers a question with the words of its form', async () => {
    const asking = [{ toolCalls: [{ name: 'askHuman', input: { question: 'Which order?' } }] }, { text: 'Thanks.' }];
    const declined = await bed({ steps: asking }).client(() => ({ action: 'decline' }));
    expect(await declined.callTool({ name: 'agent', arguments: input })).toMatchObject({ structuredContent: { status: 'waiting' } });
    const { client, given } = bed({ steps: asking });
    const answering = await client(() => accept({ answer: 'Order 42' }));
    expect(textOf(await answering.callTool({ name: 'agent', arguments: input }))).toBe('Thanks.');
    expect(given.map(([, answer]) => answer)).toEqual(['Order 42']);
    await Promise.all([declined.close(), answering.close()]);
  });

  it('is asked again, with the reason, after an answer that does not fit', async () => {
    const asked: string[] = [];
    const { client, given } = bed();
    const made = await client(
      ({ message }) => (asked.push(message as string), accept(asked.length === 1 ? { comment: 'hm' } : { approved: true })),
    );
    expect(textOf(await made.callTool({ name: 'agent', arguments: input }))).toBe('It is 3.');
    expect(asked).toEqual([asked[1]?.split('\n\n').slice(1).join('\n\n'), expect.stringContaining('lacks `approved`')]);
    expect(given.length).toBe(1);
    await made.close();
  });

  it('may repeat its answer after days at a service that started again, and the answer counts once', async () => {
    jest.useFakeTimers({ doNotFake: [...otherTimers] });
    try {
      const { store, runs, ...before } = bed();
      const { result: first } = await before.call('agent', input);
      expect(first).toMatchObject({ resultType: 'input_required', requestState: expect.any(String) });
      const [key = ''] = Object.keys(first.inputRequests as object);
      jest.setSystemTime(Date.now() + 2 * 86_400_000);
      await runs.get('made-0')?.advance('2d');
      const { call, given } = bed({ parts: { store }, runs });
      const retry = { requestState: first.requestState, inputResponses: { [key]: accept() } };
      const done = await call('agent', input, retry);
      expect(textOf(done.result)).toBe('It is 3.');
      expect((await call('agent', input, retry)).result).toEqual(done.result);
      expect([given.length, runs.size]).toEqual([1, 1]);
    } finally {
      jest.useRealTimers();
    }
  });

  it('gets no further with a state that is changed, late, or of another caller', async () => {
    const expiring = agentWith({ middleware: [approval({ tools: { add: { expires: '1h' } } })] });
    jest.useFakeTimers({ now: Date.UTC(2026, 0, 1), doNotFake: [...otherTimers] });
    try {
      const ada = bed({ agent: expiring });
      const kim = bed({ caller: person('kim'), parts: { store: ada.store } });
      const { result: first } = await ada.call('agent', input);
      const [key = ''] = Object.keys(first.inputRequests as object);
      const retry = (asking: McpBed, requestState: unknown) =>
        asking.call('agent', input, { requestState, inputResponses: { [key]: accept() } });
      const refused = { code: -32602, data: { reason: 'invalid_request_state' } };
      expect(await retry(ada, `${first.requestState}x`)).toMatchObject({ error: refused });
      expect(await retry(ada, 7)).toMatchObject({ error: refused });
      expect(await retry(kim, first.requestState)).toMatchObject({ error: refused });
      jest.setSystemTime(Date.now() + 3_601_000);
      expect(await retry(ada, first.requestState)).toMatchObject({ error: refused });
      expect([ada.given, kim.given]).toEqual([[], []]);
    } finally {
      jest.useRealTimers();
    }
  });

  it.each<[string, Partial<Parameters<typeof mcpBed>[0]>, object]>([
    ['whom the approval does not ask', { caller: person('kim') }, { elicitation: {} }],
    ['who may not answer', { caller: person('ada', ['runs:read', 'runs:start']) }, { elicitation: {} }],
    ['whose program shows no forms', {}, {}],
    ['whose program opens pages alone', {}, { elicitation: { url: {} } }],
  ])('is told that the run waits, and not asked, for a person %s', async (_, more, capabilities) => {
    const { result } = await bed(more).call('agent', input, {}, capabilities);
    expect(result).toMatchObject({ resultType: 'complete', structuredContent: { runId: 'made-0', status: 'waiting', interrupts: [{}] } });
    expect(textOf(result)).toContain('waits for an answer:\n- ');
  });

  it('opens no subscription, and is announced none', async () => {
    const { rpc } = bed();
    expect(await rpc('subscriptions/listen', { notifications: { toolsListChanged: true } })).toMatchObject({ error: { code: -32603 } });
    const { result } = await rpc('server/discover', {});
    expect(result.capabilities).toEqual({ tools: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } });
  });

  it('learns that a store is away, which is no forged state', async () => {
    const away = () => Promise.reject(Object.assign(new Error('away'), { code: 'identity-unavailable' }));
    const { post } = bed({ parts: { store: { ...bed().store, get: away } } });
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'agent', requestState: 'v1.x.y' } };
    expect((await post(body)).status).toBe(503);
  });
});

describe('a client of 2025-11-25', () => {
  it('calls an agent, sees that the run waits, answers, and reads the run and its log', async () => {
    const { client, given } = bed();
    const made = await client(undefined, 'legacy');
    const { tools } = await made.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['agent', 'list_runs', 'get_run', 'events', 'answer_interrupt']);
    const use = (name: string, more: object) => made.callTool({ name, arguments: { runId: 'r1', ...more } });
    const [waiting, again] = await Promise.all([use('agent', input), use('agent', input)]);
    expect(waiting).toMatchObject({
      structuredContent: { runId: 'r1', status: 'waiting', interrupts: [{ kind: 'approval', tool: 'add' }] },
    });
    expect(again).toEqual(waiting);
    expect(waiting.isError).toBeUndefined();
    const [{ id: interruptId }] = (waiting.structuredContent as { readonly interrupts: [{ readonly id: string }] }).interrupts;
    const first = (await use('events', { limit: 2 })).structuredContent as { readonly next: number };
    expect(first).toMatchObject({ events: [{ offset: 0, type: 'run-start' }, { offset: 1 }], next: 2, more: true });
    const done = await use('answer_interrupt', { interruptId, answer: { approved: true } });
    expect([textOf(done), given.map(([, answer]) => answer)]).toEqual(['It is 3.', [{ type: 'approve' }]]);
    expect(await use('get_run', {})).toMatchObject({ structuredContent: { status: 'completed', output: 'It is 3.', usage: {} } });
    expect((await use('events', { from: 2, limit: 500 })).structuredContent).toMatchObject({ events: expect.any(Array), more: false });
    const listed = await made.callTool({ name: 'list_runs', arguments: { agent: 'agent' } });
    expect(listed).toMatchObject({ structuredContent: { runs: [{ runId: 'r1' }], more: false } });
    await made.close();
  });

  it('may answer with JSON as a text, as the shown answerSchema says, and repeat the answer', async () => {
    const { call, given, runs } = bed();
    const { interrupts } = (await call('agent', { ...input, runId: 'r1' }, {}, {})).result.structuredContent;
    expect(interrupts).toMatchObject([{ answerSchema: { required: ['approved'] } }]);
    const answer = async (said: string) =>
      (await call('answer_interrupt', { runId: 'r1', interruptId: interrupts[0].id, answer: said })).result;
    expect(textOf(await answer('{"decision":"approve"}'))).toContain('must have `approved`, which is true or false');
    expect(textOf(await answer('{"approved":true}'))).toBe('It is 3.');
    const repeated = jest.spyOn(runs.get('r1') as TestRun<unknown>, 'resume').mockResolvedValue(undefined);
    await answer('{"approved":true}');
    expect([given[0]?.[1], repeated.mock.calls[0]?.[1]]).toEqual([{ type: 'approve' }, { type: 'approve' }]);
  });

  it('may answer a question about a call in doubt with JSON as a text, as the shown answerSchema says', async () => {
    const { call, runs } = bed();
    const doubt = { id: 'd', address: [], agent: 'agent', kind: 'in-doubt', info: { question: 'Did add happen?' } } as const;
    await call('agent', { ...input, runId: 'r1' }, {}, {});
    const run = runs.get('r1') as TestRun<unknown>;
    jest.spyOn(run, 'view').mockResolvedValue({ ...(await run.view()), interrupts: [doubt] });
    const resume = jest.spyOn(run, 'resume').mockResolvedValue(undefined);
    const { result } = await call('answer_interrupt', { runId: 'r1', interruptId: 'd', answer: '{"happened":true,"result":7}' });
    expect(resume).toHaveBeenCalledWith('d', { happened: true, result: 7 }, expect.anything());
    expect(result.structuredContent.interrupts).toEqual([{ ...doubt, answerSchema: expect.objectContaining({ required: ['happened'] }) }]);
  });

  it('answers a question for a text with the text, also where the text is JSON', async () => {
    const { call, given } = bed({ steps: [{ toolCalls: [{ name: 'askHuman', input: { question: 'Which?' } }] }, { text: 'Thanks.' }] });
    const { interrupts } = (await call('agent', { ...input, runId: 'r1' }, {}, {})).result.structuredContent;
    await call('answer_interrupt', { runId: 'r1', interruptId: interrupts[0].id, answer: '{"order":42}' });
    expect(given.map(([, answer]) => answer)).toEqual(['{"order":42}']);
  });

  it('has each agent once, also where names collide', async () => {
    const agents = ['list_runs', 'agent_list_runs'].map((name) => ({ name, description: name, takesJob: false }));
    const { result } = await bed({ parts: { agents } }).rpc('tools/list', {});
    expect((result.tools as ShownTool[]).slice(0, 3).map(({ name, description }) => [name, description])).toEqual([
      ['agent_agent_list_runs', 'list_runs'],
      ['agent_list_runs', 'agent_list_runs'],
      ['list_runs', expect.stringContaining('Lists runs')],
    ]);
  });

  it.each<[string, string, object, string]>([
    ['no input', 'agent', {}, 'input-invalid'],
    ['an input that is no text', 'agent', { input: 7 }, 'input-invalid'],
    ['a misspelt argument', 'agent', { input: 'x', rundId: 'r' }, 'request-invalid'],
    ['an id that is no text', 'agent', { input: 'x', runId: 7 }, 'run-id-invalid'],
    ['a run that is not there', 'get_run', { runId: 'nobody' }, 'run-unknown'],
    ['a status that is none', 'list_runs', { status: 'odd' }, 'request-invalid'],
    ['an answer without a decision', 'answer_interrupt', { runId: 'nobody', interruptId: 'x' }, 'request-invalid'],
  ])('gets an error with a code for %s', async (_, name, given, code) => {
    const made = await bed().client(undefined, 'legacy');
    const result = await made.callTool({ name, arguments: { ...given } });
    expect([result.isError, codeIn(result)]).toEqual([true, code]);
    await made.close();
  });

  it('learns the id of the run that goes on where its result cannot be read', async () => {
    const { client, runs } = bed();
    const made = await client(undefined, 'legacy');
    await made.callTool({ name: 'agent', arguments: { ...input, runId: 'r1' } });
    Object.assign(runs.get('r1') ?? {}, { view: () => Promise.reject(new HoldfastError('server-unreachable', 'The server is away.')) });
    const result = await made.callTool({ name: 'agent', arguments: { ...input, runId: 'r1' } });
    expect([codeIn(result), result.structuredContent]).toEqual(['server-unreachable', expect.objectContaining({ runId: 'r1' })]);
    await made.close();
  });

  it('gets an error of the protocol for an unknown tool, and no session', async () => {
    const { client, app } = bed();
    const made = await client(undefined, 'legacy');
    await expect(made.callTool({ name: 'nobody', arguments: {} })).rejects.toMatchObject({ code: -32602 });
    await made.close();
    for (const method of ['GET', 'DELETE']) expect((await app.request('/mcp', { method })).status).toBe(405);
  });

  it('is told that the run goes on where the service closes', async () => {
    const closing = new AbortController();
    const { client } = bed({ steps: [() => new Promise<never>(() => undefined)], parts: { closing: closing.signal } });
    const made = await client(undefined, 'legacy');
    const called = made.callTool({ name: 'agent', arguments: input });
    setImmediate(() => closing.abort());
    expect(await called).toMatchObject({ structuredContent: { runId: 'made-0', status: 'running' } });
    await made.close();
  });
});

describe('tasks', () => {
  const ask = (asked: McpBed) => (method: string, params: object) =>
    asked.rpc(`tasks/${method}`, { taskId: 'made-0', ...params }, withTasks);

  it('are runs: they work, need input, take answers by the id of the interrupt, and end with the result of the call', async () => {
    const asked = bed();
    const task = ask(asked);
    expect((await asked.call('agent', input, {}, withTasks)).result).toMatchObject({
      resultType: 'task',
      taskId: 'made-0',
      status: 'working',
    });
    await asked.runs.get('made-0')?.outcome();
    const { result: waiting } = await task('get', {});
    const [key = ''] = Object.keys(waiting.inputRequests as object);
    expect(waiting).toMatchObject({ resultType: 'complete', status: 'input_required', ttlMs: null, pollIntervalMs: expect.any(Number) });
    const update = { inputResponses: { nobody: accept(), [key]: accept() } };
    expect((await task('update', update)).result).toMatchObject({ resultType: 'complete' });
    expect((await task('update', update)).result).toMatchObject({ resultType: 'complete' });
    await asked.runs.get('made-0')?.outcome();
    expect((await task('get', {})).result).toMatchObject({ status: 'completed', result: { content: [{ text: 'It is 3.' }] } });
    expect(asked.given.length).toBe(1);
  });

  it('refuse an answer that does not fit, and stay open', async () => {
    const asked = bed();
    await asked.call('agent', input, {}, withTasks);
    await asked.runs.get('made-0')?.outcome();
    const [key = ''] = Object.keys((await ask(asked)('get', {})).result.inputRequests as object);
    const refused = await ask(asked)('update', { inputResponses: { [key]: accept({ approved: 'yes' }) } });
    expect(refused).toMatchObject({ error: { code: -32602, data: { code: 'answer-invalid' } } });
    expect((await ask(asked)('get', {})).result).toMatchObject({ status: 'input_required' });
  });

  it('are cancelled by tasks/cancel alone, and a second cancel changes nothing', async () => {
    const asked = bed();
    const task = ask(asked);
    await asked.call('agent', input, {}, withTasks);
    await asked.runs.get('made-0')?.outcome();
    for (const _ of [1, 2]) {
      expect((await task('cancel', {})).result).toMatchObject({ resultType: 'complete' });
      await asked.runs.get('made-0')?.outcome();
    }
    expect((await task('get', {})).result).toMatchObject({ status: 'cancelled' });
  });

  it('work on while somebody else must answer, and say so', async () => {
    const asked = bed({ caller: person('kim') });
    await asked.call('agent', input, {}, withTasks);
    await asked.runs.get('made-0')?.outcome();
    const { result } = await ask(asked)('get', {});
    expect(result).toMatchObject({ status: 'working', statusMessage: expect.stringContaining('waits for an answer') });
  });

  it('end with a result that is an error where the run failed', async () => {
    const failing = bed({ steps: [{ error: 'no luck' }] });
    await failing.call('agent', input, {}, withTasks);
    await failing.runs.get('made-0')?.outcome();
    expect((await ask(failing)('get', {})).result).toMatchObject({ status: 'completed', result: { isError: true } });
  });

  it('are refused where unknown, and for a client that does not declare them', async () => {
    const asked = bed();
    expect(await ask(asked)('get', { taskId: 'nobody' })).toMatchObject({ error: { code: -32602, data: { code: 'run-unknown' } } });
    expect(await asked.rpc('tasks/get', { taskId: 'nobody' }, {})).toMatchObject({ error: { code: -32021 } });
  });

  it('are found for a client that does not name them in a header', async () => {
    const { post } = bed();
    const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': withTasks };
    const body = { jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { taskId: 'nobody', _meta } };
    const response = await post(body, { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tasks/get' });
    expect(await response.json()).toMatchObject({ error: { data: { code: 'run-unknown' } } });
  });
});

describe('access', () => {
  const issuers = [{ issuer: 'https://login.example.com', audience: 'holdfast' }];

  it('tells a client without a token where to get one, also below a path', async () => {
    const { app } = bed({ parts: { access: { issuers }, publicUrl: 'https://example.com/desk/' } });
    const at = 'https://example.com/desk/.well-known/oauth-protected-resource/mcp';
    const refused = await app.request('/mcp', { method: 'POST' });
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, `Bearer realm="holdfast", resource_metadata="${at}"`]);
    const metadata = await app.request('/.well-known/oauth-protected-resource/mcp');
    expect(await metadata.json()).toMatchObject({
      resource: 'https://example.com/desk/mcp',
      authorization_servers: ['https://login.example.com'],
    });
  });

  it.each([
    ['keys alone', {}, 'https://example.com'],
    ['no public URL', { issuers }, undefined],
  ])('has no metadata with %s', async (_, access, publicUrl) => {
    const { app } = bed({ parts: { access, ...(publicUrl === undefined ? {} : { publicUrl }) } });
    expect((await app.request('/.well-known/oauth-protected-resource/mcp')).status).toBe(404);
    expect((await app.request('/mcp', { method: 'POST' })).headers.get('www-authenticate')).toBe('Bearer realm="holdfast"');
  });
});
