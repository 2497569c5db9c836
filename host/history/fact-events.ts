import { defined } from '../../contract/defined';
import { temporal } from '@temporalio/proto';
import type { FactEvent } from './history-facts';
import type { HistoryPage } from './history-pages';
import { WireCursor } from './wire-cursor';

type Payload = temporal.api.common.v1.IPayload;

const { HistoryEvent } = temporal.api.history.v1;
const { Payload } = temporal.api.common.v1;

const workflowTaskCompleted = 12;
const activityScheduled = 15;
const activityCompleted = 17;

/** Tasks that are scheduled, started or late, activities that start, timers: most of a history, and nothing of it is a fact. */
const silent = new Set([0, 10, 11, 13, 16, 20, 21, 22, 24]);

/**
 * The events of a page from which facts are made, with what facts need of them, and the last one in any case: how far a history goes, it says. After a crash a worker reads the histories of all its runs
 * at once, and to decode every field of every event took most of the time. What is rare is decoded as usual.
 */
export function factEventsOf(bytes: Uint8Array): HistoryPage<FactEvent> {
  const events: FactEvent[] = [];
  let nextPageToken: Uint8Array | undefined;
  const page = new WireCursor(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  while (page.next()) {
    if (page.field === 3) nextPageToken = page.slice();
    if (page.field !== 1) continue;
    const history = page.message();
    let last: Buffer | undefined;
    while (history.next()) {
      if (history.field !== 1) continue;
      last = history.slice();
      const event = eventOf(last);
      if (event === undefined) continue;
      events.push(event);
      last = undefined;
    }
    if (last !== undefined) events.push(placeOf(last));
  }
  return { history: { events }, ...defined({ nextPageToken }) };
}

function eventOf(bytes: Buffer): FactEvent | undefined {
  let eventId = 0;
  let eventTime: FactEvent['eventTime'];
  let kind = 0;
  let attributes: WireCursor | undefined;
  const event = new WireCursor(bytes);
  while (event.next()) {
    if (event.field === 1) eventId = event.varint();
    else if (event.field === 2) eventTime = timeOf(event.message());
    else if (event.field > 5 && event.field < 300) {
      kind = event.field;
      attributes = event.message();
    }
  }
  if (attributes === undefined || silent.has(kind)) return undefined;
  switch (kind) {
    case workflowTaskCompleted:
      return { eventId, eventTime, workflowTaskCompletedEventAttributes: {} };
    case activityScheduled:
      return { eventId, eventTime, activityTaskScheduledEventAttributes: scheduledOf(attributes) };
    case activityCompleted:
      return { eventId, eventTime, activityTaskCompletedEventAttributes: completedOf(attributes) };
    default:
      return HistoryEvent.decode(bytes);
  }
}

/** Only where it stands. */
function placeOf(bytes: Buffer): FactEvent {
  let eventId = 0;
  let eventTime: FactEvent['eventTime'];
  const event = new WireCursor(bytes);
  while (event.next()) {
    if (event.field === 1) eventId = event.varint();
    else if (event.field === 2) eventTime = timeOf(event.message());
  }
  return { eventId, eventTime };
}

function timeOf(time: WireCursor): FactEvent['eventTime'] {
  let seconds = 0;
  let nanos = 0;
  while (time.next()) {
    if (time.field === 1) seconds = time.varint();
    if (time.field === 2) nanos = time.varint();
  }
  return { seconds, nanos };
}

function scheduledOf(attributes: WireCursor): FactEvent['activityTaskScheduledEventAttributes'] {
  let activityId = '';
  let name = '';
  let payloads: Payload[] = [];
  while (attributes.next()) {
    if (attributes.field === 1) activityId = attributes.text();
    if (attributes.field === 2) name = nameOf(attributes.message());
    if (attributes.field === 6) payloads = payloadsOf(attributes.message());
  }
  return { activityId, activityType: { name }, input: { payloads } };
}

function completedOf(attributes: WireCursor): FactEvent['activityTaskCompletedEventAttributes'] {
  let scheduledEventId = 0;
  let payloads: Payload[] = [];
  while (attributes.next()) {
    if (attributes.field === 1) payloads = payloadsOf(attributes.message());
    if (attributes.field === 2) scheduledEventId = attributes.varint();
  }
  return { scheduledEventId, result: { payloads } };
}

function nameOf(type: WireCursor): string {
  let name = '';
  while (type.next()) if (type.field === 1) name = type.text();
  return name;
}

function payloadsOf(list: WireCursor): Payload[] {
  const payloads: Payload[] = [];
  while (list.next()) if (list.field === 1) payloads.push(payloadOf(list.slice()));
  return payloads;
}

function payloadOf(bytes: Buffer): Payload {
  const metadata: Record<string, Uint8Array> = {};
  let data: Uint8Array = nothing;
  const payload = new WireCursor(bytes);
  while (payload.next()) {
    if (payload.field === 1) metadataOf(payload.message(), metadata);
    else if (payload.field === 2) data = payload.slice();
    else return Payload.decode(bytes);
  }
  return { metadata, data };
}

function metadataOf(entry: WireCursor, metadata: Record<string, Uint8Array>): void {
  let key = '';
  let value: Uint8Array = nothing;
  while (entry.next()) {
    if (entry.field === 1) key = entry.text();
    if (entry.field === 2) value = entry.slice();
  }
  if (key !== '__proto__') metadata[key] = value;
}

const nothing = new Uint8Array(0);
