import type { LanguageModel } from '../../../activities/models/language-model';
import { scriptedModel } from '../../../testing/index';
import { chatMiddleware } from '../../../middleware/forms/index';
import type { AgentMiddleware } from '../../../workflows/index';
import { withTraits } from '../../../workflows/index';
import { asked, failureOf, user } from '../../support/compaction-bed';
import { agentUnder, before, echo, startRun } from '../../support/memory-bed';

describe('what hooks have in ctx', () => {
  it('the language of the run', async () => {
    const seen: string[] = [];
    for (const language of [undefined, 'zh'] as const)
      await asked([before((ctx) => seen.push(ctx.language))], [user('Hi')], language === undefined ? {} : { language });
    expect(seen).toEqual(['en', 'zh']);
  });

  it('random numbers, which a continue-as-new does not throw again', async () => {
    const seen: number[] = [];
    const hook = before(async (ctx) => {
      seen.push(ctx.random(), ctx.random());
      await ctx.interrupt('Go on?');
    });
    const run = await startRun(agentUnder(hook), [{ text: 'Done.' }]);
    await run.outcome();
    await run.goOnAsNew();
    await run.outcome();
    expect(seen).toHaveLength(4);
    expect(seen.slice(2)).toEqual(seen.slice(0, 2));
    expect(seen.every((number) => number >= 0 && number < 1) && seen[0] !== seen[1]).toBe(true);
  });

  it('the last answer, with its place and its tokens, also after a continue-as-new', async () => {
    const seen: unknown[] = [];
    const hook = before(async (ctx) => {
      seen.push(ctx.lastAnswer);
      if (ctx.iteration === 2) await ctx.interrupt('Go on?');
    });
    const model = scriptedModel([{ toolCalls: [echo('x')], usage: { inputTokens: 7, outputTokens: 3 } }, { text: 'Done.' }]);
    const run = await startRun(agentUnder(hook), model);
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

it('callsTools has to be tools that the worker has, whether the agent has them or not', async () => {
  const calls = (...callsTools: readonly string[]): AgentMiddleware => ({ name: 'calls', callsTools });
  expect(await failureOf(await asked([calls('add')], [user('Hi')], { agent: { tools: ['echo'] } }))).toBe('completed');
  expect(await failureOf(await asked([calls('teleport')], [user('Hi')]))).toMatch(/^tool-unknown: .*"teleport"/);
  expect(() => agentUnder({ name: 'calls', callsTools: 'add' as never })).toThrow(
    'callsTools of the middleware "calls" must be an array of tool names. It is "add".',
  );
});

describe('what hooks know through ctx', () => {
  it('what the worker knew about a tool, and nothing of one that no worker has', async () => {
    const seen: unknown[] = [];
    const looking = before((ctx) => {
      const facts = ctx.toolFacts('echo');
      seen.push(facts?.kind, facts?.effect, Object.isFrozen(facts), ctx.toolFacts('nobody'), ctx.toolFacts('constructor'));
    });
    await asked([looking], [user('Hi')]);
    expect(seen).toEqual(['invokable', 'none', true, undefined, undefined]);
  });

  it('the calls beside a call, in the order of the model', async () => {
    const seen: unknown[] = [];
    const wrapping: AgentMiddleware = {
      name: 'wrapping',
      beforeAgent: (_, ctx) => void seen.push(ctx.callsBeside),
      wrapToolCall: (call, next, ctx) => (seen.push([call.name, ctx.callsBeside]), next(call)),
    };
    await asked([wrapping], [user('Hi')], { steps: [{ toolCalls: [echo('x'), { name: 'add', input: { a: 1 } }] }, { text: 'Done.' }] });
    const names = ['echo', 'add'];
    expect(seen).toEqual([undefined, ['echo', { position: 0, tools: names }], ['add', { position: 1, tools: names }]]);
  });

  it('the result with which the agent ended, once it has', async () => {
    const seen: unknown[] = [];
    const ending: AgentMiddleware = {
      name: 'ending',
      afterToolCalls: (_, ctx) => void seen.push(ctx.directAnswer),
      afterAgent: (_, ctx) => void seen.push(ctx.directAnswer?.parts[0]),
    };
    await asked([ending], [user('Hi')], { agent: { returnDirectly: ['echo'] }, steps: [{ toolCalls: [echo('x')] }] });
    expect(seen).toEqual([undefined, expect.objectContaining({ type: 'tool-result', output: 'x' })]);
  });

  it('what middleware of the agent says of itself', async () => {
    const seen: unknown[] = [];
    const layers = [1, 2].map((level) => withTraits<AgentMiddleware>({ name: `layer-${level}` }, { facts: { level } }));
    await asked([...layers, before((ctx) => seen.push(ctx.factsOfMiddleware('level'), ctx.factsOfMiddleware('toString')))], [user('Hi')]);
    expect(seen).toEqual([[1, 2], []]);
  });

  it('names of tools that aliases stand for, also in a middleware for chat messages', async () => {
    const seen: unknown[] = [];
    const looking = chatMiddleware({
      name: 'looking',
      afterModelRewriteState: ({ messages }, ctx) => {
        const last = messages.at(-1);
        if (last !== undefined && ctx.iteration === 1)
          seen.push(
            ctx.nameOfTool('say'),
            ctx.namedCalls(last).map(({ name }) => name),
          );
      },
    });
    const steps = [{ toolCalls: [{ name: 'say', input: { text: 'x' } }] }, { text: 'Done.' }];
    await asked([looking], [user('Hi')], { agent: { toolAliases: { echo: { names: ['say'] } } }, steps });
    expect(seen).toEqual(['echo', ['echo']]);
  });
});
