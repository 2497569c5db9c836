import { scriptedModel } from 'holdfast/testing';
import type { WorkerMiddleware } from 'holdfast/worker';
import { defineWorkerMiddleware } from 'holdfast/worker';
import type { AgentMiddleware } from 'holdfast/workflow';
import { onWorker } from 'holdfast/workflow';
import type { EventBody } from '../../../contract/events';
import type { MiddlewareChange } from '../../../contract/middleware-changes';
import { withChange } from '../../../contract/middleware-changes';
import { agentUnder, agentWith, logOf, startRun, withHook } from '../../support/memory-bed';

type End = Extract<EventBody, { type: 'model-end' | 'tool-end' }>;

const text = (words: string) => [{ type: 'text' as const, text: words }];

async function changesOf(middleware: readonly AgentMiddleware[], worker: readonly WorkerMiddleware[] = []) {
  const model = scriptedModel([{ toolCalls: [{ id: 'c', name: 'echo', input: { text: 'hi' } }] }, { text: 'Done.' }]);
  const run = await startRun(agentWith({ tools: ['echo'], middleware }), model, { middleware: worker });
  const ends = (await logOf(run)).filter((event): event is typeof event & End => event.type === 'model-end' || event.type === 'tool-end');
  return ends.map(({ changes }) => changes);
}

const passing: AgentMiddleware = {
  name: 'passing',
  beforeModelRewriteState: ({ messages, tools: named }) => ({ messages: [...messages], tools: [...named] }),
  wrapModel: async (request, next) => {
    const response = await next({ ...request, messages: request.messages.map((message) => ({ ...message })) });
    return { ...response, message: { ...response.message } };
  },
  wrapToolCall: async (call, next) => {
    const output = await next({ ...call, input: JSON.parse(JSON.stringify(call.input)) });
    return JSON.parse(JSON.stringify(output));
  },
};

describe('the end of a call', () => {
  it('tells nothing where middleware hand on what they got, also as copies', async () => {
    expect(await changesOf([passing])).toEqual([undefined, undefined, undefined]);
  });

  it.each([0, 1])('tells nothing of who asked the model twice and gives answer %i, also behind a continue-as-new', async (chosen) => {
    const twice = withHook('twice', 'wrapModel', async (request, next, ctx) => {
      const both = await Promise.all([next(request), next(request)]);
      await ctx.sleep('1m');
      return both[chosen] ?? next(request);
    });
    const run = await startRun(agentUnder(twice), [{ text: 'One.' }, { text: 'Two.' }]);
    await run.outcome();
    await run.goOnAsNew();
    await run.advance('1m');
    expect((await logOf(run)).flatMap((event) => (event.type === 'model-end' ? [event.changes] : []))).toEqual([undefined]);
  });

  it('names who changed the request of a model, and who its answer', async () => {
    const told: AgentMiddleware = { name: 'told', wrapModel: (request, next) => next({ ...request, instructions: 'Be brief.' }) };
    const shy = withHook('shy', 'wrapModel', async (request, next) => {
      const { message, ...rest } = await next(request);
      const parts = message.parts.map((part) => (part.type === 'text' ? { ...part, text: 'Hm.' } : part));
      return { ...rest, message: { ...message, parts } };
    });
    expect(await changesOf([told, shy])).toEqual([
      [{ middleware: 'told', hook: 'wrapModel', changed: ['instructions'] }],
      undefined,
      [
        { middleware: 'told', hook: 'wrapModel', changed: ['instructions'] },
        { middleware: 'shy', hook: 'wrapModel', changed: ['answer'] },
      ],
    ]);
  });

  it('names hooks that changed what the model is asked next, once', async () => {
    const adds: AgentMiddleware = {
      name: 'adds',
      beforeAgent: () => ({ instructions: 'Be brief.' }),
      afterToolCalls: ({ messages }) => ({ messages: [...messages, { role: 'user', parts: text('Go on.') }] }),
    };
    expect(await changesOf([adds])).toEqual([
      [{ middleware: 'adds', hook: 'beforeAgent', changed: ['instructions'] }],
      undefined,
      [{ middleware: 'adds', hook: 'afterToolCalls', changed: ['messages'] }],
    ]);
  });

  it('names who changed the arguments of a tool, and who its result', async () => {
    const louder: AgentMiddleware = { name: 'louder', wrapToolCall: (call, next) => next({ ...call, input: { text: 'HI' } }) };
    const instead: AgentMiddleware = { name: 'instead', wrapToolCall: async () => 'no' };
    expect((await changesOf([louder, instead]))[1]).toEqual([
      { middleware: 'louder', hook: 'wrapToolCall', changed: ['arguments'] },
      { middleware: 'instead', hook: 'wrapToolCall', changed: ['result'] },
    ]);
  });

  it('names the worker middleware behind those of the workflow', async () => {
    const hides = defineWorkerMiddleware('hides', () => ({
      wrapModel: {
        generate: (request, next) => next({ ...request, messages: request.messages.map((message) => ({ ...message, parts: text('…') })) }),
      },
      wrapInvokableToolCall: async (input, next) => [await next(input)],
    }));
    const told: AgentMiddleware = { name: 'told', wrapModel: (request, next) => next({ ...request, instructions: 'X' }) };
    const [model, tool] = await changesOf([told, onWorker('hides')], [hides]);
    expect(model).toEqual([
      { middleware: 'told', hook: 'wrapModel', changed: ['instructions'] },
      { middleware: 'hides', hook: 'wrapModel', changed: ['messages'], onWorker: true },
    ]);
    expect(tool).toEqual([{ middleware: 'hides', hook: 'wrapInvokableToolCall', changed: ['result'], onWorker: true }]);
  });
});

it('the list of changes joins what one hook did, and ends somewhere', () => {
  const one = { middleware: 'a', hook: 'wrapModel', changed: ['tools'] as const };
  expect(withChange(withChange([], one), { ...one, changed: ['model', 'tools'] })).toEqual([{ ...one, changed: ['tools', 'model'] }]);
  const many = Array.from({ length: 40 }, (_, n) => ({ ...one, middleware: `m${n}` }));
  expect(many.reduce<readonly MiddlewareChange[]>(withChange, [])).toHaveLength(16);
});
