import { EventEmitter } from 'node:events';
import type { ThreadParts } from '../../worker/threads/watched-thread';
import { WatchedThread } from '../../worker/threads/watched-thread';

/** Answers its start alone. */
class SilentThread extends EventEmitter {
  readonly terminate = jest.fn(async () => this.emit('exit', 1));

  postMessage({ requestId, input }: { requestId: bigint; input: { type: string } }): void {
    if (input.type === 'init') void Promise.resolve().then(() => this.emit('message', { requestId, result: { type: 'ok' } }));
  }
}

let silent: SilentThread;
jest.mock('../../worker/threads/spare-thread', () => ({ takeThread: () => silent }));

const limitMs = 1000;
let cpuMs = 0;
beforeEach(() => {
  jest.useFakeTimers();
  silent = new SilentThread();
  cpuMs = 0;
  jest.spyOn(process, 'cpuUsage').mockImplementation(() => ({ user: cpuMs * 500, system: cpuMs * 500 }));
});
afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

/** A thread that was asked something and does not answer. */
async function asked() {
  const logger = { error: () => undefined, trace: () => undefined } as unknown as ThreadParts['logger'];
  const parts = { bundle: {}, activityNames: new Set(), logger, limitMs, stackTraces: false, reuseV8Context: true } as ThreadParts;
  const thread = await WatchedThread.start(parts, () => undefined);
  const answer = thread.send({ type: 'activate-workflow', runId: 'r', activation: {} } as never);
  answer.catch(() => undefined);
  return { answer };
}

describe('a thread of workflow code that does not answer', () => {
  it('is left alone while the process gets no processor time, such as one that was stopped', async () => {
    await asked();
    cpuMs += limitMs / 2;
    await jest.advanceTimersByTimeAsync(100 * limitMs);
    expect(silent.terminate).not.toHaveBeenCalled();
  });

  it('is ended when its code has taken processor time for the limit', async () => {
    const answer = (await asked()).answer;
    cpuMs += 2 * limitMs;
    await jest.advanceTimersByTimeAsync(2 * limitMs);
    expect(silent.terminate).toHaveBeenCalled();
    await expect(answer).rejects.toThrow('Script execution timed out after 1000ms');
  });
});
