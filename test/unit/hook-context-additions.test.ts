import type { LanguageModel } from '../../activities/models/models';
import { scriptedModel, testRun } from '../../testing/index';
import type { AgentMiddleware, HookContext } from '../../workflows/index';
import { asked, failureOf, user } from '../support/compaction-bed';
import { agentUnder, echo, tools } from '../support/memory-bed';

const before = (act: (ctx: HookContext) => unknown): AgentMiddleware => ({
  name: 'hook',
  beforeModelRewriteState: async (_, ctx) => void (await act(ctx)),
});

describe('what hooks have in ctx', () => {
  it('the language of the run', async () => {
    const seen: string[] = [];
    for (const language of [undefined, 'zh'] as const)
      await asked([before((ctx) => seen.push(ctx.language))], [user('Hi')], language === undefined ? {} : { language });
    expect(seen).toEqual(['en', 'zh']);
  });

  it('random numbers, which a border does not throw again', async () => {
    const seen: number[] = [];
    const hook = before(async (ctx) => {
      seen.push(ctx.random(), ctx.random());
      await ctx.interrupt('Go on?');
    });
    const run = await testRun(agentUnder(hook), { input: 'Hi', model: scriptedModel([{ text: 'Done.' }]), tools });
    await run.outcome();
    await run.goOnAsNew();
    await run.outcome();
    expect(seen).toHaveLength(4);
    expect(seen.slice(2)).toEqual(seen.slice(0, 2));
    expect(seen.every((number) => number >= 0 && number < 1) && seen[0] !== seen[1]).toBe(true);
  });

  it('the last answer, with its place and its tokens, also behind a border', async () => {
    const seen: unknown[] = [];
    const hook = before(async (ctx) => {
      seen.push(ctx.lastAnswer);
      if (ctx.iteration === 2) await ctx.interrupt('Go on?');
    });
    const model = scriptedModel([{ toolCalls: [echo('x')], usage: { inputTokens: 7, outputTokens: 3 } }, { text: 'Done.' }]);
    const run = await testRun(agentUnder(hook), { input: 'Hi', model, tools });
    await run.outcome();
    await run.goOnAsNew();
    await run.outcome();
    expect(seen).toEqual([undefined, { position: 1, tokens: 10 }, { position: 1, tokens: 10 }]);
  });

  it('no last answer once a message before it has changed, or when the model reported nothing', async () => {
    const seen: unknown[] = [];
    const changing: AgentMiddleware = {
      name: 'changing',
      afterToolCalls: ({ messages }) => ({ messages: [user('Changed.'), ...messages.slice(1)] }),
    };
    const steps = [{ toolCalls: [echo('x')], usage: { inputTokens: 7, outputTokens: 3 } }, { toolCalls: [echo('x')] }, { text: 'Done.' }];
    await asked([changing, before((ctx) => seen.push(ctx.lastAnswer))], [user('Hi')], { steps });
    await asked([before((ctx) => seen.push(ctx.lastAnswer?.tokens))], [user('Hi')], { steps });
    expect(seen).toEqual([undefined, undefined, undefined, undefined, 10, undefined]);
  });

  it('a call of a model that the server does not make again', async () => {
    const calls: string[] = [];
    const other: LanguageModel = {
      generate: async () => {
        calls.push('call');
        throw Object.assign(new Error('busy'), { isRetryable: true });
      },
    };
    const errors: string[] = [];
    const once = before((ctx) =>
      ctx.model('test/other', { messages: [user('Hi')], retry: false }).catch((error: Error) => errors.push(error.message)),
    );
    await asked([once], [user('Hi')], { models: { other } });
    expect([calls.length, errors.length]).toEqual([1, 1]);
    const again = before((ctx) => ctx.model('test/other', { messages: [user('Hi')] }));
    await asked([again], [user('Hi')], { models: { other } });
    expect(calls.length).toBeGreaterThan(2);
  });
});

describe('callsTools', () => {
  it('has to be tools that the worker has, whether the agent has them or not', async () => {
    const calls = (...callsTools: readonly string[]): AgentMiddleware => ({ name: 'calls', callsTools });
    expect(await failureOf(await asked([calls('add')], [user('Hi')], { agent: { tools: ['echo'] } }))).toBe('completed');
    expect(await failureOf(await asked([calls('teleport')], [user('Hi')]))).toMatch(/^tool-unknown: .*"teleport"/);
    expect(() => agentUnder({ name: 'calls', callsTools: 'add' as never })).toThrow(
      'callsTools of the middleware "calls" is a list of names of tools.',
    );
  });
});
