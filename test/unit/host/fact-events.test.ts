import { defaultPayloadConverter } from '@temporalio/common';
import { loadDataConverter } from '@temporalio/common/lib/internal-non-workflow';
import { temporal } from '@temporalio/proto';
import { join } from 'node:path';
import { requestIn } from '../../../activities/transcripts/request-history';
import { names } from '../../../contract/names';
import { HistoryFold } from '../../../contract/record/fold';
import type { HistoryFact } from '../../../contract/record/history-fact';
import { retriedCalls } from '../../../client/reading/retried-calls';
import { factEventsOf } from '../../../host/history/fact-events';
import { FactReader } from '../../../host/history/history-facts';
import { readHistories } from '../../../host/history/history-files';

type HistoryEvent = temporal.api.history.v1.IHistoryEvent;

const { GetWorkflowExecutionHistoryResponse: Page, GetWorkflowExecutionHistoryReverseResponse: ReversePage } =
  temporal.api.workflowservice.v1;
const reader = new FactReader(loadDataConverter());

const page = (events: readonly HistoryEvent[]): Uint8Array => Page.encode({ history: { events: [...events] } }).finish();

async function factsOf(bytes: Uint8Array): Promise<{ readonly full: readonly HistoryFact[]; readonly lean: readonly HistoryFact[] }> {
  const full = await reader.read(Page.decode(bytes).history?.events ?? [], 'default/r');
  const lean = await reader.read(factEventsOf(bytes).history?.events ?? [], 'default/r');
  return { full, lean };
}

describe('events for facts', () => {
  it('give the facts that whole events give, for all recorded histories', async () => {
    const recorded = await readHistories(join(__dirname, '../../replay/histories'));
    expect(recorded.length).toBeGreaterThan(10);
    for (const { id, history } of recorded) {
      const { full, lean } = await factsOf(page(history.events ?? []));
      expect(full.length).toBeGreaterThan(0);
      expect({ id, facts: lean }).toEqual({ id, facts: full });
    }
  });

  it.each([names.answerSignal, names.cancelSignal])('tell that a run has yet to look at a signal of the kind "%s"', async (signalName) => {
    const { full, lean } = await factsOf(page([{ workflowExecutionSignaledEventAttributes: { signalName } }]));
    expect(full).toMatchObject([{ kind: 'stirred', by: 'signal' }]);
    expect(lean).toEqual(full);
  });

  it('tell why a person cancelled a run, and nothing of the words with which a workflow cancels a part of itself', async () => {
    const cancelled = (cause: string, externalWorkflowExecution?: { workflowId: string; runId: string }): HistoryEvent => ({
      eventType: 20,
      workflowExecutionCancelRequestedEventAttributes: {
        cause,
        ...(externalWorkflowExecution === undefined ? {} : { externalWorkflowExecution }),
      },
    });
    const { full, lean } = await factsOf(
      page([cancelled('Wrong customer'), cancelled('Cancel requested by workflow', { workflowId: 'w', runId: 'r' })]),
    );
    expect(full).toMatchObject([{ by: 'cancel', reason: 'Wrong customer' }, { by: 'cancel' }]);
    expect(full[1]).not.toHaveProperty('reason');
    expect(lean).toEqual(full);
  });

  it('leave out the events of which no fact is made', async () => {
    const [first] = await readHistories(join(__dirname, '../../replay/histories'));
    const all = first?.history.events ?? [];
    const { events } = factEventsOf(page(all)).history ?? {};
    const isSilent = (event: { readonly workflowTaskStartedEventAttributes?: object | null }): boolean =>
      event.workflowTaskStartedEventAttributes != null;
    expect(all.some(isSilent)).toBe(true);
    expect(events?.length).toBeLessThan(all.length);
    expect(events?.some(isSilent)).toBe(false);
    expect(events?.[0]?.workflowExecutionStartedEventAttributes?.workflowId).toBe(
      all[0]?.workflowExecutionStartedEventAttributes?.workflowId,
    );
  });

  it('say how far the history goes, also where nothing is made of its last event', () => {
    const time = { seconds: 1_790_000_000 as never, nanos: 5_000_000 };
    const { events } =
      factEventsOf(
        page([
          { eventId: 7 as never, workflowTaskCompletedEventAttributes: {} },
          { eventId: 8 as never, eventTime: time, workflowTaskStartedEventAttributes: { identity: 'a worker' } },
        ]),
      ).history ?? {};
    expect(events?.map(({ eventId }) => eventId)).toEqual([7, 8]);
    expect(events?.at(-1)).toEqual({ eventId: 8, eventTime: { seconds: 1_790_000_000, nanos: 5_000_000 } });
  });

  it('come with the token of the next page, in both directions', () => {
    const nextPageToken = Buffer.from('next');
    for (const Kind of [Page, ReversePage])
      expect(Buffer.from(factEventsOf(Kind.encode({ nextPageToken }).finish()).nextPageToken ?? []).toString()).toBe('next');
    expect(factEventsOf(page([])).nextPageToken).toBeUndefined();
  });

  it('have payloads with all that codecs and storages may have put there', () => {
    const external = temporal.api.common.v1.Payload.create({
      metadata: { encoding: Buffer.from('json/external-storage-reference'), messageType: Buffer.from('x') },
      data: Buffer.from('{}'),
      externalPayloads: [{ sizeBytes: 7 as never }],
    });
    const binary = { metadata: { encoding: Buffer.from('binary/encrypted'), key: Buffer.from([0, 255]) }, data: Buffer.from([1, 2, 3]) };
    const events: HistoryEvent[] = [
      { activityTaskScheduledEventAttributes: { activityType: { name: 'callModel' }, input: { payloads: [binary, external] } } },
      { activityTaskCompletedEventAttributes: { result: { payloads: [{ metadata: {} }] } } },
    ];
    const [scheduled, completed] = factEventsOf(page(events)).history?.events ?? [];
    const [first, second] = scheduled?.activityTaskScheduledEventAttributes?.input?.payloads ?? [];
    expect(Buffer.from(first?.data ?? []).equals(binary.data)).toBe(true);
    expect(Buffer.from(first?.metadata?.['key'] ?? []).equals(binary.metadata.key)).toBe(true);
    expect(Number(second?.externalPayloads?.[0]?.sizeBytes)).toBe(7);
    expect(completed?.activityTaskCompletedEventAttributes?.result?.payloads).toHaveLength(1);
  });

  it('know the numbers that the protocol has for the fields', () => {
    const { history, common, workflowservice } = temporal.api as unknown as Record<
      string,
      { v1: Record<string, { fields: Record<string, { id: number }> }> }
    >;
    const ids = (type: { fields: Record<string, { id: number }> } | undefined, ...fields: string[]): readonly (number | undefined)[] =>
      fields.map((field) => type?.fields[field]?.id);
    const attributes = (...kinds: string[]): readonly (number | undefined)[] =>
      ids(history?.v1['HistoryEvent'], ...kinds.map((kind) => `${kind}EventAttributes`));
    expect(ids(history?.v1['HistoryEvent'], 'eventId', 'eventTime')).toEqual([1, 2]);
    expect(attributes('workflowTaskCompleted', 'activityTaskScheduled', 'activityTaskCompleted')).toEqual([12, 15, 17]);
    expect(attributes('workflowTaskScheduled', 'workflowTaskStarted', 'activityTaskStarted')).toEqual([10, 11, 16]);
    expect(attributes('timerStarted', 'timerFired', 'activityTaskCancelRequested', 'timerCanceled')).toEqual([20, 21, 22, 24]);
    expect(ids(history?.v1['ActivityTaskScheduledEventAttributes'], 'activityId', 'activityType', 'input')).toEqual([1, 2, 6]);
    expect(ids(history?.v1['ActivityTaskCompletedEventAttributes'], 'result', 'scheduledEventId')).toEqual([1, 2]);
    expect(ids(common?.v1['Payload'], 'metadata', 'data')).toEqual([1, 2]);
    expect(ids(common?.v1['Payloads'], 'payloads')).toEqual([1]);
    for (const kind of ['GetWorkflowExecutionHistoryResponse', 'GetWorkflowExecutionHistoryReverseResponse'])
      expect(ids(workflowservice?.v1[kind], 'history', 'nextPageToken')).toEqual([1, 3]);
  });

  it('are an error, and no wrong facts, when bytes are missing', () => {
    const input = { payloads: [defaultPayloadConverter.toPayload({ path: ['a'], turn: 1 })] };
    const bytes = page([{ eventId: 300 as never, activityTaskScheduledEventAttributes: { activityId: 'a', input } }]);
    for (let length = 1; length < bytes.length; length++) expect(() => factEventsOf(bytes.subarray(0, length))).toThrow(RangeError);
  });
});

