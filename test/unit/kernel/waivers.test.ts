import { z } from 'zod';
import { defineTool } from 'holdfast/worker';
import { approval, policy } from 'holdfast/middleware';
import type { AgentMiddleware } from 'holdfast/workflow';
import { agentTool, loop, parallel, sequential } from 'holdfast/workflow';
import type { ScriptedStep, TestRun } from 'holdfast/testing';
import { scriptedModel, testConversation, testRun } from 'holdfast/testing';
import { agentWith, only } from '../../support/memory-bed';
import { member } from '../../support/team-bed';

let paid = 0;
const pay = defineTool({ description: 'Pays.', inputSchema: z.object({}), effect: 'once', execute: () => `paid ${(paid += 1)}` });
const pays: ScriptedStep = { toolCalls: [{ name: 'pay', input: {} }] };
const said: ScriptedStep = { text: 'Done.' };
const calls: ScriptedStep = { toolCalls: [{ name: 'clerk', input: { request: 'Pay.' } }] };

async function waive(run: TestRun): Promise<void> {
  await run.outcome();
  await run.approve(only(await run.interrupts()).id, { by: 'ada', forRestOfRun: true });
}

describe.each<[string, AgentMiddleware]>([
  ['an approval', approval({ tools: { pay: true } })],
  ['a policy', policy({ name: 'payments', tools: ['pay'], stages: [{ by: { users: ['ada'] } }] })],
])('what a person approved for the rest of the run, of %s, holds', (_, rules) => {
  const clerk = member('clerk', { model: 'test/model', tools: ['pay'], middleware: [rules] });
  beforeEach(() => (paid = 0));

  it('in the next round of a loop, also behind a continue-as-new', async () => {
    const model = scriptedModel([pays, said, pays, said, pays, said]);
    const run = await testRun(loop({ name: 'rounds', agents: [clerk], maxIterations: 3 }), { input: 'Go.', model, tools: { pay } });
    await run.outcome();
    await run.goOnAsNew();
    await waive(run);
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
    expect(paid).toBe(3);
  });

  it('in the next turn of several agents', async () => {
    const chat = await testConversation(sequential({ name: 'team', agents: [clerk] }), {
      model: scriptedModel([pays, said, pays, said]),
      tools: { pay },
    });
    await chat.send('Pay.');
    await waive(chat.run);
    await chat.turn(1);
    await chat.send('Again.');
    expect(await chat.turn(2)).toMatchObject({ status: 'completed' });
    expect(paid).toBe(2);
  });

  it('when the agent is called again as a tool, and not for another agent', async () => {
    const other = member('other', { model: 'test/model', tools: ['pay'], middleware: [rules] });
    const lead = agentWith({ tools: [agentTool(clerk), agentTool(other)] });
    const callsOther: ScriptedStep = { toolCalls: [{ name: 'other', input: { request: 'Pay.' } }] };
    const model = scriptedModel([calls, pays, said, calls, pays, said, callsOther, pays]);
    const run = await testRun(lead, { input: 'Go.', model, tools: { pay } });
    await waive(run);
    expect(await run.outcome()).toMatchObject({ status: 'waiting' });
    expect(only(await run.interrupts())).toMatchObject({ agent: 'other' });
    expect(paid).toBe(2);
  });

  it('not for the same agent beside it, which has asked already', async () => {
    const model = scriptedModel([pays, pays, said, said]);
    const run = await testRun(parallel({ name: 'both', agents: [clerk, clerk] }), { input: 'Go.', model, tools: { pay } });
    await run.outcome();
    const [first, second] = await run.interrupts();
    await run.approve(first?.id ?? '', { by: 'ada', forRestOfRun: true });
    await run.outcome();
    expect(only(await run.interrupts()).id).toBe(second?.id);
    expect(paid).toBe(1);
  });
});
