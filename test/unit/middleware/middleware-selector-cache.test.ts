import { mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ScriptedStep } from 'holdfast/testing';
import { scriptedModel, testRun } from 'holdfast/testing';
import type { CachedResponse, ResponseStore, WorkerMiddleware } from 'holdfast/worker';
import { cachedResponses, directoryResponses, memoryResponses } from 'holdfast/worker';
import type { ResponseCacheOptions, ToolSelectorOptions } from 'holdfast/middleware';
import { budget, responseCache, toolSelector } from 'holdfast/middleware';
import { agentWith, echo, startRun, toolOf, transcriptOf } from '../../support/memory-bed';

const named = (name: string) => toolOf(() => `${name} done`, { description: `Does ${name}\nwell.` });
const tools = { one: named('one'), two: named('two'), three: named('three'), four: named('four') };

async function select(options: Partial<ToolSelectorOptions>, ...steps: readonly ScriptedStep[]) {
  const model = scriptedModel(steps);
  const five = { name: 'five', description: 'Does five.', inputSchema: { type: 'object' }, execute: () => 'five done' };
  const agent = agentWith({
    tools: [...Object.keys(tools), five],
    middleware: [toolSelector({ model: 'small', maxTools: 2, ...options })],
  });
  const run = await testRun(agent, { input: 'Do two and five', model, tools });
  const outcome = await run.outcome();
  const offered = model.requests.map((request) => `${request.model}: ${request.tools.map(({ name }) => name).join(' ')}`);
  return { outcome, run, offered, model };
}

describe('toolSelector', () => {
  it('offers what another model has chosen, once for what the user said', async () => {
    const { offered, model, outcome } = await select(
      {},
      { text: '["five", "two", "one", "six"]' },
      { toolCalls: [{ name: 'two', input: {} }] },
      { text: 'Done.' },
    );
    expect(outcome).toMatchObject({ status: 'completed', text: 'Done.' });
    expect(offered).toEqual(['small: ', 'test/model: two five', 'test/model: two five']);
    expect(model.requests[0]).toMatchObject({ messages: [{ role: 'user', parts: [{ text: 'Do two and five' }] }] });
    expect(model.requests[0]?.instructions).toMatch(
      /^Choose the tools .*\n\n- one: Does one well\.\n- two: Does two well\.\n- three: Does three well\.\n- four: Does four well\.\n- five: Does five\.$/s,
    );
  });

  it('offers some tools in any case', async () => {
    const { offered, model } = await select({ alwaysInclude: ['four'] }, { text: 'I would take `one` and two.' }, { text: 'Done.' });
    expect(offered).toEqual(['small: ', 'test/model: one two four']);
    expect(model.requests[0]?.instructions).not.toContain('- four');
  });

  it('asks nobody when there is nothing to choose', async () => {
    expect((await select({ maxTools: 5 }, { text: 'Done.' })).offered).toEqual(['test/model: one two three four five']);
  });

  it.each<[string, ScriptedStep]>([
    ['names nothing that there is', { text: 'none of them' }],
    ['fails', { error: 'no' }],
  ])('offers all tools when the other model %s', async (_, step) => {
    const { offered, outcome } = await select({}, step, { text: 'Done.' });
    expect(outcome.status).toBe('completed');
    expect(offered.at(-1)).toBe('test/model: one two three four five');
  });

  it('lets tools be called that it has not offered', async () => {
    const { run } = await select({}, { text: '["one"]' }, { toolCalls: [{ name: 'three', input: {} }] }, { text: 'Done.' });
    expect((await transcriptOf(run))[2]).toBe('tool: three done');
  });

  it.each<[string, unknown, RegExp]>([
    ['no model', { maxTools: 2 }, /toolSelector: model must be a string that is not blank\. It is missing\./],
    ['a choice of nothing', { model: 'a', maxTools: 0 }, /maxTools must be a whole number of at least 1\. It is 0\./],
    ['an unknown field', { model: 'a', maxTools: 1, max: 2 }, /there is no option "max"/],
  ])('refuses %s', (_, options, message) => {
    expect(() => toolSelector(options as ToolSelectorOptions)).toThrow(message);
  });
});

interface Cached {
  readonly input?: string;
  readonly stream?: boolean;
  readonly options?: ResponseCacheOptions;
  readonly half?: WorkerMiddleware;
  readonly more?: Parameters<typeof agentWith>[0];
}

async function ask(steps: readonly ScriptedStep[], { input = 'Hi', stream = false, options, half = shared, more = {} }: Cached = {}) {
  const model = scriptedModel(steps, { stream });
  const run = await startRun(agentWith({ middleware: [responseCache(options)], ...more }), model, { input, stream, middleware: [half] });
  const outcome = await run.outcome();
  return { outcome, calls: model.requests.length, usage: await run.usage() };
}

let shared: WorkerMiddleware;
beforeEach(() => (shared = cachedResponses()));

const usage = { inputTokens: 7, outputTokens: 3 };
const twoSteps: readonly ScriptedStep[] = [
  { toolCalls: [echo('x')], usage },
  { text: 'Done.', usage },
];

