import { HistoryFold } from '../../../contract/record/fold';
import type { HistoryFact } from '../../../contract/record/history-fact';
import type { Interrupt } from '../../../contract/interrupts';
import { limits } from '../../../contract/limits';
import type { StoredMessage } from '../../../contract/messages/messages';
import { messageOfOutcome } from '../../../contract/record/tool-outcomes';
import { addUsage } from '../../../contract/usage';
import type { Snapshot } from '../../../contract/record/wire';
import { fitting } from '../../../kernel/run/weight';
import { Ledger } from '../../../kernel/log/ledger';
import type { ModelCall } from '../../../kernel/run/ports';
import { errorSaying, failureSaying } from '../../support/failures';

const text = (id: string, role: StoredMessage['role'] = 'assistant'): StoredMessage => ({ id, role, parts: [{ type: 'text', text: id }] });
const input = {
  start: { version: 1 as const, tenant: 'default', id: 'r1', agent: 'a', input: 'Hi', values: {}, stream: false, options: {}, tags: [] },
};
const start: HistoryFact = { kind: 'start', time: 1, workflowId: 'default/r1', input };
const first: HistoryFact = {
  kind: 'model-scheduled',
  time: 2,
  eventId: 5,
  activityId: 'a/t1/model',
  input: { base: 'start', path: ['a'], turn: 1 },
};
const interrupt: Interrupt = { id: 'a.t1', address: ['a'], agent: 'a', kind: 'question', info: 'Go?' };
const memo = (time: number, values: Readonly<Record<string, unknown>>): HistoryFact => ({ kind: 'memo', time, values });
const told = (time: number, ...holdfastEvents: readonly object[]): HistoryFact => memo(time, { holdfastEvents });
const answered = { type: 'model-end', agent: 'a', runPath: ['a'], turn: 1, model: 'x' };
const folded = (...facts: readonly HistoryFact[]): HistoryFold => {
  const fold = new HistoryFold();
  for (const fact of facts) fold.add(fact);
  return fold;
};

