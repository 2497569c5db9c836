import { RunList } from '../../../console/data/runs';
import type { ListedRun, RunQuery } from '../../../client/http/index';

const all = Array.from({ length: 1_500 }, (_, at): ListedRun => {
  const startedAt = new Date(Date.UTC(2026, 10, 25) - at * 1_000).toISOString();
  return { id: `run-${at}`, agent: 'a', status: 'running', startedAt, interrupts: [], tags: [] };
});

// Jest cannot load Preact's signals. The tests need no dependencies between signals.
jest.mock('@preact/signals', () => ({
  signal: (value: unknown) => ({
    value,
    peek() {
      return this.value;
    },
  }),
}));
jest.mock('../../../console/data/service', () => ({
  service: {
    list: ({ after, limit = 0 }: RunQuery) => {
      const from = Number(after ?? 0);
      const to = Math.min(all.length, from + limit);
      return Promise.resolve({ runs: all.slice(from, to), total: all.length, ...(to < all.length ? { next: String(to) } : {}) });
    },
  },
}));

it('a long list of runs keeps all its rows while it asks about older ones again', async () => {
  const list = new RunList({});
  await list.ask();
  await list.loadMore();
  for (let asked = 0; asked < 6; asked++) {
    await list.ask();
    expect(list.now.value?.rows.map(({ id }) => id)).toEqual(all.slice(0, 1_200).map(({ id }) => id));
  }
});
