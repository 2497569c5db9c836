import { Connection } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import { testServer } from './test-bed';

const { EventType } = temporal.api.enums.v1;

/** Returns open runs whose last workflow task failed: code and history differ, and the run stands still for ever. */
export async function stuckRuns(taskQueue: string): Promise<readonly string[]> {
  const { address, namespace = 'default' } = testServer();
  const connection = await Connection.connect({ address });
  const { workflowService } = connection;
  try {
    const query = `TaskQueue = '${taskQueue}' AND ExecutionStatus = 'Running'`;
    const { executions } = await workflowService.listWorkflowExecutions({ namespace, query, pageSize: 1000 });
    const lasts = await Promise.all(
      (executions ?? []).map(async ({ execution }) => {
        const described = await workflowService.describeWorkflowExecution({ namespace, execution: execution ?? null });
        if ((described.pendingWorkflowTask?.attempt ?? 0) < 2) return [];
        const last = await workflowService.getWorkflowExecutionHistoryReverse({
          namespace,
          execution: execution ?? null,
          maximumPageSize: 1,
        });
        const event = last.history?.events?.[0];
        const { message } = event?.workflowTaskFailedEventAttributes?.failure ?? {};
        return event?.eventType === EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED ? [`${execution?.workflowId}: ${message}`] : [];
      }),
    );
    return lasts.flat();
  } finally {
    await connection.close();
  }
}
