import type { RunCall } from '../../contract/calls';
import { count, worded } from '../../contract/check';
import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import { shown } from '../../contract/shown';
import type { MessagesWanted } from '../../contract/record/call-record';
import { CallRecord } from '../../contract/record/call-record';
import type { FactEvent, FactReader } from '../../host/history/history-facts';
import { thrownFailureOf } from '../../host/history/history-facts';
import { oldestPages } from '../../host/history/history-pages';
import type { ChainSource } from './chain';
import { found, previousRun } from './chain';
import { optionsOf } from '../options';
import { retriedCalls } from './retried-calls';

/** Which messages of a request `call` gives. */
export interface CallOptions {
  /** Those before this position. Default: the last ones. */
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

/** What the server says of the attempts of a call, which it writes down when the call is over. */
interface Attempts {
  readonly attempts?: number;
  readonly lastFailure?: RunCall['lastFailure'];
}

/** One call of a run, out of the Temporal run that has it. The newest are looked at first. */
export async function readCall(
  source: ChainSource & { readonly reader: FactReader },
  run: { readonly workflowId: string; readonly id: string },
  address: string,
  wanted: MessagesWanted,
): Promise<RunCall> {
  const { connection, namespace } = source;
  const { workflowId, id } = run;
  const { workflowExecutionInfo: info, pendingActivities } = await found(
    connection.workflowService.describeWorkflowExecution({ namespace, execution: { workflowId } }),
    id,
  );
  for (let runId = info?.execution?.runId ?? ''; runId !== '';) {
    const record = new CallRecord(address);
    const attempts = await readRun(source, { workflowId, runId }, record);
    const before = (await previousRun(source, workflowId, runId))?.runId ?? '';
    if (!record.isFound) {
      runId = before;
      continue;
    }
    const lacks = record.lacksBefore;
    const earlier = lacks === undefined || before === '' ? undefined : await lastOf(source, { workflowId, runId: before }, lacks);
    const open = retriedCalls(pendingActivities, thrownFailureOf).find((one) => one.address === address);
    return {
      ...(record.call(wanted, earlier) as RunCall),
      ...(open === undefined ? attempts : { attempts: open.attempt, lastFailure: open.error }),
    };
  }
  throw new HoldfastError('call-unknown', `The run "${id}" has no call at ${shown(address)}.`);
}

async function lastOf(
  source: Parameters<typeof readCall>[0],
  execution: { readonly workflowId: string; readonly runId: string },
  path: string,
): Promise<ReturnType<CallRecord['lastOf']>> {
  const record = new CallRecord('');
  // One that the server has deleted says nothing of the call before.
  await readRun(source, execution, record).catch(() => undefined);
  return record.lastOf(path);
}

/** Reads until nothing that comes later says more of the call. */
async function readRun(
  { connection, namespace, reader }: Parameters<typeof readCall>[0],
  execution: { readonly workflowId: string; readonly runId: string },
  record: CallRecord,
): Promise<Attempts> {
  const pages = { workflowService: connection.workflowService, namespace };
  let attempts: Attempts = {};
  for await (const events of oldestPages<FactEvent>(pages, execution, false)) {
    for (const fact of await reader.read(events, execution.workflowId)) record.add(fact);
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
