import { defined } from '../defined';
import type { Snapshot } from './wire';

/** The visible end took an offset, and the next event tells who continues the run. */
export function retriedSnapshot(point: Snapshot, by?: string, type: 'run-retry' | 'run-resume' = 'run-retry'): Snapshot {
  const again = { type, ...defined({ by }) };
  return { ...point, events: [...point.events, again], nextOffset: point.nextOffset + 2, retried: true };
}
