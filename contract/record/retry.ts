import { defined } from '../defined';
import type { Snapshot } from './wire';

/** The snapshot of an ended run for a retry or resume. Readers have seen the end, which took an offset, and see who lets the run go on. */
export function retriedSnapshot(point: Snapshot, by?: string, type: 'run-retry' | 'run-resume' = 'run-retry'): Snapshot {
  const again = { type, ...defined({ by }) };
  return { ...point, events: [...point.events, again], nextOffset: point.nextOffset + 2, retried: true };
}
