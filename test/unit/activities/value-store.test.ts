import { RunLocalStore } from '../../../activities/transcripts/value-store';
import type { HistoryFact } from '../../../contract/record/history-fact';
import type { CallModelInput, CallToolResult } from '../../../contract/record/wire';

type Edit = CallModelInput['runLocal'];

const start: HistoryFact = {
  kind: 'start',
  time: 0,
  workflowId: 'default/r',
  input: { start: { version: 1, tenant: 'default', id: 'r', agent: 'a', input: 'Hi', values: {}, stream: false, options: {}, tags: [] } },
};
const model = (eventId: number, runLocal?: Edit): HistoryFact => ({
  kind: 'model-scheduled',
  time: 0,
  eventId,
  activityId: `m${eventId}`,
  input: { path: ['a'], turn: 1, ...(runLocal === undefined ? {} : { runLocal }) },
});
const back = (scheduledId: number, runLocal: CallToolResult['runLocal']): HistoryFact => ({
  kind: 'activity-completed',
  time: 0,
  scheduledId,
  result: { runLocal },
});

const changes = [
  { id: 'x', set: { c: [1] } },
  { id: 'y', set: { d: true }, delete: ['c'] },
] as const;
const edits: Readonly<Record<string, Edit>> = {
  m1: { set: { a: 1, b: 'x' } },
  m2: { base: 'm1' },
  m3: { base: 'm2', brought: ['x', 'y'], set: { a: 2 }, delete: ['b'] },
  m4: undefined,
  m5: { base: 'm3', delete: ['a'] },
};
const facts: readonly HistoryFact[] = [
  start,
  model(1, edits['m1']),
  model(2, edits['m2']),
  back(2, changes[0]),
  back(3, changes[1]),
  model(3, edits['m3']),
  model(4),
  model(5, edits['m5']),
];
const expected = { m1: { a: 1, b: 'x' }, m2: { a: 1, b: 'x' }, m3: { a: 2, d: true }, m4: {}, m5: { d: true } };

function storeOver(history: readonly HistoryFact[], maxBytes = 100_000): RunLocalStore {
  return new RunLocalStore(
    {
      async *oldest() {
        yield history;
      },
      async *newest() {},
    },
    maxBytes,
  );
}

async function readAll(store: RunLocalStore): Promise<unknown> {
  const read: Record<string, unknown> = {};
  for (const [id, edit] of Object.entries(edits)) read[id] = await store.resolve('default/r', 'run', id, edit);
  return read;
}

describe('the memory of run-local values', () => {
  it('follows edits without a look at the history', async () => {
    const store = storeOver([]);
    for (const change of changes) store.learn('run', change);
    expect(await readAll(store)).toEqual(expected);
    expect(store.misses).toBe(0);
  });

  it('reads the history for what it lacks, such as after a crash', async () => {
    for (const [id, edit] of Object.entries(edits)) {
      const store = storeOver(facts);
      expect(await store.resolve('default/r', 'run', id, edit)).toEqual(expected[id as keyof typeof expected]);
      expect(store.misses).toBe(edit?.base === undefined ? 0 : 1);
    }
  });

  it('takes no change of an attempt that was lost for that of the next one', async () => {
    const store = storeOver(facts);
    store.learn('run', { id: 'lost', set: { c: 'lost' } });
    expect(await store.resolve('default/r', 'run', 'm3', edits['m3'])).toEqual(expected.m3);
    expect(store.misses).toBe(1);
  });

  it('is bounded, and right where it has forgotten', async () => {
    const store = storeOver(facts, 500);
    expect(await readAll(store)).toEqual(expected);
    expect(await readAll(store)).toEqual(expected);
    expect(store.misses).toBeGreaterThan(0);
  });

  it('keeps runs apart', async () => {
    const store = storeOver(facts);
    await store.resolve('default/other', 'other', 'm1', { set: { a: 'other' } });
    expect(await store.resolve('default/r', 'run', 'm2', edits['m2'])).toEqual(expected.m2);
  });

  it('says so when the history has no such call', async () => {
    await expect(storeOver([start]).resolve('default/r', 'run', 'm2', edits['m2'])).rejects.toMatchObject({ code: 'internal' });
  });
});