it('the request of a call in a history is the one that the fold of readers finds, for every call of all recorded histories', async () => {
  let calls = 0;
  for (const { id, history } of await readHistories(join(__dirname, '../../replay/histories'))) {
    const facts = await reader.read(history.events ?? [], 'default/r');
    const fold = new HistoryFold();
    const folded = new Map<string, ReturnType<HistoryFold['requestOf']>>();
    for (const fact of facts) {
      fold.add(fact);
      if (fact.kind === 'model-scheduled') folded.set(fact.activityId, fold.requestOf(fact.activityId));
    }
    for (const [activityId, wanted] of folded) {
      const request = requestIn(facts, activityId);
      const messages = request?.ids.map((message) => request.messages.get(message));
      expect({ id, activityId, messages, slots: request?.slots }).toEqual({ id, activityId, ...wanted });
      calls += 1;
    }
  }
  expect(calls).toBeGreaterThan(20);
});

const { TIMEOUT_TYPE_HEARTBEAT: heartbeat, TIMEOUT_TYPE_START_TO_CLOSE: wholeCall } = temporal.api.enums.v1.TimeoutType;

it.each([
  ['the worker of it was lost', { timeoutFailureInfo: { timeoutType: heartbeat } }, 'attempt-lost', /worker .* was killed/],
  ['its worker was stopped', { applicationFailureInfo: { type: 'WorkerShutdown' } }, 'attempt-lost', /worker .* stopped/],
  ['it took too long', { timeoutFailureInfo: { timeoutType: wholeCall } }, 'attempt-lost', /within its timeout/],
  ['the provider was busy', { applicationFailureInfo: { type: 'model-busy' } }, 'model-busy', /^As thrown/],
  ['a bug threw', { applicationFailureInfo: { type: 'TypeError' } }, 'run-failed', /^As thrown/],
])('a call that is made again says so where %s', (_, info, code, message) => {
  const [call] = retriedCalls([{ activityId: 'a/t1/model', attempt: 2, lastFailure: { message: 'As thrown.', ...info } }]);
  expect(call).toMatchObject({ attempt: 2, error: { code, message: expect.stringMatching(message) as string } });
});
