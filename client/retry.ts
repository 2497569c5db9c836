import { personName } from '../contract/people';
import type { ConnectionLike, WorkflowClient, WorkflowStartOptions } from '@temporalio/client';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import type { SearchAttributePair } from '@temporalio/common';
import { defineSearchAttributeKey } from '@temporalio/common';
import { filled, worded } from '../contract/check';
import { defined } from '../contract/defined';
import { millisecondsOf as milliseconds } from '../contract/duration';
import { HoldfastError, isErrorCode } from '../contract/errors';
import type { Interrupt } from '../contract/interrupts';
import { interruptMemoPrefix, names, sinceMemoPrefix } from '../contract/names';
import { rootRunId } from '../contract/record/child-runs';
import { retriedSnapshot } from '../contract/record/retry';
import { isRunInput } from '../contract/record/is-run-input';
import type { AgentRunInput, RetryPoint } from '../contract/record/wire';
import { millisecondsOf } from '../host/history/history-facts';
import { keptPointIn } from '../host/history/kept-point';
import type { PayloadReader } from '../host/history/payload-reader';
import { answered } from './lost-server';
import { optionsOf } from './options';
import { found, readMark } from './reading/chain';
import type { Executions } from './reading/executions';

/** How a run goes on behind its end: one that failed is retried, and one that was cancelled is resumed. */
export type GoingOn = 'run-retry' | 'run-resume';

export interface GoOnOptions {
  /** Who lets it go on. */
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

type StartAgain = WorkflowStartOptions<(input: AgentRunInput) => Promise<void>>;

/** Where runs are started and read. */
export interface RetryPlace {
  readonly workflow: WorkflowClient;
  readonly connection: ConnectionLike;
  readonly namespace: string;
  readonly payloads: PayloadReader;
  readonly executions: Executions;
}

const words = {
  'run-retry': { what: 'retry', impossible: 'retry-impossible', ended: 'it failed' },
  'run-resume': { what: 'resume', impossible: 'resume-impossible', ended: 'it was cancelled' },
} as const;

/** Starts runs again behind their ends, from where they failed or stood: another execution under the same workflow id. It needs no worker. */
export class Retries {
  constructor(private readonly place: RetryPlace) {}

  async goOn(workflowId: string, id: string, how: GoingOn, options: GoOnOptions): Promise<void> {
    const startOptions = await this.prepare(workflowId, id, how, options);
    try {
      await answered(this.place.workflow.start(names.workflow, startOptions));
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      const [code, done] = how === 'run-retry' ? (['run-not-failed', 'retried'] as const) : (['run-not-cancelled', 'resumed'] as const);
      throw new HoldfastError(code, `The run "${id}" is at work: somebody else has ${done} it.`, { cause: error });
    }
    this.place.executions.changed();
  }

