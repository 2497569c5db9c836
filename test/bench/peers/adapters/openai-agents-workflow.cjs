// Runs in the sandbox of Temporal's worker. As an ES module it would be bundled with parts that the sandbox refuses.
const { Agent, RunState, tool } = require('@openai/agents-core');
const { activityAsTool, TemporalOpenAIRunner } = require('@temporalio/openai-agents/workflow');
const { condition, defineQuery, defineSignal, proxyActivities, setHandler } = require('@temporalio/workflow');

const parameters = {
  type: 'object',
  properties: { run: { type: 'string' }, turn: { type: 'number' } },
  required: ['run', 'turn'],
  additionalProperties: false,
};
const { refund } = proxyActivities({ startToCloseTimeout: '1 minute' });
const agent = new Agent({
  name: 'worker',
  instructions: 'You work.',
  model: 'fake',
  tools: [
    activityAsTool({ name: 'words', description: 'New words.', parameters }, { startToCloseTimeout: '1 minute' }),
    // A lost call is found by its heartbeat.
    activityAsTool({ name: 'pay', description: 'Pays.', parameters }, { startToCloseTimeout: '2 hours', heartbeatTimeout: '10s' }),
    tool({ name: 'refund', description: 'Pays money back.', parameters, needsApproval: true, execute: (input) => refund(input) }),
  ],
});
const approve = defineSignal('approve');
const isWaiting = defineQuery('isWaiting');

exports.openaiRun = async function openaiRun(task) {
  let approved = false;
  let waiting = false;
  setHandler(approve, () => void (approved = true));
  setHandler(isWaiting, () => waiting);
  const runner = new TemporalOpenAIRunner();
  let result = await runner.run(agent, task, { maxTurns: 10_000 });
  while (result.interruptions.length > 0) {
    waiting = true;
    await condition(() => approved);
    waiting = false;
    approved = false;
    const state = await RunState.fromString(agent, result.state.toString());
    for (const interruption of state.getInterruptions()) state.approve(interruption);
    result = await runner.run(agent, state, { maxTurns: 10_000 });
  }
  return result.finalOutput;
};
