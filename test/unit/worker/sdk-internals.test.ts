import { EventEmitter } from 'node:events';
import type { SdkThread, ThreadParts } from '../../../worker/sdk-internals';
import { WatchedThread, isThreadEnded } from '../../../worker/sdk-internals';

class SilentThread extends EventEmitter {
  readonly terminate = jest.fn(async () => this.emit('exit', 1));
  readonly atWork = new BigInt64Array(1).fill(-1n);

  postMessage({ requestId, input }: { requestId: bigint; input: { type: string } }): void {
    this.atWork[0] = requestId;
    if (input.type === 'init') void Promise.resolve().then(() => this.emit('message', { requestId, result: { type: 'ok' } }));
  }

  answer(requestId: bigint): void {
    this.emit('message', { requestId, result: { type: 'ok', output: { type: 'activation-completion', completion: {} } } });
  }
}

const limitMs = 1000;
let silent: SilentThread;
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

async function asked(...runIds: readonly string[]) {
  const logger = { error: () => undefined, trace: () => undefined } as unknown as ThreadParts['logger'];
  const parts = { bundle: {}, activityNames: new Set(), logger, limitMs, stackTraces: false, reuseV8Context: true } as ThreadParts;
  const made = { thread: silent, atWork: silent.atWork } as unknown as SdkThread;
  const thread = await WatchedThread.start(made, parts, () => undefined);
  const answers = runIds.map((runId) => thread.send({ type: 'activate-workflow', runId, activation: {} } as never));
  for (const answer of answers) answer.catch(() => undefined);
  return answers;
}

async function passes(milliseconds: number, cpu = milliseconds): Promise<void> {
  for (let passed = 0; passed < milliseconds; passed += 100) {
    cpuMs += (100 * cpu) / milliseconds;
    await jest.advanceTimersByTimeAsync(100);
  }
}

describe('a thread of workflow code that does not answer', () => {
  it('is left alone while the process gets no processor time, such as one that was stopped', async () => {
    void (await asked('r'));
    await passes(100 * limitMs, limitMs / 2);
    expect(silent.terminate).not.toHaveBeenCalled();
  });

  it('is ended when its code has taken processor time for the limit', async () => {
    const [answer] = await asked('r');
    await passes(2 * limitMs);
    expect(silent.terminate).toHaveBeenCalled();
    await expect(answer).rejects.toThrow('Script execution timed out after 1000ms');
  });

  it('fails as a loop what it is at work on, and all before as something to be done again', async () => {
    const [rests, loops] = await asked('rests', 'loops');
    await passes(2 * limitMs);
    await expect(loops).rejects.toThrow('Script execution timed out');
    expect(isThreadEnded(await rests?.catch((error: unknown) => error))).toBe(true);
  });
});

it('a thread that goes from one request to the next is not ended, however long its queue is', async () => {
  const answers = await asked('a', 'b', 'c', 'd');
  for (const id of [1n, 2n, 3n, 4n]) {
    silent.atWork[0] = id;
    await passes(0.8 * limitMs);
    silent.answer(id);
  }
  expect(await Promise.all(answers)).toHaveLength(4);
  expect(silent.terminate).not.toHaveBeenCalled();
});
