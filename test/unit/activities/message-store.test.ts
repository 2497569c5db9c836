import type { RunHistory } from '../../../activities/transcripts/run-history';
import { MessageStore } from '../../../activities/transcripts/message-store';
import type { HistoryFact } from '../../../contract/record/history-fact';
import type { StoredMessage } from '../../../contract/messages/messages';
import type { CallModelInput } from '../../../contract/record/wire';

const message = (id: string, size = 10): StoredMessage => ({ id, role: 'user', parts: [{ type: 'text', text: id.padEnd(size, '.') }] });
const start: HistoryFact = {
  kind: 'start',
  time: 0,
  workflowId: 'default/r',
  input: { start: { version: 1, tenant: 'default', id: 'r', agent: 'a', input: 'Hi', values: {}, stream: false, options: {}, tags: [] } },
};
const slots = { instructions: 'Be.' };
const turn = (n: number, input: Partial<CallModelInput>): HistoryFact => ({
  kind: 'model-scheduled',
  time: n,
  eventId: n * 10,
  activityId: `t${n}`,
  input: { path: ['a'], turn: n, ...input },
});
const answered = (n: number, id: string): HistoryFact => ({
  kind: 'activity-completed',
  time: n,
  scheduledId: n * 10,
  result: { address: `t${n}`, message: message(id) },
});
const called = (n: number, callId: string): HistoryFact => ({
  kind: 'tool-scheduled',
  time: n,
  eventId: n * 10 + 1,
  activityId: `t${n}/tool`,
  input: { tool: 't', callId, input: {}, path: ['a'] },
});
const returned = (n: number, messageId: string): HistoryFact => ({
  kind: 'activity-completed',
  time: n,
  scheduledId: n * 10 + 1,
  result: { address: `t${n}/tool`, outcome: { type: 'done', messageId, output: 'x' } },
});

const facts: readonly HistoryFact[] = [
  start,
  turn(1, { base: 'start', slots }),
  answered(1, 'm1'),
  called(1, 'c1'),
  returned(1, 'm2'),
  turn(2, { base: 't1', splices: [[1, 0, ['m1', 'm2']]] }),
];
const first: CallModelInput = { path: ['a'], turn: 1, base: 'start', slots };
const second: CallModelInput = { path: ['a'], turn: 2, base: 't1', splices: [[1, 0, ['m1', 'm2']]] };

function storeOver(all: readonly HistoryFact[], maxBytes?: number) {
  const pageSize = 2;
  const reads = { pages: 0, all: 0 };
  const history: RunHistory = {
    async *oldest() {
      reads.all += 1;
      yield all;
    },
    async *newest() {
      const newest = [...all].reverse();
      for (let at = 0; at < newest.length; at += pageSize) {
        reads.pages += 1;
        yield newest.slice(at, at + pageSize);
      }
    },
  };
  return { store: new MessageStore(history, maxBytes), reads };
}

const ids = ({ messages }: { messages: readonly StoredMessage[] }): readonly string[] => messages.map(({ id }) => id);

