import { MockActivityEnvironment } from '@temporalio/testing';
import { createActivities } from '../../../activities/activities';
import type { CallModelInput } from '../../../contract/record/wire';
import { partsOf } from '../../../worker/worker-parts';
import { gate } from '../../support/gate';

const input: CallModelInput = { path: ['a'], turn: 1, slots: { instructions: 'x', tools: [], model: 'test/m', stream: 'whole' } };

function limited(generate: () => Promise<unknown>) {
  const nothing = { workflowService: {} as never, namespace: 'default' };
  const parts = partsOf(
    {
      tools: {},
      models: { providers: { test: { model: () => ({ generate: generate as never }) } }, limits: { '*': { concurrent: 1 } } },
      environment: {},
    },
    { source: nothing, connection: () => nothing as never, taskQueue: () => 'q', dataConverter: () => undefined },
  );
  const activities = createActivities(parts);
  let made = 0;
  return (info: object = {}) => {
    const call = ++made;
    const environment = new MockActivityEnvironment({
      activityId: `a/t${call}/model`,
      workflowExecution: { workflowId: `default/${call}`, runId: `run${call}` },
      scheduledTimestampMs: call,
      startToCloseTimeoutMs: 600_000,
      heartbeatTimeoutMs: 10_000,
      ...info,
    });
    const beats: unknown[] = [];
    environment.on('heartbeat', (details: unknown) => beats.push(details));
    return { beats, ended: environment.run(() => activities.callModel(input)).catch((error: unknown) => error) };
  };
}

it.each([
  ['with the policy of its run', { maximumAttempts: 0 }],
  ['without one, as it came with the task of its run', undefined],
])('a call %s that has no turn and no place to wait leaves, and is to come back', async (_, retryPolicy) => {
  const held = gate();
  const call = limited(async () => {
    await held.pass();
    return { parts: [{ type: 'text', text: 'Done.' }] };
  });
  const first = call({ retryPolicy });
  await held.reached;
  const others = Array.from({ length: 5 }, () => call({ retryPolicy }));
  const left = others[4]!;
  expect(await left.ended).toMatchObject({
    type: 'waiting-for-turn',
    nonRetryable: false,
    category: 'BENIGN',
    nextRetryDelay: expect.any(Number) as number,
    message: expect.stringMatching(/lets 1 call work at a time\. \d calls are before this one\./) as string,
  });
  // The next attempt reads what this attempt waits for.
  expect(left.beats.at(-1)).toMatchObject({ times: 1, busyMs: 0 });
  held.open();
  for (const one of [first, ...others.slice(0, 4)]) expect(await one.ended).toMatchObject({ message: { parts: [{ text: 'Done.' }] } });
});

it('a call whose attempts were all lost is not made again', async () => {
  const call = limited(() => Promise.reject(new Error('never called')));
  const heartbeatDetails = { times: 2, turnMs: 10, busyMs: 0 };
  expect(await call({ retryPolicy: { maximumAttempts: 0 }, attempt: 8, heartbeatDetails }).ended).toMatchObject({
    failed: { code: 'model-failed', message: expect.stringMatching(/no answer in 5 attempts/) as string },
    waited: heartbeatDetails,
  });
});
