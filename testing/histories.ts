/* eslint-disable @typescript-eslint/no-require-imports -- Temporal's own packages take most of a second to load, and most tests play runs in memory. */
import type * as Recording from '../client/record-history';
import type { RecordOptions } from '../client/record-history';
import type * as Replaying from '../worker/replay/replay-histories';
import type { ReplayOptions, Replayed } from '../worker/replay/replay-histories';

/** Replays recorded histories with the current agents. An error names the place where open runs would meet changed code. */
export function replayHistories(options: ReplayOptions): Promise<readonly Replayed[]> {
  return (require('../worker/replay/replay-histories') as typeof Replaying).replayHistories(options);
}

/** Writes the history of a run into a file, with all parts that a continue-as-new made of it. */
export function recordHistory(options: RecordOptions): Promise<readonly string[]> {
  return (require('../client/record-history') as typeof Recording).recordHistory(options);
}