describe('the message store', () => {
  it('reads history once when it was there all the time: for the list that the run began with', async () => {
    const { store, reads } = storeOver(facts);
    expect(ids(await store.resolve('default/r', 'run', 't1', first))).toEqual(['input.0']);
    store.putMessage('run', message('m1'));
    store.putMessage('run', message('m2'));
    const request = await store.resolve('default/r', 'run', 't2', second);
    expect(ids(request)).toEqual(['input.0', 'm1', 'm2']);
    expect(request.slots).toEqual(slots);
    expect(reads).toEqual({ pages: 0, all: 1 });
  });

  it('finds a message of another worker on the newest pages, as far back as it must', async () => {
    const { store, reads } = storeOver(facts);
    await store.resolve('default/r', 'run', 't1', first);
    const request = await store.resolve('default/r', 'run', 't2', second);
    expect(request.messages[2]).toEqual({ id: 'm2', role: 'tool', parts: [{ type: 'tool-result', callId: 'c1', name: 't', output: 'x' }] });
    expect(reads).toEqual({ pages: 2, all: 1 });
    expect(store.misses).toMatchObject({ messages: 1, lists: 1 });
  });

  it('takes what a tool says of arguments that do not fit for no message', async () => {
    const unfit: HistoryFact = { kind: 'activity-completed', time: 2, scheduledId: 99, result: { ok: false, message: 'They do not fit.' } };
    const { store } = storeOver([...facts.slice(0, 5), unfit, ...facts.slice(5)]);
    await store.resolve('default/r', 'run', 't1', first);
    expect(ids(await store.resolve('default/r', 'run', 't2', second))).toEqual(['input.0', 'm1', 'm2']);
  });

  it('reads the whole history when it does not know the list', async () => {
    const { store, reads } = storeOver(facts);
    const request = await store.resolve('default/r', 'run', 't2', second);
    expect(ids(request)).toEqual(['input.0', 'm1', 'm2']);
    expect(request.slots).toEqual(slots);
    expect(reads).toEqual({ pages: 0, all: 1 });
    await store.resolve('default/r', 'run', 't3', { path: ['a'], turn: 3, base: 't2' });
    expect(store.misses).toMatchObject({ messages: 0, lists: 1 });
  });

  it('keeps runs apart that have the same ids', async () => {
    const { store } = storeOver([]);
    await store.resolve('default/r', 'run-1', 't1', { path: ['a'], turn: 1, splices: [[0, 0, [message('input.0')]]] });
    await expect(store.resolve('default/r', 'run-2', 't2', { path: ['a'], turn: 2, base: 't1' })).rejects.toMatchObject({
      code: 'internal',
      message: expect.stringContaining('no model call t2'),
    });
  });

  it('takes an edit of an earlier message as it was at that call', async () => {
    const edited: HistoryFact = turn(2, {
      base: 't1',
      splices: [
        [0, 1, [message('edited')]],
        [1, 0, ['m1', 'm2']],
      ],
    });
    const later: HistoryFact = turn(3, { base: 't2', splices: [[0, 1, []]] });
    const all = [...facts.slice(0, 5), edited, later];
    const at = async (call: string, input: CallModelInput) => ids(await storeOver(all).store.resolve('default/r', 'run', call, input));
    expect(await at('t2', { path: ['a'], turn: 2, base: 't1' })).toEqual(['edited', 'm1', 'm2']);
    expect(await at('t3', { path: ['a'], turn: 3, base: 't2' })).toEqual(['m1', 'm2']);
  });

  it('finds messages in events, memos and snapshots', async () => {
    const memo: HistoryFact = {
      kind: 'memo',
      time: 3,
      values: { holdfastEvents: [{ type: 'model-end', runPath: ['a'], message: message('in-memo') }] },
    };
    const carried: HistoryFact = {
      ...start,
      input: {
        ...start.input,
        snapshot: { state: { interrupts: [] }, lists: { a: [message('listed')] }, shown: [message('shown')], nextOffset: 3, events: [] },
      },
    };
    const begun: CallModelInput = { path: ['a'], turn: 1, splices: [[0, 0, ['listed', 'shown', 'in-memo']]] };
    const { store } = storeOver([carried, memo, turn(1, begun)]);
    expect(ids(await store.resolve('default/r', 'run', 't1', begun))).toEqual(['listed', 'shown', 'in-memo']);
    expect(store.misses.lists).toBe(0);
  });

  it('forgets the oldest when it is full, and finds them again', async () => {
    const { store } = storeOver(facts, 20_000);
    await store.resolve('default/r', 'run', 't1', first);
    for (let n = 0; n < 200; n++) store.putMessage('other', message(`big${n}`, 1000));
    expect(ids(await store.resolve('default/r', 'run', 't2', second))).toEqual(['input.0', 'm1', 'm2']);
    expect(store.misses.messages).toBe(1);
  });

  it('forgets the oldest lists when they are what fills it', async () => {
    const { store } = storeOver([], 50_000);
    for (let n = 0; n < 300; n++)
      await store.resolve('default/r', `run${n}`, 't1', {
        path: ['a'],
        turn: 1,
        splices: [[0, 0, Array.from({ length: 20 }, (_, at) => message(`m${n}-${at}`))]],
      });
    const next: CallModelInput = { path: ['a'], turn: 2, base: 't1' };
    await expect(store.resolve('default/r', 'run0', 't2', next)).rejects.toMatchObject({ code: 'internal' });
    expect(ids(await store.resolve('default/r', 'run299', 't2', next))).toHaveLength(20);
  });

  it('says so when a message is nowhere', async () => {
    const input: CallModelInput = { path: ['a'], turn: 1, base: 'start', splices: [[1, 0, ['lost']]] };
    const lost = storeOver([start, turn(1, input)]).store.resolve('default/r', 'run', 't1', input);
    await expect(lost).rejects.toMatchObject({ code: 'internal', message: expect.stringContaining('no message lost') });
  });
});
