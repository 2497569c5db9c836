import type { ConnectionLike } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import { HoldfastError } from '../../contract/errors';

/** How far the history of a run had come at some time: which Temporal run was the latest, and how many events it had. */
export interface HistoryMark {
  readonly runId: string;
  readonly length: number;
}

/** The Temporal runs that one run of an agent has gone through, by continue-as-new. */
export interface RunChain {
  readonly firstRunId: string;
  /** How far it had come when the chain was read. */
  readonly mark: HistoryMark;
}

const grpcNotFound = 5;

export async function readChain(connection: ConnectionLike, namespace: string, workflowId: string, id: string): Promise<RunChain> {
  const mark = await readMark(connection, namespace, workflowId, id);
  let firstRunId = mark.runId;
  for (let previous = await previousRun(connection, namespace, workflowId, firstRunId); previous !== undefined && previous !== '';) {
    const before = await previousRun(connection, namespace, workflowId, previous);
    if (before === undefined) break;
    firstRunId = previous;
    previous = before;
  }
  return { firstRunId, mark };
}

export async function readMark(connection: ConnectionLike, namespace: string, workflowId: string, id: string): Promise<HistoryMark> {
  const { workflowExecutionInfo: info } = await found(
    connection.workflowService.describeWorkflowExecution({ namespace, execution: { workflowId } }),
    id,
  );
  return { runId: info?.execution?.runId ?? '', length: Number(info?.historyLength ?? 0) };
}

/** Which task of a run a worker has now. Until it is done, or its time is up, no history shows what comes meanwhile. */
export async function taskAtWork(connection: ConnectionLike, namespace: string, workflowId: string): Promise<string | undefined> {
  const { pendingWorkflowTask: task } = await connection.workflowService.describeWorkflowExecution({
    namespace,
    execution: { workflowId },
  });
  if (task?.state !== temporal.api.enums.v1.PendingWorkflowTaskState.PENDING_WORKFLOW_TASK_STATE_STARTED) return undefined;
  return `${String(task.startedTime?.seconds)}.${String(task.startedTime?.nanos)}`;
}

/** The run before in the chain: empty for the first one, undefined when the server no longer has this one. */
async function previousRun(connection: ConnectionLike, namespace: string, workflowId: string, runId: string): Promise<string | undefined> {
  try {
    const page = await connection.workflowService.getWorkflowExecutionHistory({
      namespace,
      execution: { workflowId, runId },
      maximumPageSize: 1,
    });
    return page.history?.events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId ?? '';
  } catch (error) {
    if ((error as { code?: unknown }).code === grpcNotFound) return undefined;
    throw error;
  }
}

export async function found<T>(reading: Promise<T>, id: string): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    if ((error as { code?: unknown }).code === grpcNotFound)
      throw new HoldfastError('run-unknown', `There is no run "${id}".`, { cause: error });
    throw error;
  }
}
