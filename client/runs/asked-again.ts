import { setTimeout as delay } from 'node:timers/promises';
import { WorkflowNotFoundError, WorkflowUpdateFailedError, WorkflowUpdateRPCTimeoutOrCancelledError } from '@temporalio/client';
import { messageOf } from '../../contract/errors';

const notFound = 5;
/** gRPC codes for a run that is busy, continues as new, or had a failed task. */
const passing: ReadonlySet<number> = new Set([8, 9, 10]);
/** Failures of an update after continue-as-new, or in a full workflow task. */
const passingFailures: ReadonlySet<string> = new Set(['AcceptedUpdateCompletedWorkflow', 'UnprocessedUpdate', 'run-busy']);

export function isPassing(error: unknown): boolean {
  if (error instanceof WorkflowUpdateFailedError) return passingFailures.has(String((error.cause as { type?: unknown } | undefined)?.type));
  if (error instanceof WorkflowNotFoundError) return true;
  const code = grpcCodeOf(error);
  return code !== undefined && (code === notFound || passing.has(code));
}

export async function askedAgain<T>(send: () => Promise<T>, isOpen: () => Promise<boolean>, until: number): Promise<T> {
  for (let pause = 20; ; pause = Math.min(2 * pause, 500)) {
    try {
      return await send();
    } catch (error) {
      if (!isPassing(error) || Date.now() + pause > until || !(await isOpen())) throw error;
      await delay(pause);
    }
  }
}

function grpcCodeOf(error: unknown): number | undefined {
  for (let cause = error; typeof cause === 'object' && cause !== null; cause = (cause as { cause?: unknown }).cause) {
    const { code } = cause as { code?: unknown };
    if (typeof code === 'number') return code;
  }
  return undefined;
}

export function isTimeout(error: unknown): boolean {
  return (
    error instanceof WorkflowUpdateRPCTimeoutOrCancelledError ||
    (error as { code?: unknown }).code === 4 ||
    /deadline/i.test(messageOf(error))
  );
}