describe('a history', () => {
  it('says nothing before it begins, and then gives each event its offset and its time', () => {
    const fold = new HistoryFold();
    expect(fold.view()).toMatchObject({ id: '', status: 'running', messages: [], nextOffset: 0 });
    expect(fold.add(start)).toEqual([{ type: 'run-start', agent: 'a', input: 'Hi', offset: 0, time: 1 }]);
    expect(fold.add(first)).toMatchObject([{ type: 'model-start', offset: 1, time: 2, turn: 1, address: 'a/t1/model' }]);
  });

  it('shows a message from the event that tells it, and once', () => {
    const fold = folded(start, first, {
      kind: 'activity-completed',
      time: 3,
      scheduledId: 5,
      result: { address: 'a/t1/model', message: text('m1'), usage: { inputTokens: 1, outputTokens: 2 } },
    });
    expect(fold.view()).toMatchObject({ messages: [{ id: 'input.0' }], usage: { inputTokens: 1, outputTokens: 2 } });
    expect(fold.add(told(4, { ...answered, message: 'm1' }))).toMatchObject([{ message: text('m1') }]);
    expect(fold.view().messages.map(({ id }) => id)).toEqual(['input.0', 'm1']);
    fold.add({
      kind: 'model-scheduled',
      time: 5,
      eventId: 9,
      activityId: 'a/t2/model',
      input: { base: 'a/t1/model', splices: [[1, 0, ['m1']]], path: ['a'], turn: 2 },
    });
    expect(fold.view().messages.map(({ id }) => id)).toEqual(['input.0', 'm1']);
  });

  it('does not show messages of agents that are tools, and shows those of agents that take part', () => {
    const other = { type: 'model-end', agent: 'b', turn: 1, message: text('m1'), model: 'x' };
    const seen = (runPath: readonly string[]): readonly string[] =>
      folded(start, told(4, { ...other, runPath }))
        .view()
        .messages.map(({ id }) => id);
    expect(seen(['a', 'b@1'])).toEqual(['input.0']);
    expect(seen(['a', 'b'])).toEqual(['input.0', 'm1']);
  });

  it('has results in the order of the calls, also while one of them has not ended', () => {
    const result = (callId: string): StoredMessage => ({
      id: `result ${callId}`,
      role: 'tool',
      parts: [{ type: 'tool-result', callId, name: 't', output: callId }],
    });
    const end = (callId: string): object => ({ type: 'tool-end', agent: 'a', runPath: ['a'], tool: 't', callId, message: result(callId) });
    const asked: StoredMessage = {
      id: 'm1',
      role: 'assistant',
      parts: ['1', '2', '3'].map((id) => ({ type: 'tool-call', id, name: 't', input: {} })),
    };
    const asks = { ...answered, message: asked };
    const idsAfter = (...facts: readonly HistoryFact[]): readonly string[] =>
      folded(start, ...facts)
        .view()
        .messages.map(({ id }) => id);
    expect(idsAfter(told(4, asks, end('3')), told(4, end('1')))).toEqual(['input.0', 'm1', 'result 1', 'result 3']);
    const apology = { ...answered, message: text('m2') };
    expect(idsAfter(told(4, asks, end('3'), end('2'), end('1'), apology), { kind: 'end', time: 5, status: 'failed' })).toEqual([
      'input.0',
      'm1',
      'result 1',
      'result 2',
      'result 3',
      'm2',
    ]);
  });

  it('shows tool calls but not those of hooks, second entries and reconciling', () => {
    const fold = folded(start);
    const call = { tool: 't', callId: '1', input: {}, path: ['a'] };
    const events = (extra: object): readonly unknown[] =>
      fold.add({ kind: 'tool-scheduled', time: 2, eventId: 7, activityId: 'x', input: { ...call, ...extra } });
    expect(events({})).toMatchObject([{ type: 'tool-start', tool: 't', callId: '1' }]);
    for (const extra of [{ hidden: true }, { resumed: { answer: 1 } }, { reconcile: true }]) expect(events(extra)).toEqual([]);
  });

  it('waits while an interrupt is in the memo, and not for an answer to one that ended with the run, though the memo shows it still', () => {
    const waits: HistoryFact = memo(3, {
      'holdfastInterrupts:a.t1': interrupt,
      holdfastEvents: [{ type: 'interrupt-start', interrupt: 'a.t1' }],
    });
    const fold = folded(start);
    expect(fold.add(waits)).toMatchObject([{ type: 'interrupt-start', interrupt }]);
    expect(fold.view()).toMatchObject({ status: 'waiting', interrupts: [interrupt] });
    fold.add(memo(4, { 'holdfastInterrupts:a.t1': null }));
    expect(fold.view()).toMatchObject({ status: 'running', interrupts: [] });
    const end = { type: 'interrupt-end', interruptId: interrupt.id, answer: null, reason: 'cancel' };
    expect(folded(start, waits, told(4, end)).view()).toMatchObject({ status: 'running', interrupts: [] });
  });

  describe('that goes on after a continue-as-new', () => {
    const snapshot: Snapshot = {
      state: {},
      lists: { a: [text('input.0', 'user'), text('m1')], 'a/b': [text('other')] },
      shown: [text('m1'), text('m2')],
      events: [],
      nextOffset: 4,
    };
    const idsBehind = (seen: Snapshot['seen']): readonly string[] =>
      folded({ ...start, input: { ...input, snapshot: seen === undefined ? snapshot : { ...snapshot, seen } } })
        .view()
        .messages.map(({ id }) => id);

    it('counts once what isolated agents had used that ended before', () => {
      const used = { usage: { inputTokens: 3, outputTokens: 2 }, usageByModel: { 'test/first': { inputTokens: 3, outputTokens: 2 } } };
      const events: Snapshot['events'] = [{ type: 'agent-end', agent: 'first', runPath: ['a', 'first'], run: 'r1~first', ...used }];
      const fold = folded({ ...start, input: { ...input, snapshot: { ...snapshot, state: used, events } } });
      expect([fold.view().usage, fold.used.byModel]).toEqual([used.usage, used.usageByModel]);
    });

    it('shows the list of the root agent, and behind it what it does not have', () => {
      expect(idsBehind(undefined)).toEqual(['input.0', 'm1', 'm2']);
    });

    it('shows the list that readers saw where that is another one', () => {
      expect(idsBehind([[0, 2, [text('summary'), 'other']]])).toEqual(['summary', 'other', 'm1', 'm2']);
      expect(idsBehind([[1, 1, []]])).toEqual(['input.0', 'm1', 'm2']);
    });

    it('edits the list of the root agent all the same when the model is called', () => {
      const seen: Snapshot['seen'] = [[0, 2, [text('summary')]]];
      const called = folded(
        { ...start, input: { ...input, snapshot: { ...snapshot, seen } } },
        { ...first, input: { base: 'start', splices: [[2, 0, [text('m3')]]], path: ['a'], turn: 2 } },
      );
      expect(called.view().messages.map(({ id }) => id)).toEqual(['input.0', 'm1', 'm3']);
    });

    it('leaves out what readers saw where the rest alone fits', () => {
      const next = { ...input, snapshot: { ...snapshot, seen: [[0, 2, [text('summary')]]] as const } };
      expect(fitting(next)).toBe(next);
      const wide = { ...next, snapshot: { ...next.snapshot, seen: [[0, 2, [text('x'.repeat(limits.inlineSnapshot))]]] as const } };
      expect(fitting(wide)).toEqual({ ...input, snapshot });
      const stored = { ...wide, start: { ...wide.start, externalStorage: true } };
      expect(fitting(stored)).toBe(stored);
      const large = { ...wide, snapshot: { ...wide.snapshot, state: 'x'.repeat(limits.inlineSnapshot) } };
      expect(() => fitting(large)).toThrow(errorSaying('transcript-too-large'));
    });
  });

  it('is stuck while its tasks fail, and no longer', () => {
    const fold = folded(start, { kind: 'task-failed', time: 2, message: 'x is not a function' });
    expect(fold.view()).toMatchObject({ status: 'stuck', error: { code: 'run-stuck', message: 'x is not a function' } });
    fold.add({ kind: 'task-completed', time: 3 });
    expect(fold.view()).not.toHaveProperty('error');
  });

  it('ends with its output, the last events and the last edit', () => {
    const fold = folded(start, first, memo(3, { 'holdfastInterrupts:a.t1': interrupt }));
    const events = fold.add({
      kind: 'end',
      time: 4,
      status: 'completed',
      result: {
        output: 'x',
        text: 'x',
        usage: { inputTokens: 0, outputTokens: 0 },
        base: 'a/t1/model',
        splices: [[1, 0, [text('m1')]]],
        events: [{ ...answered, message: 'm1' }],
      },
    });
    expect(events).toMatchObject([
      { type: 'model-end', message: text('m1') },
      { type: 'run-end', status: 'completed', output: 'x', text: 'x' },
    ]);
    expect(fold.view()).toMatchObject({ status: 'completed', interrupts: [], messages: [{ id: 'input.0' }, text('m1')] });
    expect(fold.ended).toBe(true);
  });

  it.each(['failed', 'cancelled'] as const)('ends as %s with what was shown until then', (status) => {
    const fold = folded(start, {
      kind: 'end',
      time: 4,
      status,
      ...(status === 'failed' ? { error: { code: 'tool-failed', message: 'no' } } : {}),
    });
    expect(fold.view()).toMatchObject({ status, messages: [{ id: 'input.0' }] });
  });

  it('forgets a call that closed without a result', () => {
    const fold = folded(
      start,
      first,
      { kind: 'activity-closed', time: 3, scheduledId: 5 },
      { kind: 'activity-completed', time: 4, scheduledId: 5, result: { message: text('late') } },
    );
    expect(fold.messagesById.has('late')).toBe(false);
  });

  it('keeps the slots of a request that did not change', () => {
    const fold = folded(start);
    const slots = { instructions: 'Be.', tools: ['t'], model: 'x/y', settings: null, workerMiddleware: [] };
    fold.add({ kind: 'model-scheduled', time: 2, eventId: 5, activityId: 'one', input: { base: 'start', slots, path: ['a'], turn: 1 } });
    fold.add({
      kind: 'model-scheduled',
      time: 3,
      eventId: 6,
      activityId: 'two',
      input: { base: 'one', slots: { model: 'x/z' }, path: ['a'], turn: 2 },
    });
    expect(fold.requestOf('two')?.slots).toEqual({ ...slots, model: 'x/z' });
    expect(fold.requestOf('three')).toBeUndefined();
  });
});

