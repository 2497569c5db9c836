import { setTimeout } from 'node:timers/promises';
import type { KilledWorker } from '../parity/killed-worker';
import type { Temporal } from '../support/temporal';

/** A run is stuck that makes no progress for so long while its worker works. */
const stuckMs = 120_000;
/** A run comes to no end that takes so long while its worker works. */
const longestMs = 1_800_000;
const lookMs = 2000;

/** Settles with the reason when a run is stuck, and with nothing when `over` is aborted before. */
export async function untilStuck(
  temporal: Temporal,
  worker: KilledWorker,
  ids: readonly string[],
  over: AbortSignal,
): Promise<string | undefined> {
  let known = '';
  let still = 0;
  let total = 0;
  let worked = false;
  for (let last = Date.now(); ;) {
    await setTimeout(lookMs, undefined, { signal: over }).catch(() => undefined);
    if (over.aborted) return undefined;
    const now = Date.now();
    // A busy machine may look late.
    const passed = worked && worker.works ? Math.min(now - last, 2 * lookMs) : 0;
    last = now;
    worked = worker.works;
    total += passed;
    still += passed;
    const described = (
      await Promise.all(
        ids.map((id) =>
          temporal
            .handle(id)
            .describe()
            .catch(() => undefined),
        ),
      )
    ).map((one) => (one === undefined ? '' : `${one.runId} ${one.historyLength} ${one.status.name}`));
    const progress = described.join(' | ');
    if (progress !== known) [known, still] = [progress, 0];
    if (still >= stuckMs) return `no progress for ${stuckMs / 1000} s: ${await standOf(temporal, ids)}`;
    if (total >= longestMs) return `no end in ${longestMs / 1000} s: ${await standOf(temporal, ids)}`;
  }
}

/** What a run waits for. */
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
