import type { LoadedDataConverter, Payload } from '@temporalio/common';
import { temporal } from '@temporalio/proto';
import { defined } from '../../contract/defined';
import { withoutCredentials } from '../../contract/credentials';
import { isErrorCode } from '../../contract/errors';
import type { HistoryFact } from '../../contract/record/history-fact';
import type { Failure } from '../../contract/messages/messages';
import { names } from '../../contract/names';
import type { ThrownFailure } from '../../contract/run-executions';
import { unpackedInput } from '../../contract/record/snapshot-messages';
import type { AgentRunInput, AgentRunResult, CallModelInput, CallToolInput } from '../../contract/record/wire';
import { PayloadReader } from './payload-reader';

type RawHistoryEvent = temporal.api.history.v1.IHistoryEvent;
type Completed = temporal.api.history.v1.IActivityTaskCompletedEventAttributes;
type ProtoFailure = temporal.api.failure.v1.IFailure;
type Payloads = temporal.api.common.v1.IPayloads;

/** Numbers may have any type of protobuf. */
export interface FactEvent extends Omit<RawHistoryEvent, 'eventId' | 'eventTime' | 'activityTaskCompletedEventAttributes'> {
  readonly eventId?: unknown;
  readonly eventTime?: { readonly seconds?: unknown; readonly nanos?: number | null } | null | undefined;
  readonly activityTaskCompletedEventAttributes?:
    (Omit<Completed, 'scheduledEventId'> & { readonly scheduledEventId?: unknown }) | null | undefined;
}

/** Yields payloads and receives their values. */
type Reading<T> = Generator<Payload, T, unknown>;

export class FactReader {
  private readonly payloads: PayloadReader;

  constructor(converter: LoadedDataConverter) {
    this.payloads = new PayloadReader(converter);
  }

  async read(events: readonly FactEvent[], workflowId: string): Promise<readonly HistoryFact[]> {
    const facts: HistoryFact[] = [];
    const { payloads } = this;
    for (const event of events) {
      const reading = factOf(event, workflowId);
      let step = reading.next();
      while (step.done !== true)
        step = reading.next(payloads.isImmediate(step.value) ? payloads.plainValue(step.value) : await payloads.value(step.value));
      if (step.value !== undefined) facts.push(step.value);
    }
    return facts;
  }
}

function* factOf(event: FactEvent, workflowId: string): Reading<HistoryFact | undefined> {
  const time = millisecondsOf(event.eventTime);
  const eventId = Number(event.eventId);
  if (event.workflowExecutionStartedEventAttributes) {
    return {
      kind: 'start',
      time,
      workflowId,
      input: unpackedInput(yield* first<AgentRunInput>(event.workflowExecutionStartedEventAttributes.input)),
    };
  }
  const scheduled = event.activityTaskScheduledEventAttributes;
  if (scheduled) {
    const activityId = scheduled.activityId ?? '';
    const type = scheduled.activityType?.name;
    if (type === 'callModel')
      return { kind: 'model-scheduled', time, eventId, activityId, input: yield* first<CallModelInput>(scheduled.input) };
    if (type === 'callTool')
      return { kind: 'tool-scheduled', time, eventId, activityId, input: yield* first<CallToolInput>(scheduled.input) };
    return undefined;
  }
  const completed = event.activityTaskCompletedEventAttributes;
  if (completed)
    return {
      kind: 'activity-completed',
      time,
      scheduledId: Number(completed.scheduledEventId),
      result: yield* first(completed.result),
    };
  const closed =
    event.activityTaskFailedEventAttributes ?? event.activityTaskTimedOutEventAttributes ?? event.activityTaskCanceledEventAttributes;
  if (closed) return { kind: 'activity-closed', time, scheduledId: Number(closed.scheduledEventId) };
  const memo = event.workflowPropertiesModifiedEventAttributes?.upsertedMemo?.fields;
  if (memo) return { kind: 'memo', time, values: yield* record(memo) };
  const signal = event.workflowExecutionSignaledEventAttributes?.signalName;
  if (signal === names.answerSignal || signal === names.cancelSignal) return { kind: 'stirred', time, by: 'signal' };
  const cancel = event.workflowExecutionCancelRequestedEventAttributes;
  if (cancel) {
    // For a cancel by a workflow the cause is the SDK's, not a person's.
    const isByPerson = !cancel.externalWorkflowExecution?.workflowId;
    return { kind: 'stirred', time, by: 'cancel', ...(cancel.cause && isByPerson ? { reason: cancel.cause } : {}) };
  }
  return yield* taskOrEnd(event, time);
}

