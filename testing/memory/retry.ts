import type { Author } from '../../contract/access';
import { HoldfastError, messageOf, thrownCodeOf } from '../../contract/errors';
import type { RunView } from '../../contract/events';
import { retriedSnapshot } from '../../contract/record/retry';
import { packedSnapshot } from '../../contract/record/snapshot-messages';
import type { Snapshot } from '../../contract/record/wire';
import { isCancellation } from '../../kernel/effects/errors';
import type { AgentRun } from '../../kernel/engine/run';
import type { RunLog } from '../../kernel/log/run-log';
import type { ChildEnd } from '../../kernel/run/ports';
import type { Left } from '../../kernel/run/run-end';
import type { MemoryRecord } from './record';
import { asJson } from './record';

/** The point for a retry or resume, or the reason for its absence. */
export function pointOf(run: AgentRun, log: RunLog, error: unknown): Snapshot | HoldfastError {
  try {
    return asJson(packedSnapshot(log.snapshot(isCancellation(error) ? run.resumePoint() : run.retryPoint(error))));
  } catch (refused) {
    return refused instanceof HoldfastError ? refused : new HoldfastError('retry-impossible', messageOf(refused));
  }
}

export function failedEnd(
  error: unknown,
  point: Snapshot | HoldfastError,
  left: Left,
): { readonly fact: Parameters<MemoryRecord['write']>[0]; readonly end: ChildEnd } {
  if (isCancellation(error))
    return {
      fact: { kind: 'end', status: 'cancelled' },
      end: { failed: { code: 'child-cancelled', message: 'Its run was cancelled.' }, ...left },
    };
  const failed = { code: thrownCodeOf(error) ?? 'run-failed', message: messageOf(error) };
  const kept = point instanceof HoldfastError ? { refused: point.message } : (true as const);
  return { fact: { kind: 'end', status: 'failed', error: failed }, end: { failed, kept, ...left } };
}

export function snapshotBehindEnd(
  { id, status }: RunView,
  point: Snapshot | HoldfastError | undefined,
  how: 'run-retry' | 'run-resume',
  author?: Author,
): Snapshot {
  const wanted = how === 'run-retry' ? 'failed' : 'cancelled';
  if (status !== wanted || point === undefined) {
    const [code, what] =
      how === 'run-retry' ? (['run-not-failed', 'has not failed'] as const) : (['run-not-cancelled', 'was not cancelled'] as const);
    throw new HoldfastError(code, `The run "${id}" ${what}: it is ${status}.`);
  }
  if (point instanceof HoldfastError) throw point;
  return retriedSnapshot(point, author, how);
}
