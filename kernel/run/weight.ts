import { isRecord } from '../../contract/check';
import { jsonSize } from '../../contract/limits';

interface WithEvents {
  readonly events?: readonly object[];
}

/**
 * The part of a command that is weighed. Changes by middleware weigh nothing, because histories from before these events must replay with the same
 * commands.
 */
export function weighed<Taking extends object>(taking: Taking): Taking {
  const { events } = taking as WithEvents;
  if (events === undefined || !events.some((event) => 'changes' in event)) return taking;
  return { ...taking, events: events.map(withoutChanges) };
}

export function withoutChanges<Event extends object>(event: Event): Event {
  return 'changes' in event ? { ...event, changes: undefined } : event;
}

/** Bytes of middleware changes, anywhere in a value. */
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
