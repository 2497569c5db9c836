import { agentTool, exitAction, sequential, supervisor } from 'holdfast/workflow';
import type { AgentMiddleware, Json, Part } from 'holdfast/workflow';
import { testRun } from 'holdfast/testing';
import { contextMessage } from '../../../contract/messages/context-messages';
import type { StoredMessage } from '../../../contract/messages/messages';
import { tools } from '../../support/memory-bed';
import { byHand, member, play, scripts, transfer } from '../../support/team-bed';

const image: Part = { type: 'file', mediaType: 'image/png', data: 'aGk=' };
const result = (output: Json, multipart = true): StoredMessage => ({
  id: 'm1',
  role: 'tool',
  parts: [{ type: 'tool-result', callId: 'c1', name: 'paint', output, ...(multipart ? { multipart } : {}) }],
});

describe('what another agent is told', () => {
  it('has a result of files alone', () => {
    expect(contextMessage('a', result([image] as never))).toEqual({
      id: 'context:a:m1',
      role: 'user',
      parts: [{ type: 'text', text: 'For context: [a] `paint` tool returned result.' }, image],
    });
  });

  it('has any other result as JSON, also a list of what look like parts', () => {
    const text = JSON.stringify([image]);
    expect(contextMessage('a', result([image] as never, false)).parts).toEqual([
      { type: 'text', text: `For context: [a] \`paint\` tool returned result: ${text}.` },
    ]);
  });
});

describe('outputKey', () => {
  const reading: AgentMiddleware = {
    name: 'reading',
    beforeAgent: ({ instructions }, ctx) => ({ instructions: `${instructions} Plan: ${JSON.stringify(ctx.session.get('plan') ?? null)}` }),
  };
  const asking: AgentMiddleware = { name: 'asking', beforeAgent: async (_, ctx) => void (await ctx.interrupt('?')) };
  const agents = [member('planner', { outputKey: 'plan' }), member('doer', { middleware: [asking, reading] })];

  it('keeps the text of an answer for the agents behind, also over a continue-as-new', async () => {
    const model = scripts({ planner: [{ text: 'Walk.' }], doer: [{ text: 'Done.' }] });
    const run = await testRun(sequential({ name: 'both', agents }), { input: 'Go.', model, tools });
    await run.goOnAsNew();
    const [interrupt] = await run.interrupts();
    await run.resume(interrupt?.id ?? '', null);
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
    expect(model.requests('doer')[0]?.instructions).toBe('You are the doer. Plan: "Walk."');
  });

  it('keeps what a tool that returns directly gave, and nothing of an agent that fails', async () => {
    const direct = member('planner', { outputKey: 'plan', tools: ['add'], returnDirectly: ['add'] });
    const { model } = await play(sequential({ name: 'both', agents: [direct, member('doer', { middleware: [reading] })] }), {
      planner: [{ toolCalls: [{ name: 'add', input: { a: 1 } }] }],
      doer: [{ text: 'Done.' }],
    });
    expect(model.requests('doer')[0]?.instructions).toBe('You are the doer. Plan: "{\\"sum\\":2}"');
    const caller = member('caller', { tools: [agentTool(member('planner', { outputKey: 'plan' }))] });
    const failed = await play(sequential({ name: 'both', agents: [caller, member('doer', { middleware: [reading] })] }), {
      caller: [{ toolCalls: [{ name: 'planner', input: { request: 'Plan.' } }] }, { text: 'No plan.' }],
      planner: [{ error: 'Broken.' }],
      doer: [{ text: 'Done.' }],
    });
    expect(failed.model.requests('doer')[0]?.instructions).toBe('You are the doer. Plan: null');
  });
});

it('an exit deep in a team is no matter of the sequence that the team stands in', async () => {
  const leaver = byHand('leaver', async function* () {
    yield { message: { role: 'assistant', parts: [{ type: 'text', text: 'Gone.' }] }, action: exitAction() };
  });
  const team = supervisor({ name: 'team', supervisor: member('boss'), agents: [leaver] });
  const { outcome, model } = await play(sequential({ name: 'all', agents: [team, member('after')] }), {
    boss: [transfer('leaver')],
    after: [{ text: 'After.' }],
  });
  expect(outcome).toMatchObject({ status: 'completed', text: 'After.' });
  expect(model.requests('boss')).toHaveLength(1);
});
