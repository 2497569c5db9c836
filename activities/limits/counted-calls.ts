import type { Info } from '@temporalio/activity';
import { Context } from '@temporalio/activity';
import { defined } from '../../contract/defined';
import { messageOf } from '../../contract/errors';
import type { CallModelResult, CallToolInput } from '../../contract/record/wire';
import { activityFailure } from '../failures';
import type { Verdict } from '../failures';
import type { WorkerParts } from '../parts';
import type { GateTurn } from './gate';
import type { Again, Patience } from './patience';
import type { Caller } from './turns';

const longestInPlace = 20_000;

/** Who asks for a turn. The time in which the call waits in place is little of what it may take itself. */
export function callerOf(info: Info, address: string): Omit<Caller, 'signal' | 'mayLeave'> {
  const { workflowId = '', runId = '' } = info.workflowExecution ?? {};
  return {
    id: `${runId}/${address}`,
    run: workflowId,
    since: info.scheduledTimestampMs,
    inPlaceMs: Math.min(longestInPlace, info.startToCloseTimeoutMs / 10),
  };
}

/** A turn of a tool whose calls are limited. To ask whether a call took effect needs none. */
export async function toolTurn(parts: WorkerParts, { tool, reconcile }: CallToolInput, caller: Caller): Promise<GateTurn | undefined> {
  const concurrency = parts.tools.factsOf(tool)?.concurrency;
  if (concurrency === undefined || reconcile === true) return undefined;
  return parts.turns?.ofTool(tool, concurrency, caller);
}

/** Of a call whose attempts were all lost. */
export function lostText(attempts: number): string {
  return `The call gave no answer in ${attempts} attempts: each took too long, or was lost with its worker.`;
}

/** Lets the server make a failed call of a model again. Returns what it ends with when it is not made again. */
export function madeAgain(patience: Patience, verdict: Verdict): Pick<CallModelResult, 'failed'> {
  const { code, message } = verdict;
  const again = patience.after(verdict);
  if (!('over' in again)) throw putOff(again, code, message);
  return { failed: patience.failed(again.over, verdict) };
}

/** The same for a tool: what is thrown. */
export function toolFailure(patience: Patience, code: string, error: unknown, retryAfterMs: number | undefined): Error {
  const message = messageOf(error);
  if (!patience.counts) return activityFailure(code, message, { retryable: true, ...defined({ retryAfterMs }) });
  const isTurn = code === 'waiting-for-turn';
  const { details } = error as { details?: { retryAfterMs?: number } };
  const again = patience.after(
    isTurn ? { waitsFor: 'turn', ...defined({ retryAfterMs: details?.retryAfterMs }) } : defined({ retryAfterMs }),
  );
  return 'over' in again ? activityFailure(code, message, { retryable: false }) : putOff(again, code, message);
}

/** The next attempt reads what this one waited for in the last heartbeat. */
function putOff({ waitMs, waits }: Extract<Again, { waitMs: number }>, code: string, message: string): Error {
  Context.current().heartbeat(waits);
  // To wait for a turn is no failure that a log or a metric has to tell.
  return activityFailure(code, message, { retryable: true, retryAfterMs: waitMs, benign: code === 'waiting-for-turn' });
}
