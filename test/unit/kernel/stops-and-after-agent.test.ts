import type { GenerateAnswer, GenerateRequest, ModelProvider } from '../../../activities/models/language-model';
import type { Agent } from '../../../kernel/define/agent-ref';
import type { AgentMiddleware } from '../../../kernel/define/middleware';
import { scriptedModel } from '../../../testing/index';
import { StopError, agentTool, defineAgent, parallel, sequential } from '../../../workflows/index';
import { agentCallbacks, callbacks, modelCallbacks, plugin } from '../../../middleware/callbacks/index';
import { agentUnder, agentWith, echo, gate, logOf, startRun, toolOf, tools } from '../../support/memory-bed';
import { failure } from '../../support/failures';

const stop = (): never => {
  throw new StopError('out of budget');
};
const panic = (): never => {
  throw 'bare';
};
const stopsBeforeModel = modelCallbacks().registerBefore(stop).asMiddleware();

const member = (name: string, ...middleware: readonly AgentMiddleware[]): Agent<string, string, string> =>
  defineAgent({ name, description: `The ${name}.`, instructions: '', model: name, tools: ['echo'], middleware });

describe('callbacks behind an agent see why it failed', () => {
  const seen = async (middleware: readonly AgentMiddleware[], options: Parameters<typeof agentWith>[0] = {}): Promise<unknown[]> => {
    const errors: unknown[] = [];
    const looks = agentCallbacks().registerAfter(({ error }) => void errors.push(error?.message, (error as { code?: string }).code));
    const agent = agentWith({ middleware: [...middleware, looks.asMiddleware()], ...options });
    const run = await startRun(
      agent,
      ['a', 'b', 'c'].map((text) => ({ toolCalls: [echo(text)] })),
    );
    await run.outcome();
    return errors;
  };

  const quota = callbacks({ plugins: [plugin({ name: 'quota', beforeModel: stop })] });
  const bug: AgentMiddleware = { name: 'bug', afterToolCalls: () => JSON.parse('{') as never };
  it.each<[string, readonly AgentMiddleware[], Parameters<typeof agentWith>[0], RegExp, string]>([
    ['was stopped', [quota], {}, /^stopped: quota: out of budget$/, 'stopped'],
    ['reached its limit of iterations', [], { maxIterations: 1 }, /^max-iterations: Agent "agent" exceeds/, 'max-iterations'],
    ['reached its limit of tools', [], { maxToolIterations: 1 }, /^max-tool-iterations: Agent "agent" has no/, 'max-tool-iterations'],
    ['has a hook that failed', [bug], {}, /^hook-failed: /, 'hook-failed'],
  ])('when it %s', async (_, middleware, options, message, code) => {
    expect(await seen(middleware, options)).toEqual([expect.stringMatching(message), code]);
  });
});

describe('a callback that throws no error, or returns none of its results', () => {
  const rejects = (): Promise<never> => Promise.reject(new Error('before agent callback panic: quoted'));
  const beforeAgent = (act: Parameters<ReturnType<typeof agentCallbacks>['registerBefore']>[0]): AgentMiddleware =>
    agentCallbacks().registerBefore(act).asMiddleware();

  it.each<[string, AgentMiddleware, string]>([
    ['before the agent', beforeAgent(panic), 'before agent callback panic: bare'],
    ['after the agent', agentCallbacks().registerAfter(panic).asMiddleware(), 'after agent callback panic: bare'],
    ['before the model', modelCallbacks().registerBefore(panic).asMiddleware(), 'before model callback panic: bare'],
    ['of a plugin', callbacks({ plugins: [plugin({ name: 'p', afterModel: panic })] }), 'p: after model callback panic: bare'],
    ['by a number', beforeAgent(() => 5 as never), 'before agent callback returned a number; return nothing or an object'],
    ['by an error of its own', beforeAgent(rejects), 'before agent callback failed: before agent callback panic: quoted'],
  ])('%s names its place once', async (_, middleware, message) => {
    const run = await startRun(agentUnder(middleware), [{ text: 'Done.' }]);
    expect(await run.outcome()).toEqual({ status: 'failed', error: { code: 'callback-failed', message } });
  });
});

