import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import type { ModelProvider } from 'holdfast/worker';
import { currentCall, defineTool } from 'holdfast/worker';
import { scriptedModel, testRun } from 'holdfast/testing';
import type { AgentMiddleware } from 'holdfast/workflow';
import { sequential } from 'holdfast/workflow';
import { ModelRegistry } from '../../../activities/models/models';
import { VirtualClock } from '../../../testing/memory/clock';
import { readHistories, writeHistories } from '../../../host/history/history-files';
import { agentUnder, agentWith, before, echo, only, startRun, tools, transcriptOf, withHook } from '../../support/memory-bed';
import { member } from '../../support/team-bed';
import { failure } from '../../support/failures';

const asking: AgentMiddleware = { name: 'asking', beforeAgent: async (_, ctx) => void (await ctx.interrupt('Go?')) };

describe('scriptedModel', () => {
  it('fails the run on a call too many, and says which and what was asked', async () => {
    const model = scriptedModel([{ toolCalls: [echo('a')] }]);
    const run = await startRun(agentWith({ tools: ['echo'] }), model);
    expect(await run.outcome()).toEqual({
      status: 'failed',
      error: {
        code: 'model-failed',
        message:
          'scriptedModel: call 2 is one too many, the script has 1 step. The model was asked: tool "{"type":"tool-result","callId":"call-1-1","name":"echo","output":"a"}" (3 messages, the tools echo, model test/model).',
      },
    });
    expect(model.requests).toHaveLength(2);
  });

  it('names the steps that are left', async () => {
    const model = scriptedModel([{ text: 'Done.' }, { text: 'More.' }, () => ({ text: 'x' })]);
    await (await startRun(agentWith(), model)).outcome();
    expect(() => model.assertComplete()).toThrow(
      'scriptedModel: the model was called 1 times, and 2 steps of the script were not used: 2. {"text":"More."} 3. a function',
    );
  });

  it('answers as a function says that sees the request', async () => {
    const model = scriptedModel([({ messages, tools: offered }) => ({ text: `${messages.length} message, ${offered.length} tools` })]);
    expect(await (await startRun(agentWith(), model)).outcome()).toMatchObject({ text: '1 message, 3 tools' });
    model.assertComplete();
  });

  it('gives calls ids that differ, or those of the script, and text beside them', async () => {
    const run = await startRun(agentWith(), [
      { text: 'Look:', toolCalls: [echo('a'), { ...echo('b'), id: 'own' }] },
      { toolCalls: [echo('c')] },
      { text: 'Done.' },
    ]);
    const parts = (await run.transcript()).flatMap((message) => (message.role === 'assistant' ? message.parts : []));
    expect(parts.flatMap((part) => (part.type === 'tool-call' ? [part.id] : []))).toEqual(['call-1-1', 'own', 'call-2-1']);
    expect(parts[0]).toEqual({ type: 'text', text: 'Look:' });
  });

  it('is a provider for a real worker', async () => {
    const model = scriptedModel([{ text: 'Done.' }]);
    const { model: resolved } = await new ModelRegistry({ providers: { scripted: model } }, {}).resolve('scripted/any');
    expect(
      await resolved.generate({ instructions: '', messages: [], tools: [], settings: {}, signal: new AbortController().signal }),
    ).toEqual({ parts: [{ type: 'text', text: 'Done.' }] });
    expect(model.requests[0]?.model).toBe('any');
  });
});