describe.each([false, true])('responseCache (streams: %s)', (stream) => {
  it('gives the answers that the same requests got, at no cost', async () => {
    expect(await ask(twoSteps, { stream })).toMatchObject({ calls: 2, usage: { inputTokens: 14 } });
    expect(await ask([], { stream })).toMatchObject({
      calls: 0,
      outcome: { status: 'completed', text: 'Done.' },
      usage: { inputTokens: 0, outputTokens: 0 },
    });
    expect((await ask(twoSteps, { stream, input: 'Hello' })).calls).toBe(2);
  });

  it('takes nothing from a budget for an answer that it had', async () => {
    const more = { middleware: [responseCache(), budget({ tokens: 1600, answerTokens: 1000 })] };
    expect(await ask(twoSteps, { stream, more })).toMatchObject({ outcome: { text: 'Done.' } });
    expect(await ask([], { stream, more })).toMatchObject({ calls: 0, outcome: { text: 'Done.' } });
  });

  it.each<[string, Cached]>([
    ['another model', { more: { model: 'other' } }],
    ['other instructions', { more: { instructions: 'Be quick.' } }],
    ['other settings', { more: { settings: { temperature: 1 } } }],
    ['other tools', { more: { tools: ['echo'] } }],
    ['another agent', { more: { name: 'other' as 'agent' } }],
    ['another version', { options: { version: '2' } }],
  ])('asks again with %s', async (_, changed) => {
    await ask([{ text: 'Done.' }], { stream });
    const more = { ...(changed.more ?? {}), middleware: [responseCache(changed.options)] };
    expect((await ask([{ text: 'Done.' }], { stream, ...changed, more })).calls).toBe(1);
  });

  it('keeps no answer that failed or was cut off', async () => {
    await ask([{ error: 'no' }], { stream });
    await ask([{ text: 'Half', error: 'broken' }], { stream });
    expect((await ask([{ text: 'Done.' }], { stream })).calls).toBe(1);
  });

  it('keeps no answer that is too old', async () => {
    const kept = new Map<string, CachedResponse>();
    const store: ResponseStore = {
      get: async (key) => kept.get(key),
      set: async (key, response) => void kept.set(key, { ...response, at: response.at - 120_000 }),
    };
    const half = cachedResponses({ store });
    await ask([{ text: 'Done.' }], { stream, half, options: { maxAge: '1m' } });
    expect((await ask([{ text: 'Done.' }], { stream, half, options: { maxAge: '1m' } })).calls).toBe(1);
    expect((await ask([], { stream, half, options: { maxAge: '5m' } })).calls).toBe(0);
  });

  it('asks the model when the store is out of order', async () => {
    const problems: unknown[] = [];
    const store = { get: () => Promise.reject(new Error('no disk')), set: () => Promise.reject(new Error('no disk')) };
    const half = cachedResponses({ store, onProblem: (problem) => problems.push(problem) });
    expect(await ask([{ text: 'Done.' }], { stream, half })).toMatchObject({ calls: 1, outcome: { status: 'completed' } });
    expect(problems).toHaveLength(2);
  });

  it('warns once for as long as the store is out of order and nobody asks to be told', async () => {
    let broken = true;
    const use = <T>(result: T): Promise<T> => (broken ? Promise.reject(new Error('no disk')) : Promise.resolve(result));
    const half = cachedResponses({ store: { get: () => use(undefined), set: () => use(undefined) } });
    const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    for (broken of [true, true, false, true]) await ask([{ text: 'Done.' }], { stream, half });
    const said = warned.mock.calls.map(([text]) => /cannot be (read|written): no disk/.exec(String(text))?.[1]);
    warned.mockRestore();
    expect(said).toEqual(['read', 'written', 'read', 'written']);
  });

  it('gives no answer again that a retry has refused', async () => {
    await ask([{ text: 'Bad.' }], { stream });
    const more: Cached['more'] = {
      retry: {
        maxRetries: 1,
        backoff: () => 0,
        shouldRetry: ({ output }) => (JSON.stringify(output).includes('Bad') ? { retry: true } : undefined),
      },
      middleware: [responseCache()],
    };
    const model = scriptedModel([{ text: 'Good.' }], { stream });
    const run = await startRun(agentWith(more), model, { stream, middleware: [shared] });
    await run.outcome();
    await run.advance('1s');
    expect(await run.outcome()).toMatchObject({ text: 'Good.' });
    expect((await ask([], { stream })).outcome).toMatchObject({ text: 'Good.' });
  });
});

describe('the stores', () => {
  it('of a directory outlives the process, and takes what it cannot read for nothing', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'holdfast-cache-'));
    await ask([{ text: 'Done.' }], { half: cachedResponses({ store: directoryResponses(directory) }) });
    const half = cachedResponses({ store: directoryResponses(directory) });
    expect((await ask([], { half })).calls).toBe(0);
    const files = (await readdir(directory, { recursive: true })).filter((name) => name.endsWith('.json'));
    expect(files).toHaveLength(1);
    for (const broken of ['{', 'null', '{"at":1,"parts":3}']) {
      await writeFile(join(directory, files[0] ?? ''), broken);
      expect((await ask([{ text: 'Done.' }], { half })).calls).toBe(1);
    }
  });

  it('in memory keeps those that were used last', async () => {
    const store = memoryResponses({ entries: 2 });
    const response: CachedResponse = { parts: [{ type: 'text', text: 'x' }], at: 1 };
    await store.set('a', response);
    await store.set('b', response);
    await store.get('a');
    await store.set('c', response);
    expect(await Promise.all(['a', 'b', 'c'].map(async (key) => (await store.get(key)) !== undefined))).toEqual([true, false, true]);
  });

  it.each<[string, () => unknown, RegExp]>([
    ['no entries', () => memoryResponses({ entries: 0 }), /entries must be a whole number of at least 1\. It is 0\./],
    ['no directory', () => directoryResponses(''), /takes the path of a directory/],
    ['no store', () => cachedResponses({ store: {} as ResponseStore }), /store must be an object with get\(key\) .*\. It is \{\}\./],
    ['an age that is none', () => responseCache({ maxAge: 'old' }), /maxAge "old" is no duration; write for example "30s", "2h" or "3d"\./],
  ])('refuse %s', (_, make, message) => {
    expect(make).toThrow(message);
  });
});
