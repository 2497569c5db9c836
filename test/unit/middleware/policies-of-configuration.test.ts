import { z } from 'zod';
import { defineTool } from 'holdfast/worker';
import type { PolicyOptions, PolicyStage } from 'holdfast/middleware';
import { approvalsBy, policy } from 'holdfast/middleware';
import type { TestRun } from 'holdfast/testing';
import { scriptedModel, testRun } from 'holdfast/testing';
import type { Json, Tools, Interrupt } from 'holdfast/workflow';
import { parallel } from 'holdfast/workflow';
import { interruptMemoPrefix, sinceMemoPrefix } from '../../../contract/names';
import { withTimes } from '../../../workflows/listed';
import { middlewareExamples, runExamples } from '../../support/document-examples';
import { agentWith, approvalOf as asked, fails, logOf, only, transcriptOf } from '../../support/memory-bed';
import { paid, paidAfter, paidIn, refund } from '../../support/paid-refund';
import { failure, errorOf } from '../../support/failures';

const lookUp = defineTool({ description: 'Looks up.', inputSchema: z.object({ orderId: z.string() }), execute: () => 'found' });
const tools = { refund, lookUp };

const { refunds, support } = runExamples(middlewareExamples('approvals-by'), require);

type Options = PolicyOptions<Tools>;
const refundsWith = (options: Partial<Options>): ReturnType<typeof policy> =>
  policy({ name: 'refunds', tools: ['refund'], stages: [{}], ...options });
const ofStages = (...stages: readonly PolicyStage[]): ReturnType<typeof policy> => refundsWith({ stages });
const held = agentWith({ tools: ['refund', 'lookUp'], middleware: [approvalsBy('refunds')] });
const refundCall = (amount: Json): { name: string; input: Json } => ({ name: 'refund', input: { orderId: '42', amount } });
const day = 86_400_000;
const start = Date.UTC(2026, 0, 1);

/** A run that refunds each of these amounts in a turn of its own. */
function started(rules: object, amounts: readonly Json[] = [80], agent = held): Promise<TestRun> {
  paid.length = 0;
  const model = scriptedModel([...amounts.map((amount) => ({ toolCalls: [refundCall(amount)] })), { text: 'Done.' }]);
  return testRun(agent, { input: 'Refund', model, tools, by: 'sue', policies: { refunds: rules } });
}

it('docs/reference/middleware/approvals-by.md shows code that does what the page says', async () => {
  paid.length = 0;
  const model = scriptedModel([{ toolCalls: [refundCall(20), refundCall(80)] }, { text: 'Done.' }]);
  const run = await testRun(support, { input: 'Refund', model, tools, policies: { refunds } });
  await run.approve((await asked(run)).id, { by: 'sam', roles: ['support'] });
  expect(await paidIn(run)).toEqual([20, 80]);
});

const ada: PolicyStage = { name: 'first', by: { users: ['ada'] } };
const bob: PolicyStage = { name: 'second', by: { users: ['bob'] } };
const waiting = { to: 'waiting' } as const;

