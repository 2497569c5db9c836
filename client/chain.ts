import type { Connection } from '@temporalio/client';
import { HoldfastError } from '../contract/plain/errors';

/** The Temporal runs that one run of an agent has gone through, by continue-as-new. */
export interface RunChain {
  readonly firstRunId: string;
  readonly latestRunId: string;
  readonly latestLength: number;
  /** Whether a run came after the latest one known when the chain was read. */
  passed(runId: string): boolean;
}

const grpcNotFound = 5;

export async function readChain(connection: Connection, namespace: string, workflowId: string, id: string): Promise<RunChain> {
  const { workflowExecutionInfo: info } = await found(
    connection.workflowService.describeWorkflowExecution({ namespace, execution: { workflowId } }),
    id,
  );
  const latestRunId = info?.execution?.runId ?? '';
  const known = new Set<string>([latestRunId]);
  let firstRunId = latestRunId;
  for (let previous = await previousRun(connection, namespace, workflowId, firstRunId); previous !== undefined && previous !== '';) {
    const before = await previousRun(connection, namespace, workflowId, previous);
    if (before === undefined) break;
    firstRunId = previous;
    known.add(previous);
    previous = before;
  }
  return { firstRunId, latestRunId, latestLength: Number(info?.historyLength ?? 0), passed: (runId) => !known.has(runId) };
}

/** The run before in the chain: empty for the first one, undefined when the server no longer has this one. */
async function previousRun(connection: Connection, namespace: string, workflowId: string, runId: string): Promise<string | undefined> {
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
