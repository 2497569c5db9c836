import { HoldfastError, messageOf } from '../contract/errors';
import type { RunView } from '../contract/events';
import { retriedSnapshot } from '../contract/record/retry';
import { packedSnapshot } from '../contract/record/snapshot-messages';
import type { Snapshot } from '../contract/record/wire';
import type { AgentRun } from '../kernel/engine/run';
import type { RunLog } from '../kernel/log/run-log';
import { asJson } from './record';

/** What a run goes on with that has just failed, or why it cannot. */
export function retryPointOf(run: AgentRun, log: RunLog, error: unknown): Snapshot | HoldfastError {
  try {
    return asJson(packedSnapshot(log.snapshot(run.retryPoint(error))));
  } catch (refused) {
    return refused instanceof HoldfastError ? refused : new HoldfastError('retry-impossible', messageOf(refused));
  }
}

/** What it begins again with. Throws where it cannot. */
export function snapshotForRetry({ id, status }: RunView, point: Snapshot | HoldfastError | undefined, by: string | undefined): Snapshot {
  if (status !== 'failed' || point === undefined)
    throw new HoldfastError('run-not-failed', `The run "${id}" has not failed: it is ${status}.`);
  if (point instanceof HoldfastError) throw point;
  return retriedSnapshot(point, by);
}
