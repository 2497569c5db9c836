import type { HistoryPage } from '../../../host/history/history-pages';
import { oldestPages } from '../../../host/history/history-pages';

function historyOf(count: number) {
  const asked: number[] = [];
  const getWorkflowExecutionHistory = ({ nextPageToken }: { readonly nextPageToken?: Uint8Array }): Promise<HistoryPage<number>> => {
    const at = nextPageToken?.[0] ?? 0;
    asked.push(at);
    if (at === count) return Promise.reject(new Error('The server is away.'));
    return Promise.resolve({ history: { events: [at] }, nextPageToken: at + 1 < count ? Buffer.from([at + 1]) : null });
  };
  const workflowService = { getWorkflowExecutionHistory, getWorkflowExecutionHistoryReverse: getWorkflowExecutionHistory };
  return { asked, source: { workflowService, namespace: 'default' } };
}

const run = { workflowId: 'default/r' };

describe('the pages of a history', () => {
  it.each([
    [
      'ask for the next page while one is read',
      false,
      [
        [0, 1],
        [0, 1, 2],
        [0, 1, 2],
      ],
    ],
    ['ask for none ahead where the next one may wait for news', true, [[0], [0, 1], [0, 1, 2]]],
  ])('%s', async (_, follow, expected) => {
    const { asked, source } = historyOf(3);
    const seen: (readonly number[])[] = [];
    for await (const [event] of oldestPages(source, run, follow)) {
      expect(event).toBe(seen.length);
      seen.push([...asked]);
    }
    expect(seen).toEqual(expected);
  });

  it.each([true, false])('end when nobody wants them any more (following: %s)', async (follow) => {
    const { source } = historyOf(3);
    const seen: number[] = [];
    for await (const events of oldestPages(source, run, follow, () => seen.length === 2)) seen.push(...events);
    expect(seen).toEqual([0, 1]);
  });
});
