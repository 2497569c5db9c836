import { HoldfastError, codeOf, messageOf } from '../contract/errors';
import type { History } from './history-files';

/**
 * Why a replay failed, with a code and with the place where the code changed. The message shows in JSON, too: test runners print what they
 * compare.
 */
export function replayFailure(error: Error, id: string, history: History): HoldfastError {
  const isChanged = error.name === 'DeterminismViolationError';
  const code = isChanged ? 'frame-changed' : (codeOf(error) ?? 'run-failed');
  const said = reasonIn(messageOf(error));
  const message = isChanged ? `${placeOf(said, history)} (${id}.json; ${said})` : `The replay of ${id}.json failed: ${said}`;
  const failure = new HoldfastError(code, message);
  // Shown by JSON.stringify, which leaves out what an error inherits, and not by it: Temporal's long text.
  Object.defineProperty(failure, 'message', { value: message, enumerable: true, writable: true, configurable: true });
  Object.defineProperty(failure, 'cause', { value: error, enumerable: false, writable: true, configurable: true });
  return failure;
}

/** Temporal quotes the failure of the task; what went wrong stands in it as its message. */
function reasonIn(text: string): string {
  const quoted = /Failure \{ message: "((?:[^"\\]|\\.)*)"/.exec(text)?.[1]?.replace(/\\(["'\\])/g, '$1') ?? text;
  return quoted.replace(/^\[TMPRL\d+\]\s*/, '');
}

/** By the call that was recorded at that event of the history, or by the last one before it. */
function placeOf(said: string, history: History): string {
  const at = Number(/\bHistoryEvent\(id: (\d+)/.exec(said)?.[1] ?? NaN);
  const calls = (history.events ?? []).flatMap(({ eventId, activityTaskScheduledEventAttributes: call }) =>
    call?.activityId == null || Number(eventId) > at ? [] : [{ event: Number(eventId), address: call.activityId }],
  );
  const last = Number.isNaN(at) ? undefined : calls.at(-1);
  if (last === undefined) return 'The code changed: it does not do again what this history has';
  if (last.event === at) return `The code at ${last.address} changed: this history makes that call there`;
  return `The code after ${last.address} changed: it does not do again event ${at} of this history`;
}
