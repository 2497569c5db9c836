import { sep } from 'node:path';
import { currentCall } from '../../activities/calls/call-context';
import { HoldfastError, messageOf } from '../../contract/errors';
import { runIdOf } from '../../contract/names';

/** Where the Temporal SDK lies. */
const sdk = `${sep}node_modules${sep}@temporalio${sep}`;

/**
 * An exception from a timer or an emitter of a tool reaches nobody, and would end the service, the server and every run's worker with it, and again after
 * each restart. It is reported instead. Only for processes that are Holdfast's own: a listener changes what becomes of every exception in a process, which
 * a program that has a worker in it decides for itself. What the SDK throws is no tool's fault, and leaves a worker that does nothing: that fails.
 * Returns what ends it.
 */
export function reportStrayExceptions(report: (problem: HoldfastError) => void, fail: (error: unknown) => void): () => void {
  const onException = (error: unknown): void => {
    const place = placeOf(error);
    if (place?.includes(sdk)) return fail(error);
    const call = currentCall();
    const where = [call === undefined ? undefined : `in a call of the run ${runIdOf(call.workflowId)}`, place].filter(Boolean).join(', ');
    report(
      new HoldfastError(
        'tool-failed',
        `An exception that nobody could catch, in a tool or a worker middleware${where === '' ? '' : ` (${where})`}: ${messageOf(error)}`,
        { cause: error },
      ),
    );
  };
  process.on('uncaughtException', onException);
  return () => void process.off('uncaughtException', onException);
}

/** The first place of the stack that is not Node's own. */
function placeOf(error: unknown): string | undefined {
  const lines = error instanceof Error ? (error.stack ?? '').split('\n') : [];
  const frames = lines.map((line) => /^\s+at (?:.*\()?(.+?)\)?$/.exec(line)?.[1]);
  return frames.find((frame) => frame !== undefined && !frame.startsWith('node:') && frame !== '<anonymous>');
}
