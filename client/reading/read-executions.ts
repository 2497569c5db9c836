import { temporal } from '@temporalio/proto';
import { defined } from '../../contract/defined';
import type { RunExecution, RunExecutions } from '../../contract/run-executions';
import { millisecondsOf, thrownFailureOf } from '../../host/history/history-facts';
import type { Histories } from './histories';

/** Each execution takes its own requests. */
const most = 100;

export async function readExecutions(histories: Histories, workflowId: string): Promise<RunExecutions> {
  const { runId: latest } = await histories.mark(workflowId);
  const executions: RunExecution[] = [];
  let more = true;
  for await (const { runId, previousId, isRetry } of histories.back(workflowId, latest)) {
    if (executions.length === most) break;
    const began = previousId === '' ? 'started' : isRetry ? 'went-on' : 'continued';
    executions.unshift({ ...(await readOne(histories, workflowId, runId)), began });
    more = previousId !== '';
  }
  return { executions, more };
}

const failedStatus = temporal.api.enums.v1.WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_FAILED;

async function readOne(histories: Histories, workflowId: string, runId: string): Promise<Omit<RunExecution, 'began'>> {
  const { workflowExecutionInfo: info } = await histories.describe(workflowId, runId);
  const { startTime, closeTime, versioningInfo } = info ?? {};
  const [end] = info?.status === failedStatus ? await histories.newest(workflowId, runId, 1) : [];
  const failed = end?.workflowExecutionFailedEventAttributes;
  return {
    temporalRunId: runId,
    startedAt: timeText(startTime),
    ...defined({
      closedAt: closeTime == null ? undefined : timeText(closeTime),
      build: versioningInfo?.deploymentVersion?.buildId || undefined,
      error: failed == null ? undefined : thrownFailureOf(failed.failure),
    }),
  };
}

function timeText(time: Parameters<typeof millisecondsOf>[0]): string {
  return new Date(millisecondsOf(time)).toISOString();
}
