import type { LoadedDataConverter } from '@temporalio/common';
import { temporal } from '@temporalio/proto';
import { isErrorCode } from '../contract/plain/errors';
import type { HistoryFact } from '../contract/plain/history-fact';
import type { Failure } from '../contract/plain/messages';
import { names } from '../contract/plain/names';
import type { AgentRunInput, AgentRunResult, CallModelInput, CallToolInput, CallToolResult } from '../contract/plain/wire';
import { PayloadReader } from './payload-reader';

type HistoryEvent = temporal.api.history.v1.IHistoryEvent;
type ProtoFailure = temporal.api.failure.v1.IFailure;
type Payloads = temporal.api.common.v1.IPayloads;
type Marker = temporal.api.history.v1.IMarkerRecordedEventAttributes;

/** Reads history events into the facts that the fold understands. Events that say nothing of a run give nothing. */
export class FactReader {
  private readonly payloads: PayloadReader;

  constructor(converter: LoadedDataConverter) {
    this.payloads = new PayloadReader(converter);
  }

  async read(events: readonly HistoryEvent[], workflowId: string): Promise<readonly HistoryFact[]> {
    const facts: HistoryFact[] = [];
    for (const event of events) {
      const fact = await this.factOf(event, workflowId);
      if (fact !== undefined) facts.push(fact);
    }
    return facts;
  }

  private async factOf(event: HistoryEvent, workflowId: string): Promise<HistoryFact | undefined> {
    const time = millisecondsOf(event.eventTime);
    const eventId = Number(event.eventId);
    if (event.workflowExecutionStartedEventAttributes) {
      return {
        kind: 'start',
        time,
        workflowId,
        input: await this.first<AgentRunInput>(event.workflowExecutionStartedEventAttributes.input),
      };
    }
    const scheduled = event.activityTaskScheduledEventAttributes;
    if (scheduled) {
      const activityId = scheduled.activityId ?? '';
      const type = scheduled.activityType?.name;
      if (type === 'callModel')
        return { kind: 'model-scheduled', time, eventId, activityId, input: await this.first<CallModelInput>(scheduled.input) };
      if (type === 'callTool')
        return { kind: 'tool-scheduled', time, eventId, activityId, input: await this.first<CallToolInput>(scheduled.input) };
      return undefined;
    }
    const completed = event.activityTaskCompletedEventAttributes;
    if (completed)
      return {
        kind: 'activity-completed',
        time,
        scheduledId: Number(completed.scheduledEventId),
        result: await this.first(completed.result),
      };
    const closed =
      event.activityTaskFailedEventAttributes ?? event.activityTaskTimedOutEventAttributes ?? event.activityTaskCanceledEventAttributes;
    if (closed) return { kind: 'activity-closed', time, scheduledId: Number(closed.scheduledEventId) };
    const marker = event.markerRecordedEventAttributes;
    if (marker) return this.quickTool(marker, time);
    const memo = event.workflowPropertiesModifiedEventAttributes?.upsertedMemo?.fields;
    if (memo) return { kind: 'memo', time, values: await this.payloads.record(memo) };
    if (event.workflowExecutionSignaledEventAttributes?.signalName === names.resumeSignal) return { kind: 'stirred', time, by: 'answer' };
    if (event.workflowExecutionCancelRequestedEventAttributes) return { kind: 'stirred', time, by: 'cancel' };
    return this.taskOrEnd(event, time);
  }

  /** Of local activities only the results stand in a history, as markers. Those of tools are messages. */
  private async quickTool({ markerName, details }: Marker, time: number): Promise<HistoryFact | undefined> {
    if (markerName !== 'core_local_activity' || details?.['result'] == null) return undefined;
    const about = await this.first<{ activity_type?: unknown }>(details['data']);
    if (about.activity_type !== 'callTool') return undefined;
    return { kind: 'quick-completed', time, result: await this.first<CallToolResult>(details['result']) };
  }

  private async taskOrEnd(event: HistoryEvent, time: number): Promise<HistoryFact | undefined> {
    if (event.workflowTaskCompletedEventAttributes) return { kind: 'task-completed', time };
    const failedTask = event.workflowTaskFailedEventAttributes;
    if (failedTask) {
      const cause = temporal.api.enums.v1.WorkflowTaskFailedCause[failedTask.cause ?? 0] ?? '';
      return harmlessCauses.has(cause) ? undefined : { kind: 'task-failed', time, message: failedTask.failure?.message ?? cause };
    }
    const continued = event.workflowExecutionContinuedAsNewEventAttributes;
    if (continued) return { kind: 'continued', time, nextRunId: continued.newExecutionRunId ?? '' };
    const done = event.workflowExecutionCompletedEventAttributes;
    if (done) return { kind: 'end', time, status: 'completed', result: await this.first<AgentRunResult>(done.result) };
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

  private async first<T>(payloads: Payloads | null | undefined): Promise<T> {
    const payload = payloads?.payloads?.[0];
    return (payload === undefined ? undefined : await this.payloads.value(payload)) as T;
  }
}

/** A task that failed for these reasons is simply done again. */
const harmlessCauses = new Set([
  'WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND',
  'WORKFLOW_TASK_FAILED_CAUSE_RESET_WORKFLOW',
  'WORKFLOW_TASK_FAILED_CAUSE_RESET_STICKY_TASK_QUEUE',
  'WORKFLOW_TASK_FAILED_CAUSE_FORCE_CLOSE_COMMAND',
  'WORKFLOW_TASK_FAILED_CAUSE_FAILOVER_CLOSE_COMMAND',
]);

function failureOf(failure: ProtoFailure | null | undefined): Failure {
  const type = failure?.applicationFailureInfo?.type;
  return { code: isErrorCode(type) ? type : 'run-failed', message: failure?.message ?? 'The run failed.' };
}

function millisecondsOf(time: { seconds?: unknown; nanos?: number | null } | null | undefined): number {
  return Number(time?.seconds ?? 0) * 1000 + Math.floor((time?.nanos ?? 0) / 1e6);
}
