import { HoldfastError } from 'holdfast/workflow';
import { callbacks, modelCallbacks } from 'holdfast/callbacks';
import type { AgentMiddleware, HookContext, WorkflowTool } from 'holdfast/workflow';
import { onWorker } from 'holdfast/workflow';
import { defineTool, defineWorkerMiddleware } from 'holdfast/worker';
import type { testRun } from 'holdfast/testing';
import { scriptedModel } from 'holdfast/testing';
import { z } from 'zod';
import { messageOf, thrownCodeOf } from '../../../contract/errors';
import { failureSaying } from '../../support/failures';
import { agentWith, echo, fails, startRun, tools } from '../../support/memory-bed';
import { byHand } from '../../support/team-bed';

const ofTheEngine = [
  'run-timed-out',
  'run-terminated',
  'run-stuck',
  'frame-changed',
  'stopped',
  'child-cancelled',
  'internal',
  'outside-run',
];
const withCode = (code: string): Error => Object.assign(new Error('mine'), { code });

const outcomeOf = async (agent: ReturnType<typeof agentWith>, more: Partial<Parameters<typeof testRun>[1]> = {}) => {
  return (await startRun(agent, [{ toolCalls: [echo('x')] }, { text: 'Done.' }], { ...more })).outcome();
};

describe.each(ofTheEngine)('an error that is none of Holdfast cannot end a run with %s,', (code) => {
  const fail = (): never => {
    throw withCode(code);
  };

  it.each<[string, AgentMiddleware, string]>([
    ['thrown by a hook', { name: 'm', beforeModelRewriteState: fail }, 'beforeModelRewriteState of middleware "m" failed: mine'],
    [
      'thrown by a hook later',
      { name: 'm', beforeAgent: async () => Promise.reject(withCode(code)) },
      'beforeAgent of middleware "m" failed',
    ],
    ['thrown by a wrap of the model', { name: 'm', wrapModel: fail }, 'wrapModel of middleware "m" failed: mine'],
    ['thrown by a wrap of a tool', { name: 'm', wrapToolCall: fail }, 'wrapToolCall of middleware "m" failed: mine'],
    ['thrown by an observer', { name: 'm', onStart: fail }, 'onStart of middleware "m" failed: mine'],
  ])('%s', async (_, layer, message) => {
    expect(await outcomeOf(agentWith({ middleware: [layer] }))).toMatchObject(failureSaying('hook-failed', message));
  });

  it('thrown by a callback', async () => {
    const layer = callbacks({ model: modelCallbacks().registerBefore(fail) });
    expect(await outcomeOf(agentWith({ middleware: [layer] }))).toMatchObject({
      error: { code: 'callback-failed', message: 'before model callback failed: mine' },
    });
  });

  it('thrown by a custom agent', async () => {
    const hand = byHand('hand', async function* () {
      yield { output: 1 };
      fail();
    });
    expect(await outcomeOf(hand as never)).toMatchObject({ error: { code: 'hook-failed', message: 'agent "hand" failed: mine' } });
  });

  it('thrown by a tool of the run, of which the model is told', async () => {
    const tool: WorkflowTool = { name: 'own', description: 'Own.', inputSchema: {}, execute: fail };
    const model = scriptedModel([{ toolCalls: [{ name: 'own', input: {} }] }, { text: 'Done.' }]);
    expect(await outcomeOf(agentWith({ tools: [tool] }), { model })).toMatchObject({ status: 'completed' });
    expect(JSON.stringify(model.requests[1]?.messages)).toContain("The tool 'own' failed: mine");
  });

  it('given as the error of a verdict', async () => {
    const retry = { maxRetries: 1, shouldRetry: () => ({ retry: false, rewriteError: withCode(code) }) } as const;
    expect(await outcomeOf(agentWith({ retry }))).toMatchObject({ error: { code: 'model-failed', message: 'mine' } });
  });
});

