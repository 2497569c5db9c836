import v8 from 'node:v8';
import { Worker as Thread } from 'node:worker_threads';
import { dropThread, prepareThread, takeThread } from '../../../worker/threads/spare-thread';

const made: Thread[] = [];
const take = (stackTraces = false, cachedRuns?: number): Thread => {
  const { thread } = takeThread(stackTraces, cachedRuns);
  made.push(thread);
  return thread;
};
/** Thread ids ascend. */
const mark = (): number => {
  const thread = new Thread('', { eval: true });
  made.push(thread);
  return thread.threadId;
};

afterEach(async () => {
  jest.restoreAllMocks();
  await dropThread();
  await Promise.all(made.splice(0).map((thread) => thread.terminate()));
});

describe('a thread for workflow code', () => {
  it('is the one that was prepared, and the next one is another', () => {
    prepareThread();
    const now = mark();
    prepareThread();
    const first = take();
    const second = take();
    expect(first.threadId).toBeLessThan(now);
    expect(second.threadId).toBe(now + 1);
  });

  it('is made for itself where it notes promises', () => {
    prepareThread();
    const now = mark();
    expect(take(true).threadId).toBeGreaterThan(now);
    expect(take().threadId).toBeLessThan(now);
  });

  it('is made anew when nobody needed the prepared one', async () => {
    prepareThread();
    const now = mark();
    await dropThread();
    expect(take().threadId).toBeGreaterThan(now);
  });

  it('has a heap below 2 GB if it holds few runs and Node has more', () => {
    const heapOf = (cachedRuns: number, nodeGb: number): number | undefined => {
      hasHeap(nodeGb);
      return take(false, cachedRuns).resourceLimits?.maxOldGenerationSizeMb;
    };
    expect(heapOf(50, 4)).toBe(2047);
    expect(heapOf(5000, 4)).not.toBe(2047);
    expect(heapOf(50, 1)).not.toBe(2047);
  });

  it('is another one if the prepared one has another heap', () => {
    hasHeap(4);
    prepareThread(5000);
    const now = mark();
    expect(take(false, 50).threadId).toBeGreaterThan(now);
    prepareThread(50);
    const later = mark();
    expect(take(false, 50).threadId).toBeLessThan(later);
  });
});

function hasHeap(gb: number): void {
  jest.spyOn(v8, 'getHeapStatistics').mockReturnValue({ heap_size_limit: gb * 1024 ** 3 } as v8.HeapInfo);
}