  /** How the run would go on. Throws why it cannot. */
  async prepare(workflowId: string, id: string, how: GoingOn, options: GoOnOptions): Promise<StartAgain> {
    const impossible = (why: string): HoldfastError =>
      new HoldfastError(words[how].impossible, `The run "${id}" cannot go on from where ${words[how].ended}: ${why}.`);
    const { by, deadline } = optionsOf<GoOnOptions>(options, words[how].what, {
      by: personName,
      deadline: worded(filled, 'a duration such as "30d"'),
    });
    const root = rootRunId(id);
    if (root !== id)
      throw new HoldfastError(
        words[how].impossible,
        `"${id}" is an isolated agent, and goes on with the run that it is part of: "${root}".`,
      );
    const { connection, namespace, executions } = this.place;
    const { runId } = await answered(readMark(connection, namespace, workflowId, id));
    const { memo, typedSearchAttributes, startedAt, startTime } = await executions.describe(workflowId, id);
    const events = await this.lastEvents(workflowId, runId, id);
    const { start, snapshot } = await (how === 'run-retry' ? this.failedPoint(events[0], id) : this.cancelledPoint(events, id));
    if (snapshot === undefined) throw impossible('it kept no state');
    const { taskQueue, expires } = await this.beginning(workflowId, runId, id);
    const left = deadline === undefined ? expires && expires - Date.now() : milliseconds(deadline, 'request-invalid');
    if (left !== undefined && left <= 0)
      throw impossible('its deadline has passed. Give it another one: the option deadline, or --deadline');
    const attributes: SearchAttributePair[] = typedSearchAttributes
      .getAll()
      .filter(({ key }) => !foreignAttributes.test(key.name) && key.name !== startedAtKey.name && key.name !== statusKey.name);
    return {
      workflowId,
      taskQueue,
      args: [{ start, snapshot: retriedSnapshot(snapshot, by, how) }],
      // Of several retries at once the server takes the first one.
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
  }

  /** Newest first. A cancelled run keeps its state a few events before its end. */
  private async lastEvents(workflowId: string, runId: string, id: string): Promise<readonly CloseEvent[]> {
    const { connection, namespace } = this.place;
    const { workflowService } = connection;
    const request = { namespace, execution: { workflowId, runId }, maximumPageSize: 50 };
    const page = await answered(found(workflowService.getWorkflowExecutionHistoryReverse(request), id));
    return page.history?.events ?? [];
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
  private async failedPoint(event: CloseEvent | undefined, id: string): Promise<AgentRunInput> {
    const failed = event?.workflowExecutionFailedEventAttributes;
    if (failed == null) throw notFailed(event, id);
    const payload = failed.failure?.applicationFailureInfo?.details?.payloads?.[1];
    if (payload === undefined) throw impossible(id, 'it kept nothing to go on from');
    return inputIn((await this.place.payloads.value(payload)) as RetryPoint, 'retry-impossible');
  }

  /** What the run kept before it ended as cancelled. */
  private async cancelledPoint(events: readonly CloseEvent[], id: string): Promise<AgentRunInput> {
    if (events[0]?.workflowExecutionCanceledEventAttributes == null) {
      const code = 'run-not-cancelled';
      throw new HoldfastError(code, `The run "${id}" was not cancelled: it ${statusAt(events[0])}.`);
    }
    const kept = await keptPointIn(events, this.place.payloads);
    if (kept === undefined)
      throw new HoldfastError(
        'resume-impossible',
        `The run "${id}" cannot go on from where it was cancelled: it kept nothing to go on from.`,
      );
    return inputIn(kept.point, 'resume-impossible');
  }
}

function inputIn(point: RetryPoint, impossibleCode: 'retry-impossible' | 'resume-impossible'): AgentRunInput {
  if ('refused' in point) {
    const { code, message } = point.refused;
    throw new HoldfastError(isErrorCode(code) ? code : impossibleCode, message);
  }
  if (!isRunInput(point)) throw new HoldfastError(impossibleCode, 'The run cannot go on: what it kept is no state of a run.');
  return point;
}

function notFailed(event: CloseEvent | undefined, id: string): HoldfastError {
  if (event?.workflowExecutionTerminatedEventAttributes != null) return impossible(id, 'it was terminated, and kept nothing to go on from');
  if (event?.workflowExecutionTimedOutEventAttributes != null)
    return impossible(id, 'its deadline ended it, and it kept nothing to go on from');
  return new HoldfastError('run-not-failed', `The run "${id}" has not failed: it ${statusAt(event)}.`);
}

function statusAt(event: CloseEvent | undefined): string {
  if (event?.workflowExecutionCompletedEventAttributes != null) return 'has completed';
  if (event?.workflowExecutionCanceledEventAttributes != null) return 'was cancelled';
  if (event?.workflowExecutionFailedEventAttributes != null) return 'has failed';
  if (event?.workflowExecutionTerminatedEventAttributes != null) return 'was terminated';
  return event?.workflowExecutionTimedOutEventAttributes == null ? 'has not ended' : 'was ended by its deadline';
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
