import { codeOf } from 'holdfast/client';
import type { PolicyStage } from 'holdfast/middleware';
import { approvalsBy, policy } from 'holdfast/middleware';
import type { TestRun } from 'holdfast/testing';
import { scriptedModel, testConversation, testRun } from 'holdfast/testing';
import { parallel } from 'holdfast/workflow';
import { agentWith, only } from '../../support/memory-bed';
import { paid, paidIn, refund } from '../../support/paid-refund';

interface Given {
  readonly by?: string;
  readonly turns?: readonly (readonly number[])[];
}

function started(stages: readonly PolicyStage[], { by, turns = [[80]] }: Given = {}): Promise<TestRun> {
  paid.length = 0;
  const rules = policy({ name: 'refunds', tools: ['refund'], amount: 'amount', stages });
  const agent = agentWith({
    tools: ['refund'],
    toolAliases: { refund: { names: ['pay_back'] } },
    middleware: [approvalsBy('refunds')],
  });
  const steps = turns.map((amounts) => ({ toolCalls: amounts.map((amount) => ({ name: 'pay_back', input: { amount } })) }));
  const model = scriptedModel([...steps, { text: 'Done.' }]);
  return testRun(agent, { input: 'Refund', model, tools: { refund }, policies: { refunds: rules }, ...(by === undefined ? {} : { by }) });
}

const askedAll = async (run: TestRun) => {
  await run.outcome();
  return (await run.interrupts()).flatMap((interrupt) => (interrupt.kind === 'approval' ? [interrupt] : []));
};
const asked = async (run: TestRun) => only(await askedAll(run));
const code = (answer: Promise<unknown>): Promise<unknown> =>
  answer.then(
    () => 'taken',
    (error: unknown) => codeOf(error) ?? error,
  );

describe('a policy whose people depend on the arguments holds against', () => {
  const amountOf = (call: unknown): number => (call as { readonly input: { readonly amount: number } }).input.amount;
  const byAmount = { by: (call: unknown) => ({ users: amountOf(call) > 100 ? ['boss'] : ['clerk', 'mate'] }) };
  const large = { amount: 5000 };

  it('a clerk who makes the call one that the boss decides about', async () => {
    const run = await started([byAmount]);
    await run.approve((await asked(run)).id, { by: 'clerk', editedInput: large });
    const again = await asked(run);
    expect(again).toMatchObject({ by: ['boss'], input: large, policy: { given: [] } });
    expect(paid).toEqual([]);
    await expect(run.approve(again.id, { by: 'clerk' })).rejects.toMatchObject({ code: 'answer-forbidden' });
    await run.approve(again.id, { by: 'boss' });
    expect(await paidIn(run)).toEqual([5000]);
  });

  it('a clerk who hands the decision to a mate, who makes it one of the boss', async () => {
    const run = await started([byAmount]);
    await run.delegate((await asked(run)).id, 'mallory', { by: 'clerk' });
    await run.approve((await asked(run)).id, { by: 'mallory', editedInput: large });
    expect(await asked(run)).toMatchObject({ by: ['boss'], policy: { given: [] } });
    expect(paid).toEqual([]);
  });

  it('nobody: the decision of whoever may decide about both counts', async () => {
    const both = { by: (call: unknown) => ({ users: amountOf(call) > 100 ? ['boss'] : ['clerk', 'boss'] }) };
    const run = await started([both]);
    await run.approve((await asked(run)).id, { by: 'boss', editedInput: large });
    expect(await paidIn(run)).toEqual([5000]);
  });

  it.each([{ forRestOfRun: true }, { upTo: 10_000 }])('a clerk who waives what the boss decides about: %j', async (waived) => {
    const run = await started([byAmount], { turns: [[80], [90], [5000]] });
    await run.approve((await asked(run)).id, { by: 'clerk', ...waived });
    expect(await asked(run)).toMatchObject({ by: ['boss'], input: large });
    expect(paid).toEqual([80, 90]);
  });

  it('a role that decides about small amounts only', async () => {
    const roles = { by: (call: unknown) => ({ roles: [amountOf(call) > 100 ? 'boss' : 'clerk'] }) };
    const run = await started([roles]);
    await run.approve((await asked(run)).id, { by: 'ann', roles: ['clerk'], editedInput: large });
    expect(await asked(run)).toMatchObject({ roles: ['boss'], input: large });
    await run.approve((await asked(run)).id, { by: 'ann', roles: ['boss'], editedInput: { amount: 6000 } });
    expect(await paidIn(run)).toEqual([6000]);
  });
});

