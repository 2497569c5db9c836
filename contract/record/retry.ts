import type { Author } from '../access';
import { authorOf } from '../author';
import type { Snapshot } from './wire';

type Unsure = { readonly [Key in keyof Author]: Author[Key] | undefined };

/** The visible end took an offset, and the next event tells who continues the run. */
export function retriedSnapshot(point: Snapshot, author: Unsure = {}, type: 'run-retry' | 'run-resume' = 'run-retry'): Snapshot {
  const again = { type, ...authorOf(author) };
  return { ...point, events: [...point.events, again], nextOffset: point.nextOffset + 2, retried: true };
}
