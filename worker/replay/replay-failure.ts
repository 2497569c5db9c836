import type { ErrorCode } from '../../contract/errors';
import { HoldfastError, codeOf, isErrorCode, messageOf } from '../../contract/errors';
import type { History } from '../../host/history/history-files';
import type { Activated } from './replay-worker';

export function replayFailure(error: Error, file: string, history: History, last?: Activated): HoldfastError {
  if (error.name === 'DeterminismViolationError') {
    const said = reasonIn(messageOf(error));
    return shownInJson('frame-changed', `${placeOf(said, history)} (${file}; ${said})`, error);
  }
  const place = lastAddress(history, last?.task ?? 0);
  if (last?.looped === true)
    return shownInJson('agent-endless', `The code ${place} goes on without a pause: it was ended after 10 s (${file}).`, error);
  if (last?.failure != null) {
    const { message, applicationFailureInfo } = last.failure;
    const type = applicationFailureInfo?.type;
    return shownInJson(isErrorCode(type) ? type : 'run-failed', `The code ${place} failed (${file}): ${message ?? ''}`, error);
  }
  return shownInJson(codeOf(error) ?? 'run-failed', `The replay of ${file} failed: ${reasonIn(messageOf(error))}`, error);
}

/** Test runners print errors with JSON.stringify, which leaves inherited fields out. */
export function shownInJson(code: ErrorCode, message: string, cause?: Error): HoldfastError {
  const failure = new HoldfastError(code, message);
  Object.defineProperty(failure, 'message', { value: message, enumerable: true, writable: true, configurable: true });
  Object.defineProperty(failure, 'cause', { value: cause, enumerable: false, writable: true, configurable: true });
  return failure;
}

function reasonIn(text: string): string {
  const quoted = /Failure \{ message: "((?:[^"\\]|\\.)*)"/.exec(text)?.[1]?.replace(/\\(["'\\])/g, '$1') ?? text;
  return quoted.replace(/^\[TMPRL\d+\]\s*/, '');
}

function placeOf(said: string, history: History): string {
  const at = Number(/\bHistoryEvent\(id: (\d+)/.exec(said)?.[1] ?? NaN);
  const last = Number.isNaN(at) ? undefined : callsUntil(history, at).at(-1);
  if (last === undefined) return 'The code changed: it does not do again what this history has';
  if (last.event === at) return `The code at ${last.address} changed: this history makes that call there`;
  return `The code after ${last.address} changed: it does not do again event ${at} of this history`;
}

function lastAddress(history: History, task: number): string {
  const last = callsUntil(history, task).at(-1);
  return last === undefined ? 'before the first call' : `after ${last.address}`;
}

function callsUntil(history: History, at: number): readonly { readonly event: number; readonly address: string }[] {
  return (history.events ?? []).flatMap(({ eventId, activityTaskScheduledEventAttributes: call }) =>
    call?.activityId == null || Number(eventId) > at ? [] : [{ event: Number(eventId), address: call.activityId }],
  );
}
