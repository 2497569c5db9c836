import { scriptedModel } from 'holdfast/testing';
import type { AgentMiddleware } from 'holdfast/workflow';
import { failureSaying } from '../../support/failures';
import { agentUnder, echo, fails, startRun, transcriptOf } from '../../support/memory-bed';

const twoTurns = () => scriptedModel([{ toolCalls: [echo('x')] }, { text: 'Done.' }]);
const user = (text: string) => ({ role: 'user' as const, parts: [{ type: 'text' as const, text }] });

describe('hooks', () => {
  it.each(['beforeAgent', 'beforeModelRewriteState', 'afterModelRewriteState', 'afterToolCalls'] as const)(
    'that stand behind a %s that throws do not run',
    async (hook) => {
      const never = jest.fn();
      const run = await startRun(agentUnder({ name: 'failing', [hook]: fails('no') }, { name: 'never', [hook]: never }), twoTurns());
      expect(await run.outcome()).toMatchObject(failureSaying('hook-failed', `${hook} of middleware "failing" failed: no`));
      expect(never).not.toHaveBeenCalled();
    },
  );

  it.each([
    ['a list', [], /returned object; return nothing or an object/],
    ['a text', 'keep', /returned string; return nothing or an object/],
    ['messages that are none', { messages: [{ role: 'nobody' }] }, /message 0 is no message/],
    ['messages that are no list', { messages: 'all' }, /returned messages that are no list/],
    ['tools that are no names', { tools: [1] }, /returned tools that are no list of names/],
    ['a tool that no worker has', { tools: ['teleport'] }, /named the tool "teleport", which no worker has/],
    ['values that are not JSON', { values: { when: new Date(0) } }, /passed on a value that is not JSON: when is a Date/],
  ])('that return %s fail the run by name', async (_, update, message) => {
    const bad = { name: 'bad', beforeModelRewriteState: () => update } as unknown as AgentMiddleware;
    const run = await startRun(agentUnder(bad), twoTurns());
    const outcome = await run.outcome();
    expect(outcome).toMatchObject({ status: 'failed', error: { message: expect.stringMatching(message) } });
    expect(outcome).toMatchObject({ error: { message: expect.stringContaining('beforeModelRewriteState of middleware "bad"') } });
  });

  it('that leave no message fail the run as the spec says', async () => {
    const empty: AgentMiddleware = { name: 'empty', afterModelRewriteState: () => ({ messages: [] }) };
    const run = await startRun(agentUnder(empty), twoTurns());
    expect(await run.outcome()).toMatchObject(failureSaying('message-invalid', 'after the model call'));
  });

  it('pass values on to later hooks, wraps and turns', async () => {
    const seen: unknown[] = [];
    const first: AgentMiddleware = {
      name: 'first',
      beforeAgent: () => ({ values: { tier: 'gold' } }),
      beforeModelRewriteState: (_, ctx) => ({ values: { turn: ctx.iteration } }),
    };
    const second: AgentMiddleware = {
      name: 'second',
      beforeModelRewriteState: (_, ctx) => void seen.push({ ...ctx.values }),
      wrapToolCall: (call, next, ctx) => (seen.push({ ...ctx.values }), next(call)),
    };
    await (await startRun(agentUnder(first, second), twoTurns(), { values: { user: 'u1' } })).outcome();
    expect(seen).toEqual([
      { user: 'u1', tier: 'gold', turn: 1 },
      { user: 'u1', tier: 'gold', turn: 1 },
      { user: 'u1', tier: 'gold', turn: 2 },
    ]);
  });

  it('do not share what they return with the run', async () => {
    const message = user('mutable');
    const list = [message];
    const sharing: AgentMiddleware = {
      name: 'sharing',
      beforeModelRewriteState: () => ({ messages: list }),
      afterModelRewriteState: () => {
        list.length = 0;
      },
    };
    const run = await startRun(agentUnder(sharing), [{ text: 'Done.' }]);
    await run.outcome();
    expect(await transcriptOf(run)).toEqual(['user: mutable', 'assistant: Done.']);
  });
});
