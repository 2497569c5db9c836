import { loadDataConverter } from '@temporalio/common/lib/internal-non-workflow';
import { Histories } from '../../../client/reading/histories';
import type { RunFollower } from '../../../client/reading/follower';
import { SharedFollowers } from '../../../client/reading/shared-followers';
import { gate } from '../../support/memory-bed';

function bed() {
  const stopped: string[] = [];
  const over = gate();
  const begin = (name: string) => async () => ({ over: over.opened, stop: () => void stopped.push(name) }) as unknown as RunFollower;
  return { followers: new SharedFollowers(), begin, stopped, over };
}

describe('a run that is followed', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('is followed for a moment when its last reader has gone, and the next one goes on with it', async () => {
    const { followers, begin, stopped } = bed();
    const first = followers.share('r', begin('a'));
    followers.leave('r', first);
    await jest.advanceTimersByTimeAsync(400);
    expect(followers.share('r', begin('b'))).toBe(first);
    await jest.advanceTimersByTimeAsync(10_000);
    expect([stopped, followers.has('r')]).toEqual([[], true]);
    followers.leave('r', first);
    await jest.advanceTimersByTimeAsync(500);
    expect([stopped, followers.has('r')]).toEqual([['a'], false]);
    expect(followers.share('r', begin('c'))).not.toBe(first);
  });

  it('is followed as long as one of two readers reads', async () => {
    const { followers, begin, stopped } = bed();
    const shared = followers.share('r', begin('a'));
    followers.share('r', begin('b'));
    followers.leave('r', shared);
    await jest.advanceTimersByTimeAsync(10_000);
    expect(stopped).toEqual([]);
  });

  it('ends at once for readers of one that nobody finds any more', async () => {
    const { followers, begin, stopped } = bed();
    const shared = followers.share('r', begin('a'));
    followers.forget('r', shared);
    const next = followers.share('r', begin('b'));
    followers.leave('r', shared);
    await jest.advanceTimersByTimeAsync(0);
    expect(stopped).toEqual(['a']);
    expect(followers.share('r', begin('c'))).toBe(next);
  });

  it('is forgotten when it is over, and nothing is left of it when the client closes', async () => {
    const { followers, begin, stopped, over } = bed();
    const shared = followers.share('r', begin('a'));
    followers.leave('r', shared);
    followers.close();
    await jest.advanceTimersByTimeAsync(0);
    expect([stopped, jest.getTimerCount()]).toEqual([['a'], 0]);
    followers.share('r', begin('b'));
    over.open();
    await jest.advanceTimersByTimeAsync(0);
    expect(followers.has('r')).toBe(false);
  });
});

describe('the Temporal runs of a run', () => {
  const asked: string[] = [];
  const chainOf = (info: object) => {
    const workflowService = {
      describeWorkflowExecution: async () => (asked.push('describe'), { workflowExecutionInfo: info }),
      getWorkflowExecutionHistory: async () => (asked.push('history'), { history: { events: [] } }),
    };
    return new Histories({ workflowService } as never, 'default', loadDataConverter()).chain('r');
  };
  const of = (fields: object) => ({ execution: { runId: 'one' }, historyLength: 3, ...fields });
  beforeEach(() => void asked.splice(0));

  it('are known at once where the server says that there is one', async () => {
    expect(await chainOf(of({ firstRunId: 'one' }))).toEqual({
      ...{ firstRunId: 'one', retries: new Map(), mark: { runId: 'one', length: 3, isClosed: false } },
    });
    expect(asked).toEqual(['describe']);
  });

  it.each<[string, object]>([
    ['the server says nothing of them', {}],
    ['others were before', { firstRunId: 'zero' }],
    ['it is tried again', { firstRunId: 'one', memo: { fields: { holdfastRetryOf: {} } } }],
  ])('are looked for in the histories where %s', async (_, fields) => {
    await chainOf(of(fields));
    expect(asked).toContain('history');
  });
});