describe('the message of a tool outcome', () => {
  const call = { tool: 't', callId: '1', input: {}, path: ['a'] };
  it.each([
    [
      { type: 'done', messageId: 'm', output: { a: 1 } } as const,
      { id: 'm', role: 'tool', parts: [{ type: 'tool-result', callId: '1', name: 't', output: { a: 1 } }] },
    ],
    [
      { type: 'failed', messageId: 'm', error: { code: 'tool-failed', message: 'no' } } as const,
      { id: 'm', role: 'tool', parts: [{ type: 'tool-result', callId: '1', name: 't', output: 'no', isError: true }] },
    ],
    [{ type: 'interrupted', info: 1 } as const, undefined],
    [{ type: 'unsettled' } as const, undefined],
    [{ type: 'undone' } as const, undefined],
  ])('%p', (outcome, message) => expect(messageOfOutcome(call, { address: 'x', outcome })).toEqual(message));
});

it('usage sums up, with the counts that a provider gives', () => {
  expect(
    addUsage({ inputTokens: 1, outputTokens: 2, cachedInputTokens: 3 }, { inputTokens: 10, outputTokens: 20, reasoningTokens: 4 }),
  ).toEqual({ inputTokens: 11, outputTokens: 22, cachedInputTokens: 3, reasoningTokens: 4 });
  expect(addUsage({ inputTokens: 1, outputTokens: 2 }, { inputTokens: 1, outputTokens: 1 })).toEqual({ inputTokens: 2, outputTokens: 3 });
});

