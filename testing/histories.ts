/* eslint-disable @typescript-eslint/no-require-imports -- Temporal's own packages take most of a second to load, and most tests play runs in memory. */
import type * as Recording from './record-history';
import type { RecordOptions } from './record-history';
import type * as Replaying from './replay-histories';
import type { ReplayOptions, Replayed } from './replay-histories';

/** Runs recorded histories through today's agents. An error names what open runs would meet if this code took them over. */
export function replayHistories(options: ReplayOptions): Promise<readonly Replayed[]> {
  return (require('./replay-histories') as typeof Replaying).replayHistories(options);
}

/** Writes the history of a run into a file, with all parts that a continue-as-new made of it. */
export function recordHistory(options: RecordOptions): Promise<readonly string[]> {
  return (require('./record-history') as typeof Recording).recordHistory(options);
}