describe('a stop ends the run that somebody started', () => {
  it.each([false, true])('from an agent as a tool (isolated: %s), and its caller is not asked again', async (isolate) => {
    const tools = [agentTool(member('helper', stopsBeforeModel), { isolate })];
    const boss = defineAgent({ name: 'boss', description: 'Asks.', instructions: '', model: 'boss', tools });
    const model = scriptedModel({ boss: [{ toolCalls: [{ name: 'helper', input: { request: 'Help.' } }] }] });
    const run = await startRun(boss, model);
    expect(await run.outcome()).toMatchObject(failure('stopped', isolate ? "The agent 'helper' failed: out of budget" : 'out of budget'));
    expect(model.requests).toHaveLength(1);
  });

  it.each([false, true])('from one of several in parallel (isolated: %s): those beside it call no model any more', async (isolate) => {
    const door = gate();
    let signalled = false;
    const wait = toolOf(async (_, call) => {
      door.open();
      await new Promise<void>((resolve) => call.signal.addEventListener('abort', () => resolve(), { once: true }));
      signalled = true;
      return 'late';
    });
    const stops: AgentMiddleware = { name: 'stops', wrapModel: async (request, next) => (await next(request), stop()) };
    const slow = defineAgent({ name: 'slow', description: 'Slow.', instructions: '', model: 'slow', tools: ['wait'] });
    const team = parallel({ name: 'team', agents: [slow, member('stopped', stops)], isolate });
    const scripted = scriptedModel({
      slow: [{ toolCalls: [{ name: 'wait', input: {} }] }, { text: 'Too late.' }],
      stopped: [{ text: 'Hm.' }],
      last: [{ text: 'No.' }],
    });
    const model: ModelProvider = {
      model: async (name) => {
        const { generate } = await scripted.model(name);
        const held = async (request: GenerateRequest): Promise<GenerateAnswer> => {
          if (name.endsWith('stopped')) await door.opened;
          return generate(request);
        };
        return { generate: held };
      },
    };
    const run = await startRun(sequential({ name: 'all', agents: [team, member('last')] }), model, {
      tools: { ...tools, wait },
      stream: false,
    });
    expect(await run.outcome()).toMatchObject(failure('stopped', /out of budget/));
    expect(signalled).toBe(true);
    expect(scripted.requests).toHaveLength(2);
    expect((await logOf(run)).at(-1)).toMatchObject({ type: 'run-end', error: { code: 'stopped' } });
  });

  it('and people whom those beside it ask are asked no more', async () => {
    const asks: AgentMiddleware = { name: 'asks', beforeAgent: async (_, ctx) => void (await ctx.interrupt('Go?')) };
    const waits: AgentMiddleware = { name: 'waits', beforeAgent: async (_, ctx) => (await ctx.sleep('1h'), stop()) };
    const run = await startRun(parallel({ name: 'team', agents: [member('asking', asks), member('stopping', waits)] }), []);
    expect(await run.interrupts()).toHaveLength(1);
    await run.goOnAsNew();
    await run.advance('1h');
    expect(await run.outcome()).toMatchObject({ status: 'failed', error: { code: 'stopped', message: 'out of budget' } });
    expect((await logOf(run)).filter(({ type }) => type === 'interrupt-end')).toMatchObject([{ reason: 'cancel' }]);
  });

  it('and an agent that only fails takes no other with it', async () => {
    const failing: AgentMiddleware = { name: 'fails', beforeAgent: () => Promise.reject(new Error('boom')) };
    const model = scriptedModel({ other: [{ toolCalls: [echo('x')] }, { text: 'Done.' }] });
    const run = await startRun(parallel({ name: 'team', agents: [member('failing', failing), member('other')] }), model);
    expect(await run.outcome()).toMatchObject({ status: 'failed', error: { code: 'hook-failed' } });
    expect(model.requests).toHaveLength(2);
  });
});