function* taskOrEnd(event: FactEvent, time: number): Reading<HistoryFact | undefined> {
  if (event.workflowTaskCompletedEventAttributes) return { kind: 'task-completed', time };
  const failedTask = event.workflowTaskFailedEventAttributes;
  if (failedTask) {
    const cause = temporal.api.enums.v1.WorkflowTaskFailedCause[failedTask.cause ?? 0] ?? '';
    const passing = failedTask.failure?.applicationFailureInfo?.type === names.threadEnded ? (true as const) : undefined;
    return harmlessCauses.has(cause)
      ? undefined
      : { kind: 'task-failed', time, message: failedTask.failure?.message ?? cause, ...defined({ passing }) };
  }
  // A worker reports too late for a task that timed out, and failures of later attempts are in no history.
  if (event.workflowTaskTimedOutEventAttributes?.timeoutType === temporal.api.enums.v1.TimeoutType.TIMEOUT_TYPE_START_TO_CLOSE)
    return { kind: 'task-failed', time, message: 'The task timed out.', passing: true };
  const continued = event.workflowExecutionContinuedAsNewEventAttributes;
  if (continued) return { kind: 'continued', time, nextRunId: continued.newExecutionRunId ?? '' };
  const done = event.workflowExecutionCompletedEventAttributes;
  if (done) return { kind: 'end', time, status: 'completed', result: yield* first<AgentRunResult>(done.result) };
  const failed = event.workflowExecutionFailedEventAttributes;
  if (failed) return { kind: 'end', time, status: 'failed', error: failureOf(failed.failure) };
  if (event.workflowExecutionCanceledEventAttributes) return { kind: 'end', time, status: 'cancelled' };
  const terminated = event.workflowExecutionTerminatedEventAttributes;
  if (terminated)
    return {
      kind: 'end',
      time,
      status: 'failed',
      error: { code: 'run-terminated', message: terminated.reason || 'The run was terminated.' },
    };
  if (event.workflowExecutionTimedOutEventAttributes)
    return { kind: 'end', time, status: 'failed', error: { code: 'run-timed-out', message: 'The deadline of the run has passed.' } };
  return undefined;
}

function* first<T>(payloads: Payloads | null | undefined): Reading<T> {
  const payload = payloads?.payloads?.[0];
  return (payload === undefined ? undefined : yield payload) as T;
}

function* record(fields: Readonly<Record<string, Payload>>): Reading<Record<string, unknown>> {
  const values: Record<string, unknown> = {};
  for (const [key, payload] of Object.entries(fields)) values[key] = yield payload;
  return values;
}

/** After these causes the server repeats the workflow task. */
const harmlessCauses = new Set([
  'WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND',
  'WORKFLOW_TASK_FAILED_CAUSE_RESET_WORKFLOW',
  'WORKFLOW_TASK_FAILED_CAUSE_RESET_STICKY_TASK_QUEUE',
  'WORKFLOW_TASK_FAILED_CAUSE_FORCE_CLOSE_COMMAND',
  'WORKFLOW_TASK_FAILED_CAUSE_FAILOVER_CLOSE_COMMAND',
]);

const mostStack = 16 * 1024;

export function failureOf(failure: ProtoFailure | null | undefined): Failure {
  const type = failure?.applicationFailureInfo?.type;
  const late = failure?.timeoutFailureInfo?.timeoutType;
  if (late === temporal.api.enums.v1.TimeoutType.TIMEOUT_TYPE_HEARTBEAT || type === 'WorkerShutdown')
    return { code: 'attempt-lost', message: 'The worker that had the call was killed or stopped, or it stood still.' };
  if (late != null) return { code: 'attempt-lost', message: 'The attempt brought no result within its timeout.' };
  return { code: isErrorCode(type) ? type : 'run-failed', message: failure?.message ?? 'The run failed.' };
}

export function thrownFailureOf(failure: ProtoFailure | null | undefined): ThrownFailure {
  let stack = '';
  for (let cause = failure; cause != null; cause = cause.cause) stack = cause.stackTrace || stack;
  return { ...failureOf(failure), ...(stack === '' ? {} : { stack: withoutCredentials(stack).slice(0, mostStack) }) };
}

export function millisecondsOf(time: { seconds?: unknown; nanos?: number | null } | null | undefined): number {
  return Number(time?.seconds ?? 0) * 1000 + Math.floor((time?.nanos ?? 0) / 1e6);
}
