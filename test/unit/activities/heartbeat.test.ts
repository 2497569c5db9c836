import { MockActivityEnvironment } from '@temporalio/testing';
import { z } from 'zod';
import { createActivities } from '../../../activities/activities';
import { withHeartbeat } from '../../../activities/health/heartbeat';
import { defineTool } from '../../../activities/tools/define-tool';
import { partsOf } from '../../../worker/worker-parts';
import { gate } from '../../support/gate';

describe('heartbeats of a call', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  function environment(heartbeatTimeoutMs: number) {
    const beats: number[] = [];
    const environment = new MockActivityEnvironment({ heartbeatTimeoutMs });
    environment.on('heartbeat', () => beats.push(Date.now()));
    return { beats, run: (work: () => Promise<void>): Promise<void> => environment.run(work) };
  }

  it('only keep a call alive that has not begun, and are one a second once the call has begun', async () => {
    const { beats, run } = environment(3000);
    let begun: () => void = () => undefined;
    let end: () => void = () => undefined;
    const ended = run(() => withHeartbeat((say) => ((begun = say), new Promise<void>((resolve) => (end = resolve)))));
    await jest.advanceTimersByTimeAsync(1200);
    expect(beats).toHaveLength(2);
    begun();
    await jest.advanceTimersByTimeAsync(4000);
    expect(beats).toHaveLength(6);
    end();
    await ended;
    expect(jest.getTimerCount()).toBe(0);
  });

  it.each([
    ['are one a second for ten seconds, and one in five seconds from then on', 10_000, false, 10 + 4],
    ['are not fewer with a longer timeout', 120_000, false, 10 + 4],
    ['are two in a short timeout', 4000, false, 10 + 10],
    ['are one a second throughout where the call is urgent', 10_000, true, 30],
  ])('%s', async (_, timeout, isUrgent, expected) => {
    const { beats, run } = environment(timeout);
    let end: () => void = () => undefined;
    const ended = run(() => withHeartbeat((begun) => (begun(isUrgent), new Promise<void>((resolve) => (end = resolve)))));
    await jest.advanceTimersByTimeAsync(30_000);
    expect(beats).toHaveLength(expected);
    end();
    await ended;
    expect(jest.getTimerCount()).toBe(0);
  });

  it.each([
    ['throughout, as nobody may make the call again', 'once', 30],
    ['for ten seconds if the call may be made again', 'idempotent', 10 + 4],
  ] as const)('of a tool are one a second %s', async (_, effect, expected) => {
    const held = gate();
    const execute = async (): Promise<string> => (await held.pass(), 'paid');
    const nothing = { workflowService: {} as never, namespace: 'default' };
    const parts = partsOf(
      { tools: { pay: defineTool({ description: 'Pays.', inputSchema: z.looseObject({}), effect, execute }) }, environment: {} },
      { source: nothing, connection: () => nothing as never, taskQueue: () => 'q', dataConverter: () => undefined },
    );
    const beats: unknown[] = [];
    const environment = new MockActivityEnvironment({
      activityId: 'a/t1/pay.0',
      workflowExecution: { workflowId: 'default/r', runId: 'r' },
      startToCloseTimeoutMs: 60_000,
      heartbeatTimeoutMs: 10_000,
    });
    environment.on('heartbeat', (details: unknown) => beats.push(details));
    const { callTool } = createActivities(parts);
    const ended = environment.run(() => callTool({ path: ['a'], tool: 'pay', callId: 'c', input: {} }));
    await held.reached;
    await jest.advanceTimersByTimeAsync(30_000);
    expect(beats).toHaveLength(expected);
    held.open();
    expect(await ended).toMatchObject({ outcome: { type: 'done' } });
  });

  it('end with the call, also when what it waited for comes later', async () => {
    const { beats, run } = environment(3000);
    let begun: () => void = () => undefined;
    await run(() => withHeartbeat((say) => ((begun = say), Promise.resolve())));
    begun();
    expect(jest.getTimerCount()).toBe(0);
    expect(beats).toHaveLength(0);
  });

  it('are none for a call without a heartbeat timeout', async () => {
    const { run } = environment(0);
    await run(() => withHeartbeat((begun) => (begun(), Promise.resolve())));
    expect(jest.getTimerCount()).toBe(0);
  });
});
