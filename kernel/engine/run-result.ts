import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import { jsonSize, limits } from '../../contract/limits';
import type { ChildUsage } from '../../contract/usage';
import { textOfResult } from '../../contract/record/run-result';
import type { AgentRunResult, StartInput } from '../../contract/record/wire';
import type { RunLog } from '../log/run-log';
import type { ChildEnd } from '../run/ports';
import { childUsageOf, sessionChanges } from '../run/run-end';
import { weighed } from '../run/weight';
import type { AgentRun, RunEnd } from './run';

interface EndedRun {
  readonly run: Pick<AgentRun, 'state' | 'transcript'>;
  readonly log: RunLog;
  readonly start: StartInput;
  readonly end: RunEnd;
  /** For an isolated agent: news that the parent run may have missed. */
  readonly news?: () => Pick<AgentRunResult, 'news'>;
}

/** Throws if the result is too large for the server; then the events stay in the log. */
export function resultOfRun({ run, log, start, end, news }: EndedRun): AgentRunResult {
  const isChild = start.parent !== undefined;
  // The parent's history has the result, and this history has the log.
  if (isChild) log.flush();
  const { output, text, pendingToolCalls, silent } = end;
  const answer: AgentRunResult = {
    output,
    ...(text === output ? {} : { text }),
    ...defined({ pendingToolCalls }),
    usage: isChild ? childUsageOf(run.state) : run.state.usage,
    ...(isChild ? { ...sessionChanges(start.session, run.state.session), ...defined({ silent }), ...news?.() } : {}),
  };
  // Checked first without the last events, so the error is about a large answer alone.
  checkResult(answer);
  return log.end(run.transcript, (last) => {
    const result: AgentRunResult = { ...answer, ...last };
    checkResult(weighed(result));
    return result;
  });
}

export function childEndOf(result: AgentRunResult): ChildEnd {
  const { output, usage, session, silent } = result;
  return { output, text: textOfResult(result), usage: usage as ChildUsage, ...defined({ session, silent }) };
}

function checkResult(result: AgentRunResult): void {
  const bytes = jsonSize(result);
  if (bytes <= limits.runResult) return;
  const session = result.session === undefined ? 0 : jsonSize(result.session);
  const values = session > limits.runResult / 2 ? `; its session values have ${session} of them` : '';
  throw new HoldfastError(
    'payload-too-large',
    `The result of the run, with its last events, has ${bytes} bytes; ${limits.runResult} fit${values}.`,
  );
}
