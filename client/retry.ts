import type { ConnectionLike, WorkflowClient } from '@temporalio/client';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import type { InternalWorkflowStartOptions } from '@temporalio/client/lib/internal';
import { InternalWorkflowStartOptionsSymbol } from '@temporalio/client/lib/internal';
import type { SearchAttributePair } from '@temporalio/common';
import { defineSearchAttributeKey } from '@temporalio/common';
import { filled, form, isString, worded } from '../contract/check';
import { defined } from '../contract/defined';
import { millisecondsOf as milliseconds } from '../contract/duration';
import { HoldfastError, isErrorCode } from '../contract/errors';
import type { Interrupt } from '../contract/interrupts';
import { limits } from '../contract/limits';
import { interruptMemoPrefix, names, sinceMemoPrefix } from '../contract/names';
import { rootRunId } from '../contract/record/child-runs';
import { retriedSnapshot } from '../contract/record/retry';
import { isRunInput } from '../contract/record/run-input';
import type { AgentRunInput, RetryPoint } from '../contract/record/wire';
import { millisecondsOf } from '../host/history/history-facts';
import type { PayloadReader } from '../host/history/payload-reader';
import { answered } from './lost-server';
import { optionsOf } from './options';
import { found, readMark } from './reading/chain';
import type { Executions } from './reading/executions';

export interface RetryOptions {
  /** Who tries it again. */
  readonly by?: string;
  /** How long the run may take from now on, in all. Default: what is left of the deadline that it was started with. */
  readonly deadline?: string;
}

type CloseEvent = NonNullable<
  NonNullable<Awaited<ReturnType<ConnectionLike['workflowService']['getWorkflowExecutionHistoryReverse']>>['history']>['events']
>[number];

const startedAtKey = defineSearchAttributeKey('HoldfastStartedAt', 'DATETIME');
const statusKey = defineSearchAttributeKey('HoldfastStatus', 'KEYWORD');
const foreignAttributes = /^(Temporal|BuildIds$)/;

/** Where runs are started and read. */
export interface RetryPlace {
  readonly workflow: WorkflowClient;
  readonly connection: ConnectionLike;
  readonly namespace: string;
  readonly payloads: PayloadReader;
  readonly executions: Executions;
}

/** Starts failed runs again from where they failed: another execution under the same workflow id. It needs no worker. */
export class Retries {
  constructor(private readonly place: RetryPlace) {}

  async retry(workflowId: string, id: string, options: RetryOptions): Promise<void> {
    const { by, deadline } = optionsOf<RetryOptions>(options, 'retry', {
      by: form(
        (value) => isString(value) && value !== '' && value.length <= limits.starter,
        `a name of at most ${limits.starter} characters`,
      ),
      deadline: worded(filled, 'a duration such as "30d"'),
    });
    const root = rootRunId(id);
    if (root !== id)
      throw new HoldfastError('retry-impossible', `"${id}" is an isolated agent, and goes on with the run that it is part of: "${root}".`);
    const { workflow, connection, namespace, executions } = this.place;
    const { runId } = await answered(readMark(connection, namespace, workflowId, id));
    const { memo, typedSearchAttributes, startedAt, startTime } = await executions.describe(workflowId, id);
    const { start, snapshot } = await this.pointOf(await this.lastEvent(workflowId, runId, id), id);
    if (snapshot === undefined) throw impossible(id, 'it kept no state');
    const { taskQueue, expires } = await this.beginning(workflowId, runId, id);
    const left = deadline === undefined ? expires && expires - Date.now() : milliseconds(deadline, 'request-invalid');
    if (left !== undefined && left <= 0)
      throw impossible(id, 'its deadline has passed. Give it another one: the option deadline, or --deadline');
    const attributes: SearchAttributePair[] = typedSearchAttributes
      .getAll()
      .filter(({ key }) => !foreignAttributes.test(key.name) && key.name !== startedAtKey.name && key.name !== statusKey.name);
    const startOptions: InternalWorkflowStartOptions & { args: [AgentRunInput] } = {
      workflowId,
      taskQueue,
      args: [{ start, snapshot: retriedSnapshot(snapshot, by) }],
      // Of several at once the server takes one: it knows the id of the request, or that a run of this id is open.
      [InternalWorkflowStartOptionsSymbol]: { requestId: `retry-${runId}` },
      workflowIdConflictPolicy: 'FAIL',
      workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
      memo: {
        ...defined({ [names.memo.start]: memo[names.memo.start] }),
        [names.memo.retryOf]: runId,
        ...openIn(snapshot.state, Date.now()),
      },
      typedSearchAttributes: [...attributes, { key: statusKey, value: 'running' }, { key: startedAtKey, value: startedAt ?? startTime }],
      ...defined({ workflowExecutionTimeout: left }),
    };
    try {
      await answered(workflow.start(names.workflow, startOptions));
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      throw new HoldfastError('run-not-failed', `The run "${id}" is at work: somebody else has retried it.`, { cause: error });
    }
    executions.changed();
  }

