import { oldestPages } from '../../host/history/history-pages';

interface Event {
  readonly eventId: number;
}

/** A history with the events of these ids on its pages; a page that waits for news may lack some. `asked` has the page of each request. */
function historyOf(pages: readonly (readonly number[])[], news = pages) {
  const asked: number[] = [];
  const getWorkflowExecutionHistory = ({
    nextPageToken,
    waitNewEvent,
  }: {
    readonly nextPageToken?: Uint8Array;
    readonly waitNewEvent: boolean;
  }) => {
    const at = nextPageToken?.[0] ?? 0;
    asked.push(at);
    const ids = (waitNewEvent ? news : pages)[at];
    if (ids === undefined) return Promise.reject(new Error('The server is away.'));
    return Promise.resolve({
      history: { events: ids.map((eventId) => ({ eventId })) },
      nextPageToken: at + 1 < pages.length ? Buffer.from([at + 1]) : null,
    });
  };
  const getWorkflowExecutionHistoryReverse = () => Promise.reject(new Error('Nobody asks for it.'));
  return { asked, source: { workflowService: { getWorkflowExecutionHistory, getWorkflowExecutionHistoryReverse }, namespace: 'default' } };
}

const run = { workflowId: 'default/r' };

async function idsOf(pages: AsyncIterable<readonly Event[]>): Promise<number[]> {
  const ids: number[] = [];
  for await (const events of pages) ids.push(...events.map(({ eventId }) => eventId));
  return ids;
}

describe('the pages of a history', () => {
  it('ask for the next page while one is read', async () => {
    const { asked, source } = historyOf([[1], [2], [3]]);
    const seen: (readonly number[])[] = [];
    for await (const [event] of oldestPages<Event>(source, run, false)) seen.push([event?.eventId ?? 0, ...asked]);
    expect(seen).toEqual([
      [1, 0, 1],
      [2, 0, 1, 2],
      [3, 0, 1, 2],
    ]);
  });

  it('ask for none ahead where the next one may wait for news', async () => {
    const { asked, source } = historyOf([[1], [2], [3]]);
    const seen: (readonly number[])[] = [];
    for await (const [event] of oldestPages<Event>(source, run, true)) seen.push([event?.eventId ?? 0, ...asked]);
    expect(seen).toEqual([
      [1, 0],
      [2, 0, 1],
      [3, 0, 1, 2],
    ]);
  });

  it.each([true, false])('end when nobody wants them any more (following: %s)', async (follow) => {
    const { source } = historyOf([[1], [2], [3]]);
    const seen: number[] = [];
    for await (const events of oldestPages<Event>(source, run, follow, () => seen.length === 2))
      seen.push(...events.map(({ eventId }) => eventId));
    expect(seen).toEqual([1, 2]);
  });

  it.each([
    ['in the middle', [[1, 2], [], [6], [7, 8]]],
    ['at the end', [[1, 2], [3, 4], [5, 6], []]],
    ['at the beginning', [[], [4], [5, 6], [7, 8]]],
    ['twice', [[1, 2], [4], [5], [7, 8]]],
  ])('have the events that the server left out of what it sent as news %s', async (_, news) => {
    const whole = [
      [1, 2],
      [3, 4],
      [5, 6],
      [7, 8],
    ];
    expect(await idsOf(oldestPages<Event>(historyOf(whole, news).source, run, true))).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  it('read nothing twice where a wait ended without news', async () => {
    const { asked, source } = historyOf([[1, 2], [], [3]]);
    expect(await idsOf(oldestPages<Event>(source, run, true))).toEqual([1, 2, 3]);
    expect(asked).toEqual([0, 1, 2]);
  });
});