describe('a history that something else than Holdfast began', () => {
  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['an empty input', {}],
    ['a text', 'hello'],
    ['an agent that is none', { start: { ...input.start, agent: 5 } }],
    ['edits that are none', { ...input, snapshot: { state: {}, lists: {}, shown: [], seen: [[0, 1]], events: [], nextOffset: 0 } }],
    [
      'edits with something else',
      { ...input, snapshot: { state: {}, lists: {}, shown: [], seen: [[0, 1, [5]]], events: [], nextOffset: 0 } },
    ],
    ['a snapshot that is none', { ...input, snapshot: { state: {}, lists: {}, shown: 5, events: [], nextOffset: 0 } }],
  ])('shows as stuck until it ends, and tells nothing of a run: %s', (_, odd) => {
    const fold = new HistoryFold();
    expect(fold.add({ ...start, input: odd as typeof input })).toEqual([]);
    const stuck = { id: 'r1', agent: '', status: 'stuck', messages: [], error: { code: 'run-stuck' } };
    expect(fold.view()).toMatchObject(stuck);
    fold.add({ kind: 'task-completed', time: 2 });
    expect(fold.view()).toMatchObject(stuck);
    expect(fold.add({ kind: 'end', time: 3, status: 'failed', error: { code: 'run-terminated', message: 'Gone.' } })).toHaveLength(1);
    expect(fold.view()).toMatchObject(failureSaying('run-terminated'));
  });

  it('shows no interrupt that is none', () => {
    const forged = ['boo', 5, [], {}, { ...interrupt, id: 5 }, { ...interrupt, kind: 'approval' }, { ...interrupt, by: 'ada' }];
    const values = Object.fromEntries(forged.map((value, position) => [`holdfastInterrupts:${position}`, value]));
    const fold = folded(start, memo(2, { ...values, [`holdfastInterrupts:${interrupt.id}`]: interrupt }));
    expect(fold.view().interrupts).toEqual([interrupt]);
    const state = { interrupts: [{ shown: 'boo' }, { shown: interrupt }] };
    const snapshot = { state, lists: {}, shown: [], events: [], nextOffset: 3 };
    expect(folded({ ...start, input: { ...input, snapshot } }).view().interrupts).toEqual([interrupt]);
  });
});

