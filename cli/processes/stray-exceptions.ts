import { sep } from 'node:path';
import { currentCall } from '../../activities/calls/call-context';
import { HoldfastError, messageOf } from '../../contract/errors';
import { runIdOf } from '../../contract/names';

const sdk = `${sep}node_modules${sep}@temporalio${sep}`;

/**
 * An exception from a timer or an emitter of a tool would end the process again after every restart, so it is reported. An exception of
 * Temporal's SDK leaves an idle worker, so the process fails. Returns the removal.
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

function placeOf(error: unknown): string | undefined {
  const lines = error instanceof Error ? (error.stack ?? '').split('\n') : [];
  const frames = lines.map((line) => /^\s+at (?:.*\()?(.+?)\)?$/.exec(line)?.[1]);
  return frames.find((frame) => frame !== undefined && !frame.startsWith('node:') && frame !== '<anonymous>');
}