  private async lastEvent(workflowId: string, runId: string, id: string): Promise<CloseEvent | undefined> {
    const { connection, namespace } = this.place;
    const { workflowService } = connection;
    const request = { namespace, execution: { workflowId, runId }, maximumPageSize: 1 };
    const page = await answered(found(workflowService.getWorkflowExecutionHistoryReverse(request), id));
    return page.history?.events?.[0];
  }

  private async beginning(
    workflowId: string,
    runId: string,
    id: string,
  ): Promise<{ readonly taskQueue: string; readonly expires?: number }> {
    const { connection, namespace } = this.place;
    const { workflowService } = connection;
    const request = { namespace, execution: { workflowId, runId }, maximumPageSize: 1 };
    const page = await answered(found(workflowService.getWorkflowExecutionHistory(request), id));
    const begun = page.history?.events?.[0]?.workflowExecutionStartedEventAttributes;
    const expires = millisecondsOf(begun?.workflowExecutionExpirationTime);
    return { taskQueue: begun?.taskQueue?.name ?? '', ...(expires > 0 ? { expires } : {}) };
  }

  /** What the failure of the run carries. Throws where there is no failure, or nothing in it to go on with. */
  private async pointOf(event: CloseEvent | undefined, id: string): Promise<AgentRunInput> {
    const failed = event?.workflowExecutionFailedEventAttributes;
    if (failed == null) throw notFailed(event, id);
    const payload = failed.failure?.applicationFailureInfo?.details?.payloads?.[1];
    if (payload === undefined) throw impossible(id, 'it failed under a version of Holdfast that kept nothing to go on from');
    const point = (await this.place.payloads.value(payload)) as RetryPoint;
    if ('refused' in point) {
      const { code, message } = point.refused;
      throw new HoldfastError(isErrorCode(code) ? code : 'retry-impossible', message);
    }
    if (!isRunInput(point)) throw impossible(id, 'what its failure carries is no state of a run');
    return point;
  }
}

function notFailed(event: CloseEvent | undefined, id: string): HoldfastError {
  if (event?.workflowExecutionTerminatedEventAttributes != null) return impossible(id, 'it was terminated, and kept nothing to go on from');
  if (event?.workflowExecutionTimedOutEventAttributes != null)
    return impossible(id, 'its deadline ended it, and it kept nothing to go on from');
  const status =
    event?.workflowExecutionCompletedEventAttributes != null
      ? 'has completed'
      : event?.workflowExecutionCanceledEventAttributes != null
        ? 'was cancelled'
        : 'is at work';
  return new HoldfastError('run-not-failed', `The run "${id}" has not failed: it ${status}.`);
}

function impossible(id: string, why: string): HoldfastError {
  return new HoldfastError('retry-impossible', `The run "${id}" cannot go on from where it failed: ${why}.`);
}

/** Lists show what is open of the memo of an execution, and a new one has none. */
function openIn(state: unknown, now: number): Record<string, unknown> {
  const { interrupts = [] } = state as { readonly interrupts?: readonly { readonly shown: Interrupt }[] };
  return Object.fromEntries<unknown>(
    interrupts.flatMap(({ shown }): [string, unknown][] => [
      [interruptMemoPrefix + shown.id, shown],
      [sinceMemoPrefix + shown.id, now],
    ]),
  );
}
