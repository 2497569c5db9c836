import { defined } from '../defined';
import type { Snapshot } from './wire';

/**
 * A snapshot of a run that has failed, or was cancelled, as the one from which it goes on. Readers have seen its end, which took an offset, and see
 * who lets it go on.
 */
export function retriedSnapshot(point: Snapshot, by?: string, type: 'run-retry' | 'run-resume' = 'run-retry'): Snapshot {
  const again = { type, ...defined({ by }) };
  return { ...point, events: [...point.events, again], nextOffset: point.nextOffset + 2, retried: true };
}
