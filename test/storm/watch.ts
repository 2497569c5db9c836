import { setTimeout } from 'node:timers/promises';
import type { HoldfastClient } from '../../client/connect';
import type { KilledWorker } from '../parity/killed-worker';
import type { Temporal } from '../support/temporal';

/** Milliseconds without an event while the worker works. */
const stuckMs = 120_000;
/** Longest run in milliseconds while the worker works. */
const longestMs = 1_800_000;
const lookMs = 1000;
const looksPerReading = 10;

/** Resolves with the reason when a run is stuck. Counts readers' events, because foreign requests grow the history too. */
export async function untilStuck(
  { client, temporal, worker }: { readonly client: HoldfastClient; readonly temporal: Temporal; readonly worker: KilledWorker },
  ids: readonly string[],
  over: AbortSignal,
): Promise<string | undefined> {
  let known = '';
  let still = 0;
  let total = 0;
  let worked = false;
  let last = Date.now();
  for (let look = 1; ; look++) {
    await setTimeout(lookMs, undefined, { signal: over }).catch(() => undefined);
    if (over.aborted) return undefined;
    const now = Date.now();
    // A busy machine may look late.
    const passed = worked && worker.works ? Math.min(now - last, 2 * lookMs) : 0;
    last = now;
    worked = worker.works;
    total += passed;
    still += passed;
    if (look % looksPerReading !== 0) continue;
    const offsets = await Promise.all(ids.map((id) => offsetOf(client, id)));
    if (offsets.join(' ') !== known) [known, still] = [offsets.join(' '), 0];
    if (still >= stuckMs) return `no progress for ${stuckMs / 1000} s: ${await standOf(temporal, ids)}`;
    if (total >= longestMs) return `no end in ${longestMs / 1000} s: ${await standOf(temporal, ids)}`;
  }
}

async function offsetOf(client: HoldfastClient, id: string): Promise<number> {
  const view = await client
    .run(id)
    .view()
    .catch(() => undefined);
  return view?.nextOffset ?? -1;
}

async function standOf({ handle }: Temporal, ids: readonly string[]): Promise<string> {
  const stands = await Promise.all(
    ids.map(async (id) => {
      const described = await handle(id)
        .describe()
        .catch(() => undefined);
      if (described === undefined || described.status.name !== 'RUNNING') return [];
      const { pendingWorkflowTask: task, pendingActivities } = described.raw;
      const calls = (pendingActivities ?? []).map(({ activityId, attempt }) => `${activityId} (attempt ${attempt})`);
      const tasks = task == null ? 'no workflow task' : `attempt ${task.attempt} of a workflow task in state ${task.state}`;
      return [`${id} has ${tasks}, and ${calls.length === 0 ? 'no call' : `the calls ${calls.join(', ')}`}`];
    }),
  );
  return stands.flat().join('; ');
}
