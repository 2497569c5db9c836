import { z } from 'zod';
import type { PolicyStage } from 'holdfast/middleware';
import { approvalsBy, policy } from 'holdfast/middleware';
import type { ScriptedStep, TestRun } from 'holdfast/testing';
import { scriptedModel, testRun } from 'holdfast/testing';
import { defineTool } from 'holdfast/worker';
import type { AgentMiddleware } from 'holdfast/workflow';
import { agentTool, defineAgent, parallel } from 'holdfast/workflow';
import { approvalOf as asked, logOf, toolOf } from '../../support/memory-bed';

const paid: number[] = [];
let broken = false;
const tools = {
  refund: defineTool({
    description: 'Pays money back.',
    inputSchema: z.object({ amount: z.number() }),
    effect: 'once',
    execute: ({ amount }) => (paid.push(amount), `paid ${amount}`),
  }),
  notify: toolOf(() => {
    if (broken) throw new Error('no mail server');
    return 'sent';
  }),
};

beforeEach(() => {
  paid.length = 0;
  broken = false;
});

const pays: ScriptedStep = { toolCalls: [{ name: 'refund', input: { amount: 80 } }] };
const notifies: ScriptedStep = { toolCalls: [{ name: 'notify', input: {} }] };
const ada: PolicyStage = { by: { users: ['ada'] } };
const dora: PolicyStage = { by: { users: ['dora'] } };
const pair: PolicyStage = { need: 2, fourEyes: true, remind: ['1d'] };
const byStages = (...stages: readonly PolicyStage[]) => policy<typeof tools, 'refund'>({ name: 'refunds', tools: ['refund'], stages });

function helper(name: string, middleware: readonly AgentMiddleware[] = [approvalsBy('refunds')], instructions = 'Help.') {
  return defineAgent({
    ...{ name, description: 'Helps.', instructions, model: `test/${name}`, tools: ['refund', 'notify'] },
    ...{ toolErrors: 'fail', middleware },
  });
}

function agentOf(how: 'tool' | 'parallel', instructions?: string) {
  const payer = helper('payer', [approvalsBy('refunds')], instructions);
  if (how === 'parallel') return parallel({ name: 'apart', isolate: true, agents: [payer, helper('clerk', [])] });
  return defineAgent({
    ...{ name: 'lead', description: 'Leads.', instructions: 'Lead.', model: 'test/lead', toolErrors: 'fail' },
    tools: [agentTool(payer, { isolate: true })],
  });
}

async function started(how: 'tool' | 'parallel', rules: object, payer: readonly ScriptedStep[], clerk: readonly ScriptedStep[] = []) {
  const models = new Map([
    ['payer', scriptedModel([...payer, { text: 'Paid.' }])],
    ['clerk', scriptedModel([...clerk, { text: 'Noted.' }])],
    ['lead', scriptedModel([{ toolCalls: [{ name: 'payer', input: { request: 'Pay.' } }] }, { text: 'Led.' }])],
  ]);
  const run: TestRun = await testRun(agentOf(how) as never, {
    ...{ input: 'Refund', by: 'sue', tools, policies: { refunds: rules } },
    model: { model: (name: string) => models.get(name.split('/').at(-1) ?? '') as ReturnType<typeof scriptedModel> },
  });
  return run;
}

const approve = async (run: TestRun, by: string): Promise<void> => run.approve((await asked(run)).id, { by });
const statusOf = async (run: TestRun): Promise<string> => (await run.outcome()).status;

describe.each(['tool', 'parallel'] as const)('a policy of an isolated agent (%s)', (how) => {
  it('keeps what was decided when the run is cancelled and resumed, and takes another policy then', async () => {
    const run = await started(how, byStages(pair), [pays]);
    await approve(run, 'ada');
    expect(await asked(run)).toMatchObject({ notBy: ['sue', 'ada'] });
    await run.cancel();
    expect(await statusOf(run)).toBe('cancelled');
    await run.resume();
    const again = await asked(run);
    expect(again).toMatchObject({ notBy: ['sue', 'ada'], policy: { given: [{ type: 'approve', by: 'ada' }] } });
    await expect(run.approve(again.id, { by: 'ada' })).rejects.toMatchObject({ code: 'answer-forbidden' });
    await run.applyPolicy(byStages(pair, dora), { to: 'waiting' });
    await approve(run, 'bob');
    expect(await asked(run)).toMatchObject({ by: ['dora'] });
    await approve(run, 'dora');
    expect(await statusOf(run)).toBe('completed');
    expect(paid).toEqual([80]);
  });

  it('asks what a policy asks besides that was applied, also over a continue-as-new and with new code', async () => {
    const run = await started(how, byStages(ada), [pays]);
    await asked(run);
    await run.goOnAsNew();
    await run.applyPolicy(byStages(ada, pair), { to: 'waiting' });
    await approve(run, 'ada');
    await run.goOnAsNew(agentOf(how, 'Help well.'));
    expect(await asked(run)).toMatchObject({ policy: { stage: { number: 2, of: 2 } }, notBy: ['sue', 'ada'] });
    await approve(run, 'bob');
    await run.goOnAsNew();
    await approve(run, 'cleo');
    expect(await statusOf(run)).toBe('completed');
    expect(paid).toEqual([80]);
  });

  it('waits on as it did when an upgrade is refused', async () => {
    const run = await started(how, byStages(pair), [pays]);
    await approve(run, 'ada');
    const { id } = await asked(run);
    await expect(run.upgrade(agentOf(how, 'Help well.') as never)).rejects.toThrow('while an isolated agent of it is at work');
    expect(await asked(run)).toMatchObject({ id, notBy: ['sue', 'ada'] });
    await run.applyPolicy(byStages(pair, ada), { to: 'waiting' });
    await approve(run, 'bob');
    await approve(run, 'ada');
    expect(await statusOf(run)).toBe('completed');
    expect(paid).toEqual([80]);
  });

  it('is asked again about a call of another try, and not about one that was made', async () => {
    const run = await started(how, byStages(ada), [pays, pays]);
    await approve(run, 'ada');
    await run.cancel();
    await run.outcome();
    await run.resume();
    await approve(run, 'ada');
    expect(await statusOf(run)).toBe('completed');
    expect(paid).toEqual([80, 80]);
  });
});

it('a policy of an isolated agent that waits beside one that fails is decided first, and not asked again by a retry', async () => {
  broken = true;
  const run = await started('parallel', byStages(pair), [pays], [notifies]);
  await approve(run, 'ada');
  await approve(run, 'bob');
  expect(await statusOf(run)).toBe('failed');
  broken = false;
  await run.retry();
  expect(await statusOf(run)).toBe('completed');
  expect(paid).toEqual([80]);
  expect((await logOf(run)).filter(({ type }) => type === 'interrupt-end')).toHaveLength(2);
});
