import { isRecord } from '../../contract/check';
import { jsonSize } from '../../contract/limits';

interface WithEvents {
  readonly events?: readonly object[];
}

/**
 * What is weighed of something that takes events along. What middleware changed weighs nothing: replayed with it, a history from before
 * events told it would have its commands elsewhere.
 */
export function weighed<Taking extends object>(taking: Taking): Taking {
  const { events } = taking as WithEvents;
  if (events === undefined || !events.some((event) => 'changes' in event)) return taking;
  return { ...taking, events: events.map(withoutChanges) };
}

export function withoutChanges<Event extends object>(event: Event): Event {
  return 'changes' in event ? { ...event, changes: undefined } : event;
}

/** Bytes of what middleware changed, anywhere in a value. */
export function bytesOfChanges(value: unknown): number {
  let bytes = 0;
  JSON.stringify(value, (key, inner: unknown) => {
    if (key === 'changes' && Array.isArray(inner) && inner.every(isChange)) bytes += jsonSize({ changes: inner });
    return inner;
  });
  return bytes;
}

function isChange(one: unknown): boolean {
  return isRecord(one) && 'middleware' in one && 'hook' in one && 'changed' in one;
}
