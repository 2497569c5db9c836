import { defined } from '../defined';
import type { Snapshot } from './wire';

/** A snapshot of a failed run as the one from which it is tried again. Readers have seen its end, which took an offset, and see who tries again. */
export function retriedSnapshot(point: Snapshot, by?: string): Snapshot {
  const retry = { type: 'run-retry', ...defined({ by }) };
  return { ...point, events: [...point.events, retry], nextOffset: point.nextOffset + 2, retried: true };
}