describe('a policy of the configuration', () => {
  it('is asked of the worker, by its name, and holds what it says', async () => {
    paid.length = 0;
    const rules = refundsWith({ when: ({ input }) => (input as { amount: number }).amount > 50, stages: [ada] });
    const model = scriptedModel([
      { toolCalls: [{ name: 'lookUp', input: { orderId: '1' } }, refundCall(20), refundCall(80)] },
      { text: 'Done.' },
    ]);
    const run = await testRun(held, { input: 'Refund', model, tools, policies: { refunds: rules } });
    const question = await asked(run);
    expect(question).toMatchObject({ input: { amount: 80 }, by: ['ada'], policy: { name: 'refunds', stage: { number: 1, of: 1 } } });
    expect(question.inputSchema).toMatchObject({ type: 'object' });
    expect(paid).toEqual([20]);
    await run.approve(question.id, { by: 'ada' });
    expect(await paidIn(run)).toEqual([20, 80]);
    const ends = (await logOf(run)).filter((event) => event.type === 'interrupt-end');
    expect(only(ends)).toMatchObject({ policy: question.policy && { name: 'refunds', version: question.policy.version } });
  });

  it('knows what the run was started with', async () => {
    const seen: unknown[] = [];
    const rules = refundsWith({ stages: [{ by: (call, run) => (seen.push(call, run), { users: ['ada'] }) }] });
    const run = await testRun(held, {
      input: 'Refund',
      model: scriptedModel([{ toolCalls: [refundCall(80)] }, { text: 'Done.' }]),
      tools,
      policies: { refunds: rules },
      values: { team: 'north' },
      tags: ['vip'],
      by: 'sue',
    });
    await asked(run);
    expect(seen).toEqual([
      { tool: 'refund', input: { orderId: '42', amount: 80 } },
      { id: 'test', agent: 'agent', values: { team: 'north' }, tags: ['vip'], startedBy: 'sue' },
    ]);
  });

  it('asks where its `when` throws', async () => {
    const when = fails('out of order');
    expect((await (await started(refundsWith({ when }))).outcome()).status).toBe('waiting');
  });

  it('fails the run where its people cannot be found out', async () => {
    const by = fails('the directory is down');
    const run = await started(ofStages({ by }));
    expect(await run.outcome()).toMatchObject(failure('hook-failed', /the directory is down/));
    expect(paid).toEqual([]);
  });

  it('is an error at the start where nobody has it', async () => {
    const model = scriptedModel([{ text: 'Done.' }]);
    const run = await testRun(held, {
      input: 'Refund',
      model,
      tools,
      policies: { refund: policy({ name: 'refund', tools: ['refund'], stages: [{}] }) },
    });
    expect(await run.outcome()).toMatchObject(
      failure('policy-unknown', 'The agent names the policy "refunds". Did you mean "refund"? The worker has: refund.'),
    );
  });

  it('is an error at the start where nobody has a tool of it', async () => {
    expect(await (await started(refundsWith({ tools: ['refnd', 'payOut'] }))).outcome()).toMatchObject(
      failure('tool-unknown', /names the tool "refnd", which nobody has\. Did you mean "refund"\?/),
    );
    expect((await (await started(refundsWith({ tools: ['payOut', 'refund'] }))).outcome()).status).toBe('waiting');
  });

  it.each<[string, object, RegExp]>([
    ['that is none', { stages: [] }, /policies\.refunds is no policy; make it with policy/],
    ['of another name', policy({ name: 'payouts', tools: ['refund'], stages: [{}] }), /policies\.refunds has the name "payouts"/],
    ['that says what an agent says', refundsWith({ edits: 'hide' }), /approvalsBy\("refunds", \{ edits/],
  ])('is refused %s', async (_, given, message) => {
    await expect(started(given)).rejects.toMatchObject({ code: 'config-invalid', message: expect.stringMatching(message) });
  });

  it('tells the model of an edit as the agent says', async () => {
    const agent = agentWith({ tools: ['refund'], middleware: [approvalsBy('refunds', { edits: 'rewrite' })] });
    const run = await started(refundsWith({}), [80], agent);
    await run.approve((await asked(run)).id, { by: 'ada', editedInput: { orderId: '42', amount: 70 } });
    expect(await paidIn(run)).toEqual([70]);
    expect((await transcriptOf(run)).join('\n')).toContain('A person changed the arguments');
  });

  it('names nothing but a policy', () => {
    expect(() => approvalsBy(' ')).toThrow(expect.objectContaining({ code: 'agent-invalid' }));
    expect(() => approvalsBy('refunds', { edit: 'tell' } as never)).toThrow(/no option "edit"; did you mean edits/);
  });
});

describe('a policy that changes', () => {
  it('holds for calls that come after it, and leaves those that wait', async () => {
    const run = await started(ofStages(ada), [80, 90]);
    const first = await asked(run);
    await run.applyPolicy(ofStages(bob));
    expect((await asked(run)).id).toBe(first.id);
    await run.approve(first.id, { by: 'ada' });
    expect(await asked(run)).toMatchObject({ by: ['bob'], input: { amount: 90 } });
    expect(paid).toEqual([80]);
  });

  it('asks what it asks besides about a call that waits, and keeps what was decided', async () => {
    const run = await started(ofStages({ name: 'first', by: { users: ['ada', 'cleo'] }, need: 2 }));
    await run.approve((await asked(run)).id, { by: 'ada', comment: 'The parcel was lost.' });
    const before = await asked(run);
    await run.applyPolicy(ofStages({ name: 'first', by: { users: ['ada', 'cleo'] }, need: 2 }, bob), waiting);
    const again = await asked(run);
    expect(again.id).not.toBe(before.id);
    expect(again.policy).toMatchObject({
      stage: { number: 1, of: 2 },
      given: [{ stage: 1, type: 'approve', by: 'ada', comment: 'The parcel was lost.' }],
    });
    expect(again.policy?.version).not.toBe(before.policy?.version);
    await expect(run.approve(before.id, { by: 'cleo' })).rejects.toMatchObject({ code: 'interrupt-answered' });
    await run.approve(again.id, { by: 'cleo' });
    expect(await paidAfter(run, 'bob')).toEqual([80]);
  });

  it.each<[string, object, object]>([
    ['fewer stages', ofStages(ada, bob), ofStages(ada)],
    ['fewer people', ofStages({ by: { users: ['ada', 'bob'] }, need: 2 }), ofStages({ by: { users: ['ada', 'bob'] } })],
    ['nobody at all', ofStages(ada), refundsWith({ stages: [ada], when: () => false })],
    ['no four eyes', ofStages({ ...ada, fourEyes: true }), ofStages(ada)],
    ['a consent by time', ofStages({ ...ada, expires: '30d' }), ofStages({ ...ada, expires: '1m', onExpiry: 'approve' })],
    ['an escalation', ofStages(ada), ofStages({ ...ada, escalate: { after: '1m', to: { users: ['bob'] } } })],
  ])('never lets a call through that was asked about: %s', async (_, first, looser) => {
    const run = await started(first);
    const whoFirst = (await asked(run)).by;
    await run.applyPolicy(looser, waiting);
    expect((await asked(run)).by).toEqual(whoFirst);
    await run.advance('1d');
    expect(paid).toEqual([]);
    const refused = run.approve((await asked(run)).id, { by: 'mallory' });
    await expect(refused).rejects.toMatchObject({ code: 'answer-forbidden' });
  });

  it('keeps asking whom the old one asked, also when one of them changes the call', async () => {
    const run = await started(ofStages(ada, { by: { users: ['cleo'] } }));
    await run.applyPolicy(ofStages(bob), waiting);
    await run.approve((await asked(run)).id, { by: 'ada', editedInput: { orderId: '42', amount: 60 } });
    for (const by of ['cleo', 'bob']) {
      const question = await asked(run);
      expect(question).toMatchObject({ by: [by], input: { amount: 60 } });
      expect(paid).toEqual([]);
      await run.approve(question.id, { by });
    }
    expect(await paidIn(run)).toEqual([60]);
  });

  it('asks nothing again when it is applied twice, or when only its texts and times changed', async () => {
    const run = await started(ofStages(ada));
    const both = ofStages(ada, bob);
    await run.applyPolicy(both, waiting);
    const { id } = await asked(run);
    await run.applyPolicy(both, waiting);
    await run.applyPolicy(ofStages({ ...ada, name: 'renamed', remind: ['1d'] }, bob), waiting);
    expect((await asked(run)).id).toBe(id);
  });

  it('goes on with the time of a stage, and does not begin it anew', async () => {
    const timed: PolicyStage = { ...ada, expires: '30d', remind: ['10d', '20d'] };
    const run = await started(ofStages(timed));
    await run.advance('15d');
    await run.applyPolicy(ofStages(timed, bob), waiting);
    expect(await asked(run)).toMatchObject({ deadline: start + 30 * day, steps: [{ type: 'remind', at: start + 20 * day }] });
  });

  it('leaves a call in lists as long as it has waited, until somebody answers', async () => {
    const run = await started(ofStages({ ...ada, expires: '5d', onExpiry: 'approve' }));
    const timesOf = ({ id, ...question }: Interrupt): unknown =>
      withTimes({ [interruptMemoPrefix + id]: question }, 7)[sinceMemoPrefix + id];
    expect(timesOf(await asked(run))).toBe(7);
    await run.advance('1d');
    await run.applyPolicy(ofStages(ada, bob), waiting);
    await run.advance('1d');
    await run.applyPolicy(ofStages(ada, bob, { by: { users: ['cleo'] } }), waiting);
    expect(timesOf(await asked(run))).toBe(start);
    await run.approve((await asked(run)).id, { by: 'ada' });
    expect(timesOf(await asked(run))).toBe(7);
  });

  it('does not hand on what somebody waived under another version', async () => {
    const pair: PolicyStage = { by: { users: ['ada', 'cleo'] }, need: 2 };
    const run = await started(ofStages(pair), [80, 90]);
    await run.approve((await asked(run)).id, { by: 'ada', forRestOfRun: true });
    await run.applyPolicy(ofStages(pair, bob), waiting);
    await run.approve((await asked(run)).id, { by: 'cleo', forRestOfRun: true });
    await run.approve((await asked(run)).id, { by: 'bob', forRestOfRun: true });
    expect(await asked(run)).toMatchObject({ input: { amount: 90 } });
  });

  it('asks with the arguments as somebody changed them', async () => {
    const over = (limit: number): object =>
      refundsWith({ when: ({ input }) => (input as { amount: number }).amount > limit, stages: [ada, bob] });
    const run = await started(over(50));
    await run.approve((await asked(run)).id, { by: 'ada', editedInput: { orderId: '42', amount: 60 } });
    await run.applyPolicy(over(70), waiting);
    expect(await asked(run)).toMatchObject({ by: ['bob'], input: { amount: 60 } });
    expect(paid).toEqual([]);
  });

  it('reaches an isolated agent', async () => {
    const run = await started(ofStages(ada), [80], parallel({ name: 'apart', isolate: true, agents: [held] }) as never);
    await asked(run);
    await run.applyPolicy(ofStages(ada, bob), waiting);
    expect(await paidAfter(run, 'ada', 'bob')).toEqual([80]);
  });

  it('is asked over again, and no more, after a continue-as-new', async () => {
    const run = await started(ofStages(ada));
    await run.goOnAsNew();
    await run.applyPolicy(ofStages(ada, bob), waiting);
    await run.goOnAsNew();
    const { id } = await asked(run);
    await run.goOnAsNew();
    expect((await asked(run)).id).toBe(id);
    await run.approve(id, { by: 'ada' });
    await run.goOnAsNew();
    expect(await paidAfter(run, 'bob')).toEqual([80]);
  });

  it('says so where the worker has another version than the one that was applied', async () => {
    const run = await started(ofStages(ada));
    const { id, policy: asking } = await asked(run);
    await run.resume(id, { type: 'apply-policy', version: 'abc' });
    expect(await asked(run)).toMatchObject({
      by: ['ada'],
      problem: `Version abc of the policy "refunds" was applied, and the worker that was asked has version ${asking?.version}.`,
    });
  });

  it.each<[string, Json]>([
    ['without a version', { type: 'apply-policy' }],
    ['with a decision in it', { type: 'apply-policy', version: 'a', editedInput: {} }],
  ])('is not applied %s', async (_, answer) => {
    const run = await started(ofStages(ada));
    await expect(run.resume((await asked(run)).id, answer)).rejects.toMatchObject({ code: 'answer-invalid' });
  });

  it('is not applied where the policy stands in the code of the agent', async () => {
    const agent = agentWith({ tools: ['refund'], middleware: [ofStages(ada)] });
    const run = await testRun(agent, { input: 'Refund', model: scriptedModel([{ toolCalls: [refundCall(80)] }]), tools });
    const { id } = await asked(run);
    await expect(run.resume(id, { type: 'apply-policy', version: 'a' }, { by: 'ada' })).rejects.toMatchObject(
      errorOf('answer-invalid', /only where a policy of the configuration asks/),
    );
  });
});
