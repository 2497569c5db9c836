import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Run } from '../../client/runs/run';
import type { RunEvent } from '../../contract/events';
import type { ReplayOptions } from '../../testing/index';
import { recordHistory, replayHistories } from '../../testing/index';
import { allOf } from './all-of';
import { fixtureAgents, fixtureBundle, testServer } from './test-bed';

export function logOf(
  run: Pick<Run, 'events'>,
  options: { readonly from?: number; readonly until?: 'waiting' } = {},
): Promise<readonly RunEvent[]> {
  return allOf(run.events({ ...options, deltas: false }));
}

/** Replays runs from the server, and returns the failures. */
export async function replaysOf(ids: readonly string[], options: Pick<ReplayOptions, 'dataConverter'> = {}): Promise<readonly unknown[]> {
  const histories = mkdtempSync(join(tmpdir(), 'holdfast-replayed-'));
  for (const [n, id] of ids.entries()) await recordHistory({ id, server: testServer(), file: join(histories, `${n}.json`) });
  const replayed = await replayHistories({ agents: fixtureAgents, bundle: fixtureBundle(), histories, ...options });
  expect(replayed.length).toBeGreaterThanOrEqual(ids.length);
  return replayed.flatMap(({ error }) => error ?? []);
}
