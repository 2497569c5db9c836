import type { ScriptedStep, TestRun } from 'holdfast/testing';
import { scriptedModel } from 'holdfast/testing';
import { approval, askHuman, policy } from 'holdfast/middleware';
import type { Agent, AgentMiddleware, HookContext, InterruptOptions } from 'holdfast/workflow';
import type { Json } from '../../../contract/messages/messages';
import type { tools } from '../../support/memory-bed';
import { failureSaying } from '../../support/failures';
import { agentUnder, agentWith, echo, only, startRun } from '../../support/memory-bed';
import { byHand } from '../../support/team-bed';

interface Asked extends InterruptOptions {
  readonly text?: Json;
}

const asking = (
  { text = 'May I delete one draft?', ...options }: Asked = {},
  then?: (ctx: HookContext) => Promise<unknown>,
): Agent<'desk'> =>
  byHand('desk', async function* (_, ctx) {
    const answer = await ctx.interrupt(text, options);
    await (then === undefined ? ctx.sleep('1h') : then(ctx));
    return `${JSON.stringify(text)}: ${String(answer)}`;
  });

async function started(agent: Agent<string, Json, unknown>, ...steps: readonly ScriptedStep[]): Promise<TestRun> {
  const run = await startRun(agent as Agent, scriptedModel(steps));
  await run.interrupts();
  return run;
}

const failing = (run: TestRun): Promise<void> =>
  run.outcome().then((outcome) => expect(outcome).toMatchObject(failureSaying('frame-changed')));

const others: Readonly<Record<string, Asked>> = {
  'another text': { text: 'May I delete the whole account?' },
  'another kind': { kind: 'custom' },
  'another form': { answerSchema: { type: 'string', enum: ['yes', 'no'] } },
  'other people': { by: ['bob'] },
  'other roles': { roles: ['support'] },
  'somebody who may not answer': { notBy: ['bob'] },
};

it('code that names the same people in another order asks the same question', async () => {
  const run = await started(asking({ by: ['ada', 'bob'], roles: ['x', 'y'], notBy: ['eve', 'max'] }));
  await run.upgrade(asking({ by: ['bob', 'ada'], roles: ['y', 'x'], notBy: ['max', 'eve'] }));
  await run.resume(only(await run.interrupts()).id, 'yes', { by: 'ada' });
  await run.advance('1h');
  expect(await run.result()).toBe('"May I delete one draft?": yes');
});

describe.each(Object.entries(others))('code that asks %s at the place of a question', (_, other) => {
  it.each([true, false])('is refused by an upgrade, and the run goes on with its own question (answered before: %s)', async (answered) => {
    const run = await started(asking());
    const answer = async (): Promise<void> => run.resume(only(await run.interrupts()).id, 'yes');
    if (answered) await answer();
    await expect(run.upgrade(asking(other))).rejects.toMatchObject({ code: 'frame-changed' });
    if (!answered) await answer();
    await run.advance('1h');
    expect(await run.result()).toBe('"May I delete one draft?": yes');
  });

  it('fails the run behind a continue-as-new', async () => {
    const run = await started(asking());
    await run.goOnAsNew(asking(other));
    await failing(run);
  });

  it.each([true, false])('fails the run that goes on after a cancel (answered before: %s)', async (answered) => {
    const run = await started(asking());
    if (answered) await run.resume(only(await run.interrupts()).id, 'yes');
    await run.cancel();
    await run.resume({ agent: asking(other) });
    await failing(run);
  });

  it('fails the run that is tried again', async () => {
    const run = await started(asking({}, () => Promise.reject(new Error('out of order'))));
    await run.resume(only(await run.interrupts()).id, 'yes');
    expect((await run.outcome()).status).toBe('failed');
    await run.retry({ agent: asking(other) });
    await failing(run);
  });
});

it('code that is slow to act on a sleep takes the same branch after a continue-as-new, and asks the same question', async () => {
  const agent = byHand('desk', async function* (_, ctx) {
    let overdue = false;
    void ctx.sleep('1h').then(() => (overdue = true));
    await ctx.sleep('1m');
    for (let turn = 0; turn < 150; turn++) await Promise.resolve();
    const what = overdue ? 'delete the whole account' : 'delete one draft';
    return (await ctx.interrupt({ question: `May I ${what}?` })) === 'yes' ? `DONE: ${what}` : 'nothing';
  });
  const run = await started(agent);
  await run.advance('2m');
  const { id } = only(await run.interrupts());
  await run.advance('2h');
  await run.goOnAsNew();
  await run.resume(id, 'yes');
  expect(await run.result()).toBe('DONE: delete one draft');
});