describe('testRun', () => {
  it('checks its start as the client does', async () => {
    const model = scriptedModel([]);
    await expect(testRun(agentWith(), { input: undefined as never, model, tools })).rejects.toMatchObject({ code: 'input-invalid' });
    await expect(testRun(agentWith(), { input: 'Hi', tools } as never)).rejects.toMatchObject({ code: 'model-unknown' });
    await expect(startRun(agentWith(), model, { id: 'a/b' })).rejects.toMatchObject({ code: 'run-id-invalid' });
    await expect(testRun(agentWith(), { input: 'x'.repeat(300_000), model, tools })).rejects.toMatchObject({ code: 'input-too-large' });
    await expect(startRun(agentWith(), model, { tools: { echo: {} } })).rejects.toMatchObject({ code: 'config-invalid' });
  });

  it('gives its result, or says why there is none', async () => {
    const result = async (...steps: Parameters<typeof scriptedModel>[0]): Promise<unknown> =>
      (await startRun(agentWith(), scriptedModel(steps))).result();
    expect(await result({ text: 'Done.' })).toBe('Done.');
    await expect(result({ error: 'down' })).rejects.toMatchObject({ code: 'model-failed', message: 'down' });
    const waiting = await startRun(agentUnder(asking), []);
    await expect(waiting.result()).rejects.toThrow('it waits for answers to agent.setup.beforeAgent-asking');
    await waiting.cancel();
    await expect(waiting.result()).rejects.toMatchObject({ code: 'cancelled' });
  });

  it('fires timers in their order, and what one wakes runs before the next', async () => {
    const seen: string[] = [];
    const sleeping = withHook('sleeping', 'wrapToolCall', async (call, next, ctx) => {
      for (const length of [call.id === 'slow' ? '3h' : '1h', '1h']) {
        await ctx.sleep(length);
        seen.push(`${call.id} ${(ctx.now() - Date.UTC(2026, 0, 1)) / 3_600_000}`);
      }
      return next(call);
    });
    const toolCalls = ['slow', 'fast'].map((id) => ({ ...echo(id), id }));
    const run = await startRun(agentUnder(sleeping), [{ toolCalls }, { text: 'Done.' }]);
    await run.advance('150m');
    expect(seen).toEqual(['fast 1', 'fast 2']);
    await run.advance('1 day');
    expect(seen).toEqual(['fast 1', 'fast 2', 'slow 3', 'slow 4']);
    expect((await run.outcome()).status).toBe('completed');
  });

  it('reads from an offset on, and stops when the reader goes', async () => {
    const run = await startRun(agentWith(), [{ text: 'Done.' }]);
    await run.outcome();
    const types: string[] = [];
    for await (const { type } of run.events({ from: 2 })) types.push(type);
    expect(types).toEqual(['model-end', 'run-end']);
    const waiting = await startRun(agentUnder(asking), []);
    const abort = new AbortController();
    for await (const event of waiting.events({ signal: abort.signal })) if (event.type === 'interrupt-start') abort.abort();
    expect((await waiting.view()).status).toBe('waiting');
  });

  it('shares nothing with the run that JSON would not carry', async () => {
    const result = { list: [1], gone: undefined };
    const giving = defineTool({ description: 'Gives.', inputSchema: z.object({}), execute: () => result });
    const seen: unknown[] = [];
    const layer = withHook('layer', 'beforeModelRewriteState', async (_, ctx) => void seen.push(await ctx.call('giving', {})));
    await (await startRun(agentWith({ tools: ['giving'], middleware: [layer] }), [{ text: 'Done.' }], { tools: { giving } })).outcome();
    expect(seen).toEqual([{ list: [1] }]);
    expect(seen[0]).not.toBe(result);
    expect(Object.keys(seen[0] as object)).toEqual(['list']);
  });

  it('tells tools which call they work for', async () => {
    const asked = defineTool({ description: 'Asks.', inputSchema: z.object({}), execute: () => ({ ...currentCall() }) as never });
    const run = await startRun(agentWith({ tools: ['asked'] }), [{ toolCalls: [{ name: 'asked', input: {} }] }, { text: 'Done.' }], {
      id: 'r1',
      tools: { asked },
    });
    expect((await transcriptOf(run))[2]).toContain('"workflowId":"default/r1"');
    expect((await transcriptOf(run))[2]).toContain('"activityId":"agent/t1/asked.0"');
  });

  it('refuses an input that one step cannot carry', async () => {
    const heavy = withHook('heavy', 'beforeModelRewriteState', () => ({
      messages: [
        { role: 'user', parts: [{ type: 'text', text: 'x'.repeat(400_000) }] },
        ...[1, 2].map(() => ({ role: 'user' as const, parts: [{ type: 'text' as const, text: 'y'.repeat(400_000) }] })),
      ],
    }));
    const run = await startRun(agentUnder(heavy), []);
    expect(await run.outcome()).toMatchObject(failure('payload-too-large', /The input of the model call agent\/t1\/model has/));
  });
});

describe('the virtual clock', () => {
  it('fires a timer of the past a little later, never at once', () => {
    const clock = new VirtualClock(1000);
    clock.timer(5);
    expect(clock.next).toBe(1001);
    expect(clock.fireNext(1000)).toBe(false);
    expect(clock.fireNext(1001)).toBe(true);
  });

  it('rejects a timer that is cancelled, as cancelled', async () => {
    const clock = new VirtualClock(0);
    const timer = clock.timer(10);
    timer.cancel();
    await expect(timer.fired).rejects.toMatchObject({ code: 'cancelled' });
    expect(clock.next).toBeUndefined();
  });
});

