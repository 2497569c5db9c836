import { createHash } from 'node:crypto';
import { defineSearchAttributeKey } from '@temporalio/common';
import { isDelta } from '../../contract/deltas';
import type { RunEvent } from '../../contract/events';
import type { Failure } from '../../contract/messages/messages';
import { names, tenantOf } from '../../contract/names';
import type { RunForCaller } from '../connection/authority';
import { rowForCaller } from '../listing/run-lists';
import type { ListedExecution } from './executions';
import { pagesOf } from './executions';
import type { RunReader } from './run-reader';

export interface FeedRun {
  readonly workflowId: string;
  readonly runId: string;
  readonly tenant: string;
  readonly isOpen: boolean;
  readonly startTime: number;
  /** Of the Temporal runs of the run. */
  readonly isFirst: boolean;
  readonly row: RunForCaller;
  /** Differs after most changes that a list can show. */
  readonly shows: string;
}

const tenantKey = defineSearchAttributeKey('HoldfastTenant', 'KEYWORD');
const statusKey = defineSearchAttributeKey('HoldfastStatus', 'KEYWORD');

/** Runs of all tenants and their durable events, for the feed of a service. */
export class FeedSource {
  constructor(private readonly reader: RunReader) {}

  open(): AsyncGenerator<FeedRun> {
    return this.runs("ExecutionStatus = 'Running'");
  }

  /** `since` in milliseconds since 1970. Absent: all runs that the server still has. */
  closed(since?: number): AsyncGenerator<FeedRun> {
    const ended = "ExecutionStatus != 'Running' AND ExecutionStatus != 'ContinuedAsNew'";
    return this.runs(since === undefined ? ended : `${ended} AND CloseTime >= '${new Date(since).toISOString()}'`);
  }

  /** Events from an offset until the run waits, is idle or ends. */
  async *events(workflowId: string, from: number, signal: AbortSignal): AsyncGenerator<RunEvent> {
    for await (const event of this.reader.events(workflowId, { from, until: 'waiting', deltas: false, signal }))
      if (!isDelta(event)) yield event;
  }

  /** Changes with each event of the history. */
  async lengthOf(workflowId: string): Promise<string> {
    const { runId, length } = await this.reader.histories.mark(workflowId);
    return `${runId} ${length}`;
  }

  /** Undefined: the run is not stuck. */
  async stuck(workflowId: string): Promise<{ readonly error: Failure; readonly offset: number } | undefined> {
    const { status, error, nextOffset } = await this.reader.view(workflowId);
    return status === 'stuck' && error !== undefined ? { error, offset: nextOffset } : undefined;
  }

  private async *runs(which: string): AsyncGenerator<FeedRun> {
    for await (const { executions } of pagesOf(this.reader.executions.page, `WorkflowType = '${names.workflow}' AND ${which}`))
      for (const execution of executions) if (execution.typedSearchAttributes.get(tenantKey) !== undefined) yield feedRunOf(execution);
  }
}

function feedRunOf(execution: ListedExecution): FeedRun {
  const { workflowId, runId, status, startTime, startedAt, typedSearchAttributes, memo } = execution;
  const shows = JSON.stringify([runId, status.name, typedSearchAttributes.get(statusKey), memo]);
  return {
    workflowId,
    runId,
    tenant: tenantOf(workflowId),
    isOpen: status.name === 'RUNNING',
    startTime: startTime.getTime(),
    isFirst: startedAt === undefined && memo[names.memo.retryOf] === undefined,
    row: rowForCaller(execution),
    shows: createHash('sha256').update(shows).digest('base64'),
  };
}
