import type { ConnectionLike } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import { HoldfastError } from '../../contract/errors';
import { names } from '../../contract/names';
import type { PayloadReader } from '../../host/history/payload-reader';

/** How far the history of a run had come at some time: which Temporal run was the latest, and how many events it had. */
export interface HistoryMark {
  readonly runId: string;
  readonly length: number;
  /** It had ended: nothing more comes. */
  readonly isClosed?: boolean;
}

/** The Temporal runs that one run of an agent has gone through, by continue-as-new and by retries. */
export interface RunChain {
  readonly firstRunId: string;
  /** Which one follows one that failed and was tried again. */
  readonly retries: ReadonlyMap<string, string>;
  /** How far it had come when the chain was read. */
  readonly mark: HistoryMark;
}

const grpcNotFound = 5;

/** Where histories are read. */
export interface ChainSource {
  readonly connection: ConnectionLike;
  readonly namespace: string;
  readonly payloads: PayloadReader;
}

export async function readChain(source: ChainSource, workflowId: string, id: string): Promise<RunChain> {
  const { isFirst, ...mark } = await readLatest(source.connection, source.namespace, workflowId, id);
  const retries = new Map<string, string>();
  let firstRunId = mark.runId;
  if (isFirst) return { firstRunId, retries, mark };
  for (let previous = await previousRun(source, workflowId, firstRunId); previous !== undefined && previous.runId !== '';) {
    const before = await previousRun(source, workflowId, previous.runId);
    if (before === undefined) break;
    if (previous.isFailed) retries.set(previous.runId, firstRunId);
    firstRunId = previous.runId;
    previous = before;
  }
  return { firstRunId, retries, mark };
}

export async function readMark(connection: ConnectionLike, namespace: string, workflowId: string, id: string): Promise<HistoryMark> {
  const { isFirst: _, ...mark } = await readLatest(connection, namespace, workflowId, id);
  return mark;
}

/** `isFirst`: no other Temporal run is before it. False also where the server does not say so. */
async function readLatest(
  connection: ConnectionLike,
  namespace: string,
  workflowId: string,
  id: string,
): Promise<HistoryMark & { readonly isFirst: boolean }> {
  const { workflowExecutionInfo: info } = await found(
    connection.workflowService.describeWorkflowExecution({ namespace, execution: { workflowId } }),
    id,
  );
  const isClosed = info?.closeTime != null;
  const runId = info?.execution?.runId ?? '';
  const isFirst = runId !== '' && info?.firstRunId === runId && info.memo?.fields?.[names.memo.retryOf] == null;
  return { runId, length: Number(info?.historyLength ?? 0), isClosed, isFirst };
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

/** One before another. */
interface PreviousRun {
  /** Empty: there is none. */
  readonly runId: string;
  /** It had failed, and was tried again. */
  readonly isFailed?: true;
}

/** The run before in the chain. Undefined when the server no longer has this one. */
export async function previousRun(
  { connection, namespace, payloads }: ChainSource,
  workflowId: string,
  runId: string,
): Promise<PreviousRun | undefined> {
  try {
    const page = await connection.workflowService.getWorkflowExecutionHistory({
      namespace,
      execution: { workflowId, runId },
      maximumPageSize: 1,
    });
    const { continuedExecutionRunId, memo } = page.history?.events?.[0]?.workflowExecutionStartedEventAttributes ?? {};
    if (continuedExecutionRunId != null && continuedExecutionRunId !== '') return { runId: continuedExecutionRunId };
    const retryOf = memo?.fields?.[names.memo.retryOf];
    const failed = retryOf == null ? undefined : await payloads.value(retryOf);
    return typeof failed === 'string' ? { runId: failed, isFailed: true } : { runId: '' };
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