it('an answer that is refused is refused as on a server: by the run first, then by the whole schema', async () => {
  const asks = before((ctx) => ctx.interrupt('Which?', { answerSchema: { type: 'string', pattern: '^a' } }));
  const run = await startRun(agentUnder(asks), [{ text: 'Done.' }]);
  const { id } = only(await run.interrupts());
  const refused = (answer: string | number) => expect(run.resume(id, answer)).rejects;
  await refused(7).toMatchObject({ code: 'answer-invalid', message: `The answer to "${id}" does not fit: it is no string.` });
  await refused('b').toMatchObject({ code: 'answer-invalid', message: expect.stringContaining('pattern') as string });
  await run.resume(id, 'a');
  expect(await run.result()).toBe('Done.');
  await refused('a').toMatchObject({ code: 'run-ended' });
});

describe('history files', () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-histories-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('are found by file, folder and pattern, and read as they were written', async () => {
    const history = {
      events: [
        {
          eventId: 1,
          eventType: 1,
          eventTime: { seconds: 1, nanos: 0 },
          workflowExecutionStartedEventAttributes: { workflowId: 'default/r1' },
        },
      ],
    };
    for (const name of ['b.json', 'a.json', 'deep/c.json', 'note.txt']) await writeHistories(join(folder, name), [history as never]);
    const idsOf = async (pattern: string): Promise<readonly string[]> => (await readHistories(join(folder, pattern))).map(({ id }) => id);
    expect(await idsOf('*.json')).toEqual(['a', 'b']);
    expect(await idsOf('**/*.json')).toEqual(['a', 'b', 'c']);
    expect(await idsOf('')).toEqual(['a', 'b', 'c']);
    expect(await idsOf('deep/*')).toEqual(['c']);
    const read = only(await readHistories(join(folder, 'a.json')));
    expect(read.history.events?.[0]?.workflowExecutionStartedEventAttributes?.workflowId).toBe('default/r1');
    await writeHistories(join(folder, 'd.json'), [history as never, history as never]);
    expect((await readHistories(join(folder, 'd.json'))).map(({ id, place }) => [id, place])).toEqual([
      ['d.1', 'd.json, history 1 of 2'],
      ['d.2', 'd.json, history 2 of 2'],
    ]);
    await expect(readHistories(join(folder, 'x*.json'))).rejects.toMatchObject({ code: 'request-invalid' });
    await expect(readHistories(join(folder, 'none.json'))).rejects.toMatchObject({ code: 'request-invalid' });
  });
});

describe('scriptedModel with a script for each model', () => {
  const pair = sequential({ name: 'pair', agents: [member('writer'), member('critic')] });

  it('answers each from its own, and has all requests in their order, also of a provider, which is asked without its own name', async () => {
    for (const prefix of ['test/', '']) {
      const model = scriptedModel({ 'test/writer': [{ text: 'A line.' }], 'test/critic': [{ text: 'Good.' }] });
      const provider: ModelProvider = { model: (name) => model.model(name.replace('test/', prefix)) };
      expect(await (await testRun(pair, { input: 'Write.', model: provider })).result()).toBe('Good.');
      expect(model.requests.map((request) => request.model)).toEqual([`${prefix}writer`, `${prefix}critic`]);
      model.assertComplete();
    }
  });

  it('says which model has no script, one call too many, or steps that are left', async () => {
    const model = scriptedModel({ 'test/writer': [{ text: 'A line.' }, { text: 'More.' }], 'test/other': [{ text: 'No.' }] });
    const run = await testRun(pair, { input: 'Write.', model });
    expect(await run.outcome()).toMatchObject({
      status: 'failed',
      error: {
        message: expect.stringContaining('there is no script for the model "test/critic", only for "test/writer", "test/other".') as string,
      },
    });
    expect(() => model.assertComplete()).toThrow(
      'scriptedModel "test/writer": the model was called 1 times, and 1 step of the script were not used: 2. {"text":"More."} ' +
        'scriptedModel "test/other": the model was called 0 times, and 1 step of the script were not used: 1. {"text":"No."}',
    );
    const short = await testRun(pair, { input: 'Write.', model: scriptedModel({ 'test/writer': [], 'test/critic': [] }) });
    expect(await short.outcome()).toMatchObject({
      error: { message: expect.stringContaining('scriptedModel "test/writer": call 1 is one too many, the script has 0 steps.') as string },
    });
  });
});
