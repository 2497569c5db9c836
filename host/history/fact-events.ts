import { Reader } from 'protobufjs/minimal';
import { temporal } from '@temporalio/proto';
import { defined } from '../../contract/defined';
import type { FactEvent } from './history-facts';
import type { HistoryPage } from './history-pages';

const { HistoryEvent } = temporal.api.history.v1;
const { Payloads } = temporal.api.common.v1;

const workflowTaskCompleted = 12;
const activityScheduled = 15;
const activityCompleted = 17;

/** Events of workflow tasks, starts of activities, timers: most of a history. */
const silent = new Set([0, 10, 11, 16, 20, 21, 22, 24]);

/** Decodes only the events for facts, and the last event, because decoding every field takes most of the time. */
export function factEventsOf(bytes: Uint8Array): HistoryPage<FactEvent> {
  const events: FactEvent[] = [];
  let nextPageToken: Uint8Array | undefined;
  let last: Uint8Array | undefined;
  readFields(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), (field, page) => {
    if (field === 3) nextPageToken = page.bytes();
    if (field !== 1) return;
    readFields(page.bytes(), (inner, history) => {
      if (inner !== 1) return;
      last = history.bytes();
      const event = eventOf(last);
      if (event === undefined) return;
      events.push(event);
      last = undefined;
    });
  });
  if (last !== undefined) events.push(headOf(last).head);
  return { history: { events }, ...defined({ nextPageToken }) };
}

function readFields(bytes: Uint8Array, take: (field: number, message: Reader) => void): void {
  const message = Reader.create(bytes);
  while (message.pos < message.len) {
    const tag = message.uint32();
    const from = message.pos;
    take(tag >>> 3, message);
    if (message.pos === from) message.skipType(tag & 7);
  }
}

function eventOf(bytes: Uint8Array): FactEvent | undefined {
  const { head, kind, attributes } = headOf(bytes);
  if (attributes === undefined || silent.has(kind)) return undefined;
  switch (kind) {
    case workflowTaskCompleted:
      return { ...head, workflowTaskCompletedEventAttributes: {} };
    case activityScheduled:
      return { ...head, activityTaskScheduledEventAttributes: scheduledOf(attributes) };
    case activityCompleted:
      return { ...head, activityTaskCompletedEventAttributes: completedOf(attributes) };
    default:
      return HistoryEvent.decode(bytes);
  }
}

interface EventParts {
  readonly head: Pick<FactEvent, 'eventId' | 'eventTime'>;
  readonly kind: number;
  readonly attributes: Uint8Array | undefined;
}

function headOf(bytes: Uint8Array): EventParts {
  let eventId = 0;
  let eventTime: FactEvent['eventTime'];
  let kind = 0;
  let attributes: Uint8Array | undefined;
  readFields(bytes, (field, event) => {
    if (field === 1) eventId = event.uint32();
    else if (field === 2) eventTime = timeOf(event.bytes());
    else if (field > 5 && field < 300) {
      kind = field;
      attributes = event.bytes();
    }
  });
  return { head: { eventId, eventTime }, kind, attributes };
}

function timeOf(bytes: Uint8Array): FactEvent['eventTime'] {
  let seconds = 0;
  let nanos = 0;
  readFields(bytes, (field, time) => {
    if (field === 1) seconds = time.uint32();
    if (field === 2) nanos = time.uint32();
  });
  return { seconds, nanos };
}

function scheduledOf(bytes: Uint8Array): FactEvent['activityTaskScheduledEventAttributes'] {
  let activityId = '';
  let name = '';
  let input: temporal.api.common.v1.IPayloads | undefined;
  readFields(bytes, (field, attributes) => {
    if (field === 1) activityId = attributes.string();
    if (field === 2) readFields(attributes.bytes(), (inner, type) => inner === 1 && (name = type.string()));
    if (field === 6) input = Payloads.decode(attributes.bytes());
  });
  return { activityId, activityType: { name }, ...defined({ input }) };
}

function completedOf(bytes: Uint8Array): FactEvent['activityTaskCompletedEventAttributes'] {
  let scheduledEventId = 0;
  let result: temporal.api.common.v1.IPayloads | undefined;
  readFields(bytes, (field, attributes) => {
    if (field === 1) result = Payloads.decode(attributes.bytes());
    if (field === 2) scheduledEventId = attributes.uint32();
  });
  return { scheduledEventId, ...defined({ result }) };
}
