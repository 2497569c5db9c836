import { temporal } from '@temporalio/proto';
import { defined } from '../../contract/defined';
import type { RunExecution, RunExecutions } from '../../contract/run-executions';
import { millisecondsOf, thrownFailureOf } from '../../host/history/history-facts';
import type { ChainSource } from './chain';
import { found, previousRun } from './chain';

/** So many of the newest are looked at: each is asked for by itself. */
const most = 100;

/** The executions that a run has gone through in Temporal, with their builds and how they ended. */
export async function readExecutions(source: ChainSource, workflowId: string, id: string): Promise<RunExecutions> {
  const { connection, namespace } = source;
  const { workflowExecutionInfo: latest } = await found(
    connection.workflowService.describeWorkflowExecution({ namespace, execution: { workflowId } }),
    id,
  );
  const executions: RunExecution[] = [];
  for (let runId = latest?.execution?.runId ?? ''; runId !== '';) {
    if (executions.length === most) return { executions, more: true };
    const before = await previousRun(source, workflowId, runId);
    // The server has deleted it, and all before it.
    if (before === undefined) return { executions, more: true };
    const began = before.runId === '' ? 'started' : before.isFailed === true ? 'went-on' : 'continued';
    executions.unshift({ ...(await readOne(source, workflowId, runId, id)), began });
    runId = before.runId;
  }
  return { executions, more: false };
}

async function readOne(
  { connection, namespace }: ChainSource,
  workflowId: string,
  runId: string,
  id: string,
): Promise<Omit<RunExecution, 'began'>> {
  const execution = { workflowId, runId };
  const { workflowExecutionInfo: info } = await found(connection.workflowService.describeWorkflowExecution({ namespace, execution }), id);
  const { startTime, closeTime, versioningInfo } = info ?? {};
  const isFailed = info?.status === failedStatus;
  return {
    temporalRunId: runId,
    startedAt: timeText(startTime),
    ...defined({
      closedAt: closeTime == null ? undefined : timeText(closeTime),
      build: versioningInfo?.deploymentVersion?.buildId || undefined,
      error: isFailed ? await failureIn({ connection, namespace }, execution) : undefined,
    }),
  };
}

const failedStatus = temporal.api.enums.v1.WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_FAILED;

/** What the last event of a failed execution says. */
async function failureIn(
  { connection, namespace }: Pick<ChainSource, 'connection' | 'namespace'>,
  execution: { readonly workflowId: string; readonly runId: string },
): Promise<RunExecution['error']> {
  const { history } = await connection.workflowService.getWorkflowExecutionHistoryReverse({ namespace, execution, maximumPageSize: 1 });
  const failed = history?.events?.[0]?.workflowExecutionFailedEventAttributes;
  return failed == null ? undefined : thrownFailureOf(failed.failure);
}

function timeText(time: Parameters<typeof millisecondsOf>[0]): string {
  return new Date(millisecondsOf(time)).toISOString();
}
