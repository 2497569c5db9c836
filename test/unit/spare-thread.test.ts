import { Worker as Thread } from 'node:worker_threads';
import { dropThread, prepareThread, takeThread } from '../../worker/threads/spare-thread';

const made: Thread[] = [];
const take = (stackTraces = false): Thread => {
  const { thread } = takeThread(stackTraces);
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
});