describe('the ledger', () => {
  const hi: StoredMessage = { ...text('input.0', 'user'), parts: [{ type: 'text', text: 'hi '.repeat(2000) }] };
  const slots: ModelCall['slots'] = {
    instructions: 'Be.',
    tools: ['t'],
    model: 'x/y',
    settings: null,
    workerMiddleware: [],
    stream: 'whole',
    output: null,
    retries: null,
    parse: null,
    specs: null,
    deferred: null,
    final: null,
    catalog: null,
  };
  const call = (address: string, messages: readonly StoredMessage[], extra: Partial<ModelCall> = {}): ModelCall => ({
    address,
    path: ['a'],
    turn: 1,
    messages,
    slots,
    facts: { timeoutMs: 1, heartbeatMs: 1, attempts: 1, patienceMs: 0 },
    ...extra,
  });

  it('edits the list that the run began with, then the last one', () => {
    const ledger = new Ledger({ a: [hi] }, []);
    expect(ledger.editFor(call('one', [hi]))).toEqual({
      base: 'start',
      slots: { instructions: 'Be.', tools: ['t'], model: 'x/y', workerMiddleware: [], stream: 'whole' },
    });
    ledger.learn(text('m1'));
    expect(ledger.editFor(call('two', [hi, text('m1')]))).toEqual({ base: 'one', splices: [[1, 0, ['m1']]] });
    expect(ledger.editFor(call('three', [hi, text('m1')], { slots: { ...slots, model: 'x/z' } }))).toEqual({
      base: 'two',
      slots: { model: 'x/z' },
    });
  });

  it('writes a short list that the run began with once more', () => {
    const ledger = new Ledger({ a: [text('input.0', 'user')] }, []);
    const { base, splices } = ledger.editFor(call('one', [text('input.0', 'user')]));
    expect([base, splices]).toEqual([undefined, [[0, 0, [text('input.0', 'user')]]]]);
  });

  it('writes a message that was born in the workflow whole, once', () => {
    const ledger = new Ledger({ a: [hi] }, []);
    expect(ledger.editFor(call('one', [hi, text('own')])).splices).toEqual([[1, 0, [text('own')]]]);
    expect(ledger.finalEdit('a', [hi, text('x'), text('own')]).splices).toEqual([[1, 0, [text('x')]]]);
    const kept = (id: string): unknown => ledger.encode([{ ...answered, message: text(id) } as never]);
    expect([kept('own'), kept('new'), kept('new')]).toMatchObject([[{ message: 'own' }], [{ message: text('new') }], [{ message: 'new' }]]);
  });

  it('keeps the lists of agents apart', () => {
    const ledger = new Ledger({ a: [hi] }, []);
    ledger.editFor(call('one', [hi]));
    expect(ledger.editFor(call('other', [hi], { path: ['a', 'b'] })).base).toBeUndefined();
    expect(ledger.editFor(call('two', [hi])).base).toBe('one');
  });

  it('names an interrupt by its id', () => {
    expect(new Ledger({}, []).encode([{ type: 'interrupt-start', interrupt }])).toEqual([{ type: 'interrupt-start', interrupt: 'a.t1' }]);
  });
});

const opened: HistoryFact = { ...start, input: { start: { ...input.start, conversation: { window: 200 } } } };
const endOf = (...facts: readonly HistoryFact[]): unknown => folded(opened, ...facts).view().conversation?.ended;

it('a conversation whose run did not complete says why it has ended', () => {
  const error = { code: 'agent-unknown', message: 'There is no agent "a".' };
  expect(endOf()).toBeUndefined();
  expect(endOf({ kind: 'end', time: 3, status: 'failed', error })).toEqual({ reason: 'failed', error });
  expect(endOf({ kind: 'end', time: 3, status: 'cancelled' })).toEqual({ reason: 'cancelled' });
  expect(endOf({ kind: 'end', time: 3, status: 'completed' })).toBeUndefined();
});
