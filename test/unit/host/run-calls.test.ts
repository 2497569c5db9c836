import { join } from 'node:path';
import { loadDataConverter } from '@temporalio/common/lib/internal-non-workflow';
import type { ModelRunCall } from '../../../contract/calls';
import type { RunEvent } from '../../../contract/events';
import type { StoredMessage } from '../../../contract/messages/messages';
import { CallRecord, diffOf } from '../../../contract/record/call-record';
import { HistoryFold } from '../../../contract/record/fold';
import type { HistoryFact } from '../../../contract/record/history-fact';
import { FactReader } from '../../../host/history/history-facts';
import { readHistories } from '../../../host/history/history-files';
import { withCompression } from '../../../host/payloads/compression';

const message = (id: string, text = id): StoredMessage => ({ id, role: 'user', parts: [{ type: 'text', text }] });
const all = { limit: 500 };

function callIn(facts: readonly HistoryFact[], address: string, wanted: Parameters<CallRecord['call']>[0] = all) {
  const record = new CallRecord(address);
  for (const fact of facts) record.add(fact);
  return record.call(wanted);
}

describe('the calls of histories of released versions', () => {
  it('are all found by the addresses of the log, with what was asked and what came back', async () => {
    const reader = new FactReader(loadDataConverter(withCompression(undefined)));
    let [models, tools, diffs] = [0, 0, 0];
    for (const { history } of await readHistories(join(__dirname, '..', '..', 'replay', 'histories'))) {
      const facts = await reader.read(history.events ?? [], 'any');
      const fold = new HistoryFold();
      const requests = new Map<string, readonly StoredMessage[]>();
      const log: RunEvent[] = [];
      for (const fact of facts) {
        log.push(...fold.add(fact));
        if (fact.kind === 'model-scheduled') requests.set(fact.activityId, fold.requestOf(fact.activityId)?.messages ?? []);
      }
      for (const event of log) {
        if (event.type !== 'model-start' && event.type !== 'tool-start') continue;
        const call = callIn(facts, event.address);
        expect(call).toMatchObject({ address: event.address, agent: event.agent, runPath: event.runPath });
        if (event.type === 'tool-start') {
          tools += 1;
          expect(call).toMatchObject({ kind: 'tool', tool: event.tool, callId: event.callId });
          continue;
        }
        models += 1;
        const { request, response, diff } = call as ModelRunCall;
        expect(request.messages).toEqual(requests.get(event.address));
        expect(request).toMatchObject({ from: 0, total: request.messages.length });
        const end = log.find((one) => one.type === 'model-end' && one.address === event.address);
        expect(response === undefined).toBe(end === undefined);
        if (diff === undefined) continue;
        diffs += 1;
        const list = [...(requests.get(diff.address) ?? [])];
        let moved = 0;
        for (const { at, removed, added } of diff.messages) {
          expect(list.slice(at + moved, at + moved + removed.length)).toEqual(removed);
          list.splice(at + moved, removed.length, ...added);
          moved += added.length - removed.length;
        }
        expect(list).toEqual(request.messages);
      }
    }
    expect([models > 10, tools > 5, diffs > 3]).toEqual([true, true, true]);
  });
});

describe('the messages of a request', () => {
  const start = { version: 1, tenant: 't', id: 'r', agent: 'agent', stream: false } as const;
  const facts = (messages: readonly StoredMessage[]): readonly HistoryFact[] => [
    { kind: 'start', time: 1, workflowId: 't/r', input: { start: { ...start, input: messages as never } } },
    {
      kind: 'model-scheduled',
      time: 2,
      eventId: 5,
      activityId: 'agent/t1/model',
      input: { base: 'start', path: ['agent'], turn: 1, slots: { model: 'm', instructions: 'Be.', workerMiddleware: [{ name: 'audit' }] } },
    },
  ];
  const many = Array.from({ length: 30 }, (_, at) => message(`input.${at}`));

  it('come page by page, the last page first', () => {
    const asked = (wanted: Parameters<CallRecord['call']>[0]) => (callIn(facts(many), 'agent/t1/model', wanted) as ModelRunCall).request;
    expect(asked({ limit: 2 })).toMatchObject({ from: 28, total: 30, messages: many.slice(28), workerMiddleware: ['audit'] });
    expect(asked({ limit: 3, before: 28 })).toMatchObject({ from: 25, messages: many.slice(25, 28) });
    expect(asked({ limit: 3, before: 2 })).toMatchObject({ from: 0, messages: many.slice(0, 2) });
  });

  it('have about 1 MB at most, and one that is larger comes alone', () => {
    const large = ['a', 'b', 'c'].map((id) => message(id, 'x'.repeat(700_000)));
    const { request } = callIn(facts(large), 'agent/t1/model') as ModelRunCall;
    expect([request.from, request.messages.map(({ id }) => id)]).toEqual([2, ['input.2']]);
  });

  it('of a call that has not come back have no response yet', () => {
    const call = callIn(facts(many), 'agent/t1/model');
    expect(call).toMatchObject({ kind: 'model', status: 'running', startedAt: 2 });
    expect(call).not.toHaveProperty('response');
    expect(callIn(facts(many), 'agent/t2/model')).toBeUndefined();
  });
});

it('a call that was cut off is cancelled', () => {
  const facts: readonly HistoryFact[] = [
    {
      kind: 'tool-scheduled',
      time: 5,
      eventId: 9,
      activityId: 'agent/t1/pay.0',
      input: { tool: 'pay', callId: 'c', input: {}, path: ['agent'] },
    },
    { kind: 'activity-closed', time: 8, scheduledId: 9 },
  ];
  expect(callIn(facts, 'agent/t1/pay.0')).toMatchObject({ kind: 'tool', status: 'cancelled', startedAt: 5, endedAt: 8 });
});

describe('the difference of two requests', () => {
  it('has edits at their places in the list before, and fields with what they were', () => {
    const [a, b, c, d, e, x] = [message('a'), message('b'), message('c'), message('d'), message('e'), message('x')] as const;
    const before = { address: 'one', request: { messages: [a, b, c, d], slots: { model: 'm', tools: ['t'] } } };
    expect(diffOf(before, { messages: [a, x, c, d, e], slots: { model: 'm', tools: [], instructions: 'Be.' } })).toEqual({
      address: 'one',
      messages: [
        { at: 1, removed: [b], added: [x] },
        { at: 4, removed: [], added: [e] },
      ],
      fields: [
        { name: 'tools', before: ['t'] },
        { name: 'instructions', before: null },
      ],
    });
  });

  it('leaves out what is too large, and says so', () => {
    const [first, last] = [message('a', 'x'.repeat(700_000)), message('c', 'x'.repeat(700_000))] as const;
    const keep = message('keep');
    const diff = diffOf({ address: 'one', request: { messages: [keep], slots: {} } }, { messages: [first, keep, last], slots: {} });
    expect(diff).toMatchObject({ messages: [{ at: 0 }], more: true });
  });
});
