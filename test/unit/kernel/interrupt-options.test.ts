import { z } from 'zod';
import { scriptedModel, testRun } from 'holdfast/testing';
import type { AgentMiddleware, HookContext, InterruptOptions } from 'holdfast/workflow';
import { failureSaying } from '../../support/failures';
import { agentUnder, agentWith, only, startRun, toolOf, transcriptOf } from '../../support/memory-bed';
import { byHand } from '../../support/team-bed';

const asking = (options: unknown, act?: (ctx: HookContext) => unknown): AgentMiddleware => ({
  name: 'asking',
  beforeAgent: async (_, ctx) => void (await (act === undefined ? ctx.interrupt({ q: 1 }, options as InterruptOptions) : act(ctx))),
});
const started = (hook: AgentMiddleware) => startRun(agentUnder(hook), [{ text: 'Done.' }]);

const refused: readonly [unknown, string][] = [
  [{ kind: 'approval' }, 'kind must be "question" or "custom". It is "approval". To ask about a tool call, use ctx.approve.'],
  [{ kind: 'in-doubt' }, 'kind must be "question" or "custom". It is "in-doubt".'],
  [{ kind: 'input' }, 'kind must be "question" or "custom". It is "input".'],
  [{ kind: 5 }, 'kind must be "question" or "custom". It is 5.'],
  [{ kind: {} }, 'kind must be "question" or "custom". It is {}.'],
  [{ kind: null }, 'kind must be "question" or "custom". It is null.'],
  [{ deadlin: '1h' }, 'there is no option "deadlin"; did you mean deadline?'],
  [{ deadline: '1h', default: 1 }, 'there is no option "default"; there are kind, answerSchema, deadline, onDeadline, by'],
  [5, 'the options must be an object with kind, answerSchema, deadline, onDeadline, by, roles, notBy, remind, escalate, not 5.'],
  [null, 'the options must be an object with kind, answerSchema, deadline, onDeadline, by, roles, notBy, remind, escalate, not null.'],
  [[], 'the options must be an object with kind, answerSchema, deadline, onDeadline, by, roles, notBy, remind, escalate, not [].'],
  [{ deadline: 5 }, 'deadline must be a duration as a string, such as "30s", "2h" or "3d". It is 5.'],
  [{ deadline: null }, 'deadline must be a duration as a string, such as "30s", "2h" or "3d". It is null.'],
  [{ onDeadline: 1 }, 'onDeadline is given without a deadline'],
  [{ deadline: '1h', onDeadline: 'x', answerSchema: { type: 'number' } }, 'onDeadline does not fit answerSchema: it is no number.'],
  [{ answerSchema: 5 }, 'answerSchema is no JSON Schema: it is 5;'],
  [{ answerSchema: 'string' }, 'answerSchema is no JSON Schema: it is "string";'],
  [{ answerSchema: null }, 'answerSchema is no JSON Schema: it is null;'],
  [{ answerSchema: { type: 'nonsense' } }, 'answerSchema is no JSON Schema: it has a type "nonsense"'],
  [{ answerSchema: { type: 'string', pattern: '(' } }, 'answerSchema is no JSON Schema: it has a pattern "("'],
  [{ answerSchema: { enum: 'abc' } }, 'answerSchema is no JSON Schema: it has an enum'],
  [{ answerSchema: { $ref: '#/nope' } }, 'answerSchema is no JSON Schema: it has a $ref to "#/nope"'],
];

describe('the options of a question of a hook', () => {
  it.each(refused)('are refused: %j', async (options, message) => {
    const run = await started(asking(options));
    expect(await run.outcome()).toMatchObject(failureSaying('hook-failed', `ctx.interrupt: ${message}`));
    expect(await run.interrupts()).toEqual([]);
  });

  it.each(refused)('are refused in a custom agent: %j', async (options, message) => {
    const agent = byHand('c', async function* (_, ctx) {
      return String(await ctx.interrupt(1, options as never));
    });
    const run = await startRun(agent, []);
    expect(await run.outcome()).toMatchObject(failureSaying('hook-failed', message));
  });

  it.each<unknown>([
    undefined,
    {},
    { kind: undefined, answerSchema: undefined, deadline: undefined, onDeadline: undefined, by: undefined, other: undefined },
    Object.freeze({ kind: 'custom', by: Object.freeze(['ada']) }),
    { kind: 'question', answerSchema: true },
    { deadline: '1h', onDeadline: null },
    { deadline: '1h', onDeadline: 5, answerSchema: { type: 'number', 'x-own': 5 } },
    Object.assign(Object.create(null) as object, { deadline: '1h' }),
    new (class {
      deadline = '1h';
    })(),
  ])('are taken: %j', async (options) => {
    const run = await started(asking(options));
    expect(await run.interrupts()).toHaveLength(1);
  });

  it('may be caught by the code that asked, which then asks rightly', async () => {
    const run = await started(
      asking(undefined, (ctx) => ctx.interrupt('?', { kind: 'approval' } as never).catch(() => ctx.interrupt('Really?'))),
    );
    await run.resume(only(await run.interrupts()).id, 'yes');
    expect((await run.outcome()).status).toBe('completed');
  });

  it.each<[unknown, string]>([
    [null, 'the options must be an object with deadline'],
    [{ deadlin: '1h' }, 'did you mean deadline?'],
    [{ answerSchema: {} }, 'there is no option "answerSchema"'],
  ])('of a decision are refused: %j', async (options, message) => {
    const call = { id: 'c', name: 'echo', input: {} };
    const run = await started(asking(undefined, (ctx) => ctx.approve(call, options as never)));
    expect(await run.outcome()).toMatchObject({
      error: { code: 'hook-failed', message: expect.stringMatching(`ctx.approve: .*${message.replace(/[?]/g, '\\$&')}`) as string },
    });
  });
});

describe('the options of a question of a tool', () => {
  const ended = async (options: unknown) => {
    const bad = toolOf((_, context): string => context.interrupt('Go?', options as never));
    const model = scriptedModel([{ toolCalls: [{ name: 'bad', input: {} }] }, { text: 'Done.' }]);
    return testRun(agentWith({ tools: ['bad'] }), { input: 'Hi', model, tools: { bad } });
  };

  it.each<[unknown, string]>([
    [null, 'the second argument must be an object. It is null'],
    [5, 'the second argument must be an object. It is 5'],
    [{ kind: 'approval' }, 'there is no option "kind"; there are state, answerSchema, deadline.'],
    [{ deadline: '1h', onDeadline: 1 }, 'there is no option "onDeadline"; '],
    [{ deadline: 5 }, 'deadline must be a duration such as'],
    [{ answerSchema: 5 }, 'answerSchema must be a schema of zod'],
    [{ answerSchema: { type: 'string' } }, 'answerSchema must be a schema of zod'],
  ])('are refused: %j', async (options, message) => {
    const run = await ended(options);
    expect((await transcriptOf(run))[2]).toContain(`error The interrupt of the tool was asked for wrongly: ${message}`);
  });

  it.each<unknown>([
    undefined,
    { state: undefined, answerSchema: undefined, deadline: undefined, other: undefined },
    { answerSchema: z.string() },
  ])('are taken: %j', async (options) => expect(await (await ended(options)).interrupts()).toHaveLength(1));
});
