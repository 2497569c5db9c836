import { z } from 'zod';
import type { CallToolInput, CallToolResult } from '../../../contract/record/wire';
import type { Agent } from '../../../kernel/define/agent-ref';
import { definitionOf } from '../../../kernel/define/definition';
import { MemoryRun } from '../../../testing/memory/run';
import type { TestRun } from '../../../testing/index';
import { scriptedModel, testRun } from '../../../testing/index';
import { defineTool } from '../../../activities/tools/tools';
import { agentWith, gate, only, transcriptOf } from '../../support/memory-bed';
import { memoryStart, scriptedWork } from '../../support/scripted-work';

const same = (text: string) => ({ name: 'note', input: { text }, id: 'same-id' });
const keys: string[] = [];
const note = defineTool({
  description: 'Notes.',
  inputSchema: z.object({ text: z.string() }),
  execute: ({ text }, call) => (keys.push(`${call.callId} ${call.idempotencyKey}`), text),
});
const once = defineTool({ ...note, effect: 'once' });

const runKeys = ['agent/t1/note.0', 'agent/t1/note.1', 'agent/t2/note.0'].map((address) => `default/test/${address}`);
const results = async (run: TestRun) => (await transcriptOf(run)).filter((line) => line.startsWith('tool'));

beforeEach(() => {
  keys.length = 0;
});

describe('calls with the same id of the provider', () => {
  const start = (tool: object, lose?: Parameters<typeof testRun>[1]['lose']) => {
    const model = scriptedModel([{ toolCalls: [same('a'), same('b')] }, { toolCalls: [same('c')] }, { text: 'Done.' }]);
    const options = { input: 'Hi', model, tools: { note: tool }, ...(lose === undefined ? {} : { lose }) };
    return testRun(agentWith({ tools: ['note'] }), options);
  };

  it.each([
    ['', note],
    [', also with effect once', once],
  ])('have keys of their own and get their own results%s', async (_, tool) => {
    const run = await start(tool);
    expect(await results(run)).toEqual(['tool: a', 'tool: b', 'tool: c']);
    expect(keys).toEqual(runKeys.map((key) => `same-id ${key}`));
  });

  it('are doubted one by one when one of them was lost', async () => {
    const run = await start(once, ({ input, reconcile }) =>
      (input as { text: string }).text === 'b' && !reconcile && keys.length < 3 ? 'before' : undefined,
    );
    const doubt = only(await run.interrupts());
    expect(doubt).toMatchObject({ kind: 'in-doubt', info: { input: { text: 'b' } } });
    await run.resume(doubt.id, { happened: true, result: 'b, says Ada' });
    expect(await results(run)).toEqual(['tool: a', 'tool: b, says Ada', 'tool: c']);
  });

  it('are reconciled under the key of the lost call', async () => {
    const asked: string[] = [];
    const reconciling = {
      ...once,
      reconcile: (_: unknown, call: { idempotencyKey: string }) => (asked.push(call.idempotencyKey), { happened: false as const }),
    };
    const lost = new Set<string>();
    const run = await start(reconciling, ({ input, reconcile }) => {
      const { text } = input as { text: string };
      return text === 'a' || reconcile || lost.has(text) ? undefined : (lost.add(text), 'before');
    });
    expect(await results(run)).toEqual(['tool: a', 'tool: b', 'tool: c']);
    expect(asked).toEqual(runKeys.slice(1));
    expect(keys.map((key) => key.split(' ')[1])).toEqual(runKeys);
  });

  it('are asked about one by one, and each gets its own answer', async () => {
    const asking = defineTool({
      ...note,
      execute: ({ text }, call): string => (call.resumed === undefined ? call.interrupt(text) : `${text}: ${String(call.resumed.answer)}`),
    });
    const run = await start(asking);
    const [first, second] = await run.interrupts();
    await run.resume(second?.id ?? '', 'two');
    await run.resume(first?.id ?? '', 'one');
    await run.resume(only(await run.interrupts()).id, 'three');
    expect(await results(run)).toEqual(['tool: a: one', 'tool: b: two', 'tool: c: three']);
  });
});

describe('a stale result', () => {
  const begin = (callTool: (real: CallTool) => CallTool) => {
    const work = scriptedWork([{ toolCalls: [same('a'), same('b')] }, { text: 'Done.' }], { note });
    const agents = new Map([['agent', definitionOf(agentWith({ tools: ['note'] }) as Agent)]]);
    return new MemoryRun(agents, { start: memoryStart }, { ...work, callTool: callTool(work.callTool.bind(work)) }, 0);
  };
  type CallTool = ReturnType<typeof scriptedWork>['callTool'];

  it('never answers for another call', async () => {
    let first: CallToolResult | undefined;
    const run = begin((real) => async (input, call) => {
      const result = await real(input, call);
      return (first ??= result);
    });
    await run.idle();
    expect(run.view()).toMatchObject({
      status: 'failed',
      error: { code: 'internal', message: 'The tool call agent/t1/note.1 got the result of agent/t1/note.0.' },
    });
  });

  it('of an earlier execution does not arrive when the later one has answered', async () => {
    const late = gate();
    const inputs: CallToolInput[] = [];
    const run = begin((real) => async (input, call) => {
      inputs.push(input);
      if (input.input !== null && (input.input as { text: string }).text === 'a') await late.opened;
      return real(input, call);
    });
    while (inputs.length < 2) await new Promise((resolve) => setImmediate(resolve));
    late.open();
    await run.idle();
    expect(run.view()).toMatchObject({ status: 'completed' });
    const { messages } = run.view();
    expect(messages.slice(2, 4).map(({ parts }) => (parts[0] as { output: unknown }).output)).toEqual(['a', 'b']);
  });
});
