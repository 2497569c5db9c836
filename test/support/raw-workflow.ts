import { ActivityCancellationType, condition, defineUpdate, proxyActivities, setHandler } from '@temporalio/workflow';

interface Message {
  readonly id: string;
  readonly role: string;
  readonly parts: readonly unknown[];
}

export interface RawActivities {
  callModel(input: object): Promise<{ readonly message: Message }>;
  callTool(input: object): Promise<{ readonly outcome: { readonly messageId: string; readonly output: string } }>;
}

const activityOptions = {
  startToCloseTimeout: 600_000,
  heartbeatTimeout: 10_000,
  retry: { maximumAttempts: 5, initialInterval: 500, backoffCoefficient: 2, maximumInterval: 30_000 },
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
};
const { callModel, callTool } = proxyActivities<RawActivities>(activityOptions);

export async function rawRun(turns: number): Promise<{ readonly output: string; readonly messages: number }> {
  const messages: Message[] = [];
  for (let turn = 1; ; turn++) {
    const before = messages.at(-1)?.id;
    const { message } = await callModel({
      base: `worker/t${turn - 1}/model`,
      splices: [[turn * 2, 0, [before]]],
      path: ['worker'],
      turn,
      events: [{ type: 'tool-end', agent: 'worker', runPath: ['worker'], tool: 'look', callId: `call-${turn}`, message: before }],
    });
    messages.push(message);
    if (turn > turns) return { output: 'done', messages: messages.length };
    const { outcome } = await callTool({
      tool: 'look',
      callId: `call-${turn}`,
      input: { n: turn },
      path: ['worker'],
      events: [
        {
          type: 'model-end',
          agent: 'worker',
          runPath: ['worker'],
          turn,
          message: message.id,
          model: 'bench/model',
          usage: { inputTokens: 100, outputTokens: 100 },
        },
      ],
    });
    messages.push({
      id: outcome.messageId,
      role: 'tool',
      parts: [{ type: 'tool-result', callId: `call-${turn}`, name: 'look', output: outcome.output }],
    });
  }
}

export async function answeredRun(): Promise<void> {
  let isAnswered = false;
  setHandler(defineUpdate('answer'), () => void (isAnswered = true));
  await callModel({ turn: 1 });
  await condition(() => isAnswered);
  await callTool({});
}
