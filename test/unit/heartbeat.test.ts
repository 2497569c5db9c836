import { MockActivityEnvironment } from '@temporalio/testing';
import { orTimedOut, withHeartbeat } from '../../activities/health/heartbeat';

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
    ['are one a second for ten seconds, and ten in a heartbeat timeout from then on', 20_000, false, 10 + 10],
    ['are at least one in five seconds', 120_000, false, 10 + 4],
    ['are one a second throughout with the usual timeout', 10_000, false, 30],
    ['are one a second throughout where the call streams', 20_000, true, 30],
  ])('%s', async (_, timeout, streams, expected) => {
    const { beats, run } = environment(timeout);
    let end: () => void = () => undefined;
    const ended = run(() => withHeartbeat((begun) => (begun(streams), new Promise<void>((resolve) => (end = resolve)))));
    await jest.advanceTimersByTimeAsync(30_000);
    expect(beats).toHaveLength(expected);
    end();
    await ended;
    expect(jest.getTimerCount()).toBe(0);
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

  it('of a once tool are over when its time is up: its own result says so, as the timer of a server may be late', async () => {
    const environment = new MockActivityEnvironment({ startToCloseTimeoutMs: 500 });
    const ended = environment.run(() => orTimedOut(new Promise<string>(() => undefined), () => 'too late'));
    await jest.advanceTimersByTimeAsync(500);
    expect(await ended).toBe('too late');
    expect(await environment.run(() => orTimedOut(Promise.resolve('in time'), () => 'too late'))).toBe('in time');
    expect(jest.getTimerCount()).toBe(0);
  });
});