describe('a policy holds against', () => {
  it('two people who answer at once: one counts, and the other is asked with the next question', async () => {
    const run = await started([{ by: { users: ['ada', 'bob'] }, need: 2 }]);
    const { id } = await asked(run);
    const both = await Promise.all([code(run.approve(id, { by: 'ada' })), code(run.approve(id, { by: 'bob' }))]);
    expect(both.sort()).toEqual(['interrupt-answered', 'taken']);
    expect(paid).toEqual([]);
    const next = await asked(run);
    expect(next.by).toHaveLength(1);
    await run.approve(next.id, { by: next.by?.[0] ?? '' });
    expect(await paidIn(run)).toEqual([80]);
  });

  it('one person who approves and rejects at once', async () => {
    const run = await started([{}]);
    const { id } = await asked(run);
    const both = await Promise.all([code(run.reject(id, 'No.', { by: 'ada' })), code(run.approve(id, { by: 'ada' }))]);
    expect(both).toEqual(['taken', 'interrupt-answered']);
    expect(await paidIn(run)).toEqual([]);
  });

  it('people who hand a decision on in a circle', async () => {
    const run = await started([{ by: { users: ['ada'] } }]);
    await run.delegate((await asked(run)).id, 'bob', { by: 'ada' });
    expect(await code(run.delegate((await asked(run)).id, 'ada', { by: 'bob' }))).toBe('answer-invalid');
    await run.delegate((await asked(run)).id, 'cleo', { by: 'bob' });
    expect(await asked(run)).toMatchObject({ by: ['cleo'], notBy: ['ada', 'bob'] });
    expect(await code(run.delegate((await asked(run)).id, 'bob', { by: 'cleo' }))).toBe('answer-invalid');
  });

  it('two decisions that were handed to one person', async () => {
    const run = await started([{ by: { users: ['ada', 'bob'] }, need: 2 }]);
    await run.delegate((await asked(run)).id, 'cleo', { by: 'ada' });
    await run.delegate((await asked(run)).id, 'cleo', { by: 'bob' });
    expect((await run.outcome()).status).toBe('completed');
    expect(paid).toEqual([]);
  });

  it('calls beside one that was approved up to an amount, and amounts below nothing', async () => {
    const run = await started([{}], {
      turns: [
        [80, 90, 200],
        [100, 101, -5000],
      ],
    });
    const [first] = await askedAll(run);
    await run.approve(first?.id ?? '', { by: 'ada', upTo: 100 });
    expect((await askedAll(run)).map(({ input }) => input)).toEqual([{ amount: 90 }, { amount: 200 }]);
    for (const { id } of await askedAll(run)) await run.reject(id, 'No.', { by: 'ada' });
    expect((await askedAll(run)).map(({ input }) => input)).toEqual([{ amount: 101 }, { amount: -5000 }]);
    expect(paid).toEqual([80, 100]);
  });

  it('an answer at the moment of an escalation: both may decide, and one does', async () => {
    const run = await started([{ by: { users: ['ada'] }, escalate: { after: '3d', to: { roles: ['manager'] } }, expires: '30d' }]);
    const { id } = await asked(run);
    await run.advance('3d');
    const both = [run.approve(id, { by: 'mona', roles: ['manager'] }), run.reject(id, 'No.', { by: 'ada' })];
    expect((await Promise.all(both.map(code))).sort()).toEqual(['interrupt-answered', 'taken']);
    expect((await run.outcome()).status).toBe('completed');
    expect(paid).toEqual([80]);
  });

  it('a role without a name, and a name with other letters than those that are asked', async () => {
    const run = await started([{ by: { users: ['ada'], roles: ['support'] } }]);
    const { id } = await asked(run);
    expect(await code(run.approve(id, { roles: ['support'] }))).toBe('answer-forbidden');
    expect(await code(run.approve(id, { by: 'Ada' }))).toBe('answer-forbidden');
    expect(await code(run.approve(id, { by: 'ada ' }))).toBe('answer-forbidden');
  });

  it('somebody to whom a decision was handed, and who waives those of whoever handed it on', async () => {
    const run = await started([{ by: { users: ['ada'] } }], { turns: [[80], [90]] });
    await run.delegate((await asked(run)).id, 'bob', { by: 'ada' });
    await run.approve((await asked(run)).id, { by: 'bob', forRestOfRun: true });
    expect(await asked(run)).toMatchObject({ by: ['ada'], input: { amount: 90 } });
  });

  it('a decision of anybody that is handed on: the others that are needed stay those of anybody', async () => {
    const run = await started([{ need: 2 }]);
    await run.delegate((await asked(run)).id, 'bob', { by: 'ada' });
    const open = await asked(run);
    expect(open.by).toBeUndefined();
    await run.approve(open.id, { by: 'cleo' });
    const handed = await asked(run);
    expect(handed.by).toEqual(['bob']);
    await run.approve(handed.id, { by: 'bob' });
    expect(await paidIn(run)).toEqual([80]);
  });

  it('decisions that went over a continue-as-new between the stages, in an isolated agent, with four eyes', async () => {
    paid.length = 0;
    const four: PolicyStage = { fourEyes: true, by: { roles: ['support'] } };
    const rules = policy({ name: 'refunds', tools: ['refund'], stages: [four, four] });
    const agent = parallel({
      name: 'apart',
      isolate: true,
      agents: [agentWith({ tools: ['refund'], middleware: [approvalsBy('refunds')] })],
    });
    const model = scriptedModel([{ toolCalls: [{ name: 'refund', input: { amount: 80 } }] }, { text: 'Done.' }]);
    const run: TestRun = await testRun(agent as never, {
      input: 'Refund',
      model,
      tools: { refund },
      policies: { refunds: rules },
      by: 'sue',
    });
    const roles = ['support'];
    expect(await code(run.approve((await asked(run)).id, { by: 'sue', roles }))).toBe('answer-forbidden');
    await run.approve((await asked(run)).id, { by: 'ada', roles });
    await asked(run);
    await Promise.all([...run.children.values()].map((child) => child.goOnAsNew()));
    expect(await code(run.approve((await asked(run)).id, { by: 'ada', roles }))).toBe('answer-forbidden');
    await run.approve((await asked(run)).id, { by: 'bob', roles });
    expect(await paidIn(run)).toEqual([80]);
  });
});

it('somebody who waived a decision does not let through what they ask for themselves in a later turn', async () => {
  paid.length = 0;
  const rules = policy({ name: 'refunds', tools: ['refund'], stages: [{ by: { users: ['ada', 'bob'] }, fourEyes: true }] });
  const refunds = [80, 90, 5000].flatMap((amount) => [{ toolCalls: [{ name: 'refund', input: { amount } }] }, { text: 'Done.' }]);
  const agent = agentWith({ tools: ['refund'], middleware: [rules] });
  const chat = await testConversation(agent, { model: scriptedModel(refunds), tools: { refund }, by: 'sue' });
  await chat.send('A refund, please.', { by: 'sue' });
  await chat.run.approve((await asked(chat.run)).id, { by: 'ada', forRestOfRun: true });
  await chat.run.outcome();
  await chat.send('Another one.', { by: 'sue' });
  await chat.run.outcome();
  await chat.send('One for me.', { by: 'Ada ' });
  expect(await asked(chat.run)).toMatchObject({ by: ['bob'], input: { amount: 5000 } });
  expect(paid).toEqual([80, 90]);
});