describe('the same question', () => {
  const late: Asked = { deadline: '3h', onDeadline: 'no', remind: ['1h'], escalate: { after: '2h', by: ['ada'] }, by: ['bob'] };

  it('is the same when it is asked again later, after reminders and an escalation', async () => {
    const run = await started(asking(late));
    await run.advance('150m');
    await run.goOnAsNew();
    await run.resume(only(await run.interrupts()).id, 'yes', { by: 'ada' });
    await run.goOnAsNew();
    await run.advance('1h');
    expect(await run.result()).toContain('yes');
  });

  it('may end at another time, and have another answer then, in other code', async () => {
    const run = await started(asking(late));
    await run.upgrade(asking({ ...late, deadline: '5h', onDeadline: 'maybe', remind: ['4h'] }));
    await run.resume(only(await run.interrupts()).id, 'yes', { by: 'bob' });
    await run.advance('1h');
    expect(await run.result()).toContain('yes');
  });

  it('is asked again after a cancel and after a failure', async () => {
    const run = await started(asking({}, (ctx) => ctx.interrupt('Now?').then(() => Promise.reject(new Error('out of order')))));
    await run.cancel();
    await run.resume();
    await run.resume(only(await run.interrupts()).id, 'yes');
    await run.cancel();
    await run.resume();
    await run.resume(only(await run.interrupts()).id, 'yes');
    expect((await run.outcome()).status).toBe('failed');
    await run.retry({ agent: asking({}, (ctx) => ctx.interrupt('Now?')) });
    expect(await run.result()).toContain('yes');
  });

  it('need not be asked at a place where code of a cancelled run asked nobody', async () => {
    const agent = (text: string): Agent<'desk'> =>
      byHand('desk', async function* (_, ctx) {
        await ctx.sleep('1h').catch(() => undefined);
        return String(await ctx.interrupt(text));
      });
    const run = await started(agent('Tidy up?'));
    await run.cancel();
    await run.resume({ agent: agent('Go on?') });
    await run.advance('1h');
    await run.resume(only(await run.interrupts()).id, 'yes');
    expect(await run.result()).toBe('yes');
  });
});

describe('a call that waits for people', () => {
  const under = (...middleware: readonly AgentMiddleware[]): Agent => agentUnder(...middleware) as Agent;
  const steps = [{ toolCalls: [echo('a')] }, { text: 'Done.' }] as const;
  const stages = (...stage: readonly object[]): AgentMiddleware =>
    policy<typeof tools, 'echo'>({ name: 'rules', tools: ['echo'], stages: stage });
  const changing = (text: string): AgentMiddleware => ({
    name: 'changing',
    wrapToolCall: (call, next) => next({ ...call, input: { text } }),
  });
  const rule = approval<typeof tools>({ tools: { echo: true } }) as AgentMiddleware;
  const others: Readonly<Record<string, readonly [readonly AgentMiddleware[], readonly AgentMiddleware[]]>> = {
    'other arguments': [
      [changing('a'), rule],
      [changing('b'), rule],
    ],
    'other people': [[rule], [approval<typeof tools>({ tools: { echo: { by: ['ada'] } } })]],
    'another stage of a policy': [[stages({ name: 'in full' })], [stages({ name: 'in part' })]],
  };

  it.each(Object.entries(others))('is not decided by what people said about %s', async (_, [before, after]) => {
    const run = await started(under(...before), ...steps);
    await expect(run.upgrade(under(...after))).rejects.toMatchObject({ code: 'frame-changed' });
    await run.goOnAsNew(under(...after));
    await failing(run);
  });

  it('goes on over continue-as-news between hand-overs, edits and stages', async () => {
    const run = await started(
      under(
        stages(
          { name: 'one', by: { users: ['ada', 'bob'] }, need: 2, remind: ['1h'], escalate: { after: '2h', to: { users: ['dan'] } } },
          { name: 'two', by: { users: ['cleo'] } },
        ),
      ),
      ...steps,
    );
    const decide = async (by: string, decision: Json): Promise<void> => {
      await run.goOnAsNew();
      await run.resume(only(await run.interrupts()).id, decision, { by });
      await run.goOnAsNew();
    };
    await decide('ada', { type: 'delegate', to: 'eve' });
    await run.advance('3h');
    await decide('eve', { type: 'approve', editedInput: { text: 'b' } });
    await run.advance('3h');
    await decide('dan', { type: 'approve' });
    await decide('cleo', { type: 'approve' });
    expect(await run.result()).toBe('Done.');
  });
});

describe('a question of askHuman', () => {
  const agent = (question: string, by?: readonly string[]): Agent =>
    agentWith({
      middleware: [
        { name: 'asked', wrapToolCall: (call, next) => next({ ...call, input: { question } }) },
        askHuman(by === undefined ? {} : { by: { users: by } }),
      ],
    }) as Agent;
  const steps = [{ toolCalls: [{ name: 'askHuman', input: { question: 'Which one?' } }] }, { text: 'Done.' }] as const;

  it.each([
    ['another question', agent('Delete all?')],
    ['other people', agent('Which one?', ['ada'])],
  ])('is not answered by what people said to %s', async (_, other) => {
    const run = await started(agent('Which one?'), ...steps);
    await expect(run.upgrade(other)).rejects.toMatchObject({ code: 'frame-changed' });
    await run.goOnAsNew();
    await run.resume(only(await run.interrupts()).id, 'This one.');
    expect(await run.result()).toBe('Done.');
  });
});
