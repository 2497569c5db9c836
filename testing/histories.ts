/* eslint-disable @typescript-eslint/no-require-imports -- Temporal's own packages take most of a second to load, and most tests play runs in memory. */
import type * as Recording from '../client/record-history';
import type { RecordOptions } from '../client/record-history';
import type * as Replaying from '../worker/replay/replay-histories';
import type { ReplayOptions, Replayed } from '../worker/replay/replay-histories';

/**
 * Replays recorded histories with the current agents. An error names the place of changed code.
 * @example
 * test('open runs go on with the agents of today', async () => {
 *   const replayed = await replayHistories({ agents: 'agents.ts', histories: 'test/histories/*.json' });
 *   expect(replayed.filter(({ error }) => error !== undefined)).toEqual([]);
 * });
 */
export function replayHistories(options: ReplayOptions): Promise<readonly Replayed[]> {
  return (require('../worker/replay/replay-histories') as typeof Replaying).replayHistories(options);
}

/**
 * Saves the history of a run to a file, with all continue-as-new parts.
 * @example
 * const file = 'test/histories/ticket-981.json';
 * await recordHistory({ id: 'ticket-981', file });
 * const [replayed] = await replayHistories({ agents: 'agents.ts', histories: file });
 */
export function recordHistory(options: RecordOptions): Promise<readonly string[]> {
  return (require('../client/record-history') as typeof Recording).recordHistory(options);
}
