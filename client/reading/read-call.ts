import type { RunCall } from '../../contract/calls';
import { count, worded } from '../../contract/check';
import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import { runIdOf } from '../../contract/names';
import { shown } from '../../contract/shown';
import type { MessagesWanted } from '../../contract/record/call-record';
import { CallRecord } from '../../contract/record/call-record';
import type { FactEvent } from '../../host/history/history-facts';
import { thrownFailureOf } from '../../host/history/history-facts';
import type { Histories } from './histories';
import { optionsOf } from '../connection/options';
import { retriedCalls } from './retried-calls';

export interface CallOptions {
  /** Messages before this position. Default: the last messages. */
  readonly before?: number;
  /** Default 100, at most 500. */
  readonly limit?: number;
}

const mostMessages = 500;

export function wantedMessages(options: CallOptions): MessagesWanted {
  const { before, limit = 100 } = optionsOf<CallOptions>(options, 'call', {
    before: worded(count, 'the position of a message, a whole number of at least 0'),
    limit: worded(count, 'how many messages, a whole number of at least 0'),
  });
  return { limit: Math.min(limit, mostMessages), ...defined({ before }) };
}

/** The history has attempts only after the call. */
interface Attempts {
  readonly attempts?: number;
  readonly lastFailure?: RunCall['lastFailure'];
}

export async function readCall(histories: Histories, workflowId: string, address: string, wanted: MessagesWanted): Promise<RunCall> {
  const { workflowExecutionInfo: info, pendingActivities } = await histories.describe(workflowId);
  for await (const { runId, previousId } of histories.back(workflowId, info?.execution?.runId ?? '')) {
    const record = new CallRecord(address);
    const attempts = await readRun(histories, { workflowId, runId }, record);
    if (!record.isFound) continue;
    const lacks = record.lacksBefore;
    const earlier =
      lacks === undefined || previousId === '' ? undefined : await lastOf(histories, { workflowId, runId: previousId }, lacks);
    const open = retriedCalls(pendingActivities, thrownFailureOf).find((one) => one.address === address);
    return {
      ...(record.call(wanted, earlier) as RunCall),
      ...(open === undefined ? attempts : { attempts: open.attempt, lastFailure: open.error }),
    };
  }
  throw new HoldfastError('call-unknown', `The run "${runIdOf(workflowId)}" has no call at ${shown(address)}.`);
}

interface TemporalRun {
  readonly workflowId: string;
  readonly runId: string;
}

async function lastOf(histories: Histories, run: TemporalRun, path: string): Promise<ReturnType<CallRecord['lastOf']>> {
  const record = new CallRecord('');
  await readRun(histories, run, record).catch(() => undefined);
  return record.lastOf(path);
}

async function readRun(histories: Histories, { workflowId, runId }: TemporalRun, record: CallRecord): Promise<Attempts> {
  let attempts: Attempts = {};
  for await (const { events, facts } of histories.pages(workflowId, runId, histories)) {
    for (const fact of facts) record.add(fact);
    for (const event of events) attempts = attemptsOf(event, record.eventId) ?? attempts;
    if (record.isWhole) break;
  }
  return attempts;
}

function attemptsOf(event: FactEvent, scheduled: number | undefined): Attempts | undefined {
  const started = event.activityTaskStartedEventAttributes;
  if (scheduled === undefined || !started || Number(started.scheduledEventId) !== scheduled) return undefined;
  const { attempt, lastFailure } = started;
  return { attempts: attempt ?? 1, ...defined({ lastFailure: lastFailure == null ? undefined : thrownFailureOf(lastFailure) }) };
}