describe.each(['worker-half-missing', 'run-timed-out', 'next-left-running', 'tool-unknown', 'cancelled'])(
  'on the worker an error that is none of Holdfast, with %s,',
  (code) => {
    const fail = (): never => {
      throw withCode(code);
    };

    it('is the failure of the tool that threw it', async () => {
      const bad = defineTool({ description: 'Bad.', inputSchema: z.object({}), execute: fail });
      const model = scriptedModel([{ toolCalls: [{ name: 'bad', input: {} }] }, { text: 'Done.' }]);
      const agent = agentWith({ tools: ['bad'], toolErrors: 'fail' });
      expect(await outcomeOf(agent, { model, tools: { ...tools, bad } })).toMatchObject({
        status: 'failed',
        error: { code: 'tool-failed', message: "The tool 'bad' failed: mine" },
      });
    });

    it('is blamed on the half that threw it', async () => {
      const middleware = [defineWorkerMiddleware('half', () => ({ wrapModel: { generate: fail } }))];
      expect(await outcomeOf(agentWith({ middleware: [onWorker('half')] }), { middleware })).toMatchObject({
        error: { code: code.startsWith('tool-') ? code : 'hook-failed' },
      });
    });
  },
);

it('an error with the code of a cancellation, thrown by a tool of the run, is a failure of the tool', async () => {
  const own: WorkflowTool = { name: 'own', description: 'Own.', inputSchema: {}, execute: () => Promise.reject(withCode('cancelled')) };
  const model = scriptedModel([{ toolCalls: [{ name: 'own', input: {} }] }, { text: 'Done.' }]);
  expect(await outcomeOf(agentWith({ tools: [own] }), { model })).toMatchObject({ status: 'completed' });
  expect(JSON.stringify(model.requests[1]?.messages)).toContain("The tool 'own' failed: mine");
});

describe('an error may have a code', () => {
  const outcomeWith = async (error: unknown) =>
    outcomeOf(agentWith({ middleware: [{ name: 'm', wrapModel: () => Promise.reject(error) }] }));

  it.each(['model-refused', 'tool-failed', 'input-invalid', 'call-limit', 'agent-failed'])(
    'of models, tools and checks: %s',
    async (code) => {
      expect(await outcomeWith(withCode(code))).toMatchObject({ error: { code, message: 'mine' } });
    },
  );

  it('of any kind, when it is made as an error of Holdfast', async () => {
    expect(await outcomeWith(new HoldfastError('run-terminated', 'Ended there.'))).toMatchObject({
      error: { code: 'run-terminated', message: 'Ended there.' },
    });
  });

  it('that is its own, which counts for nothing here', async () => {
    expect(await outcomeWith(withCode('ECONNRESET'))).toMatchObject(failureSaying('hook-failed'));
  });

  it('that came from the run, and keeps it where it passes on', async () => {
    const late = async (_: unknown, __: unknown, ctx: HookContext): Promise<never> => ctx.interrupt('Sure?', { deadline: '1h' });
    const run = await startRun(agentWith({ middleware: [{ name: 'm', wrapModel: late }] }), []);
    await run.advance('2h');
    expect(await run.outcome()).toMatchObject(failureSaying('interrupt-expired'));
  });

  it('also from another realm', () => {
    expect(thrownCodeOf({ name: 'HoldfastError', code: 'stopped', message: 'x' })).toBe('stopped');
    expect(thrownCodeOf({ code: 'stopped', message: 'x' })).toBeUndefined();
    expect(thrownCodeOf({ code: 'tool-timeout', message: 'x' })).toBe('tool-timeout');
    for (const none of [undefined, null, 'stopped', new Error('stopped')]) expect(thrownCodeOf(none)).toBeUndefined();
  });
});

it('an error whose own fields throw has no code, and says something', () => {
  const broken = Object.defineProperties(
    {},
    Object.fromEntries(['code', 'name', 'message', 'toJSON', 'toString'].map((name) => [name, { get: fails('broken') }])),
  );
  expect(thrownCodeOf(broken)).toBeUndefined();
  expect(messageOf(broken)).toBe('an error that does not say what it is');
});
