import type { WorkflowClient, WorkflowStartOptions } from '@temporalio/client';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import type { SearchAttributePair } from '@temporalio/common';
import { defineSearchAttributeKey } from '@temporalio/common';
import { filled, worded } from '../../contract/check';
import { defined } from '../../contract/defined';
import { millisecondsOf as milliseconds } from '../../contract/duration';
import { HoldfastError } from '../../contract/errors';
import type { Interrupt } from '../../contract/interrupts';
import { interruptMemoPrefix, names, runIdOf, sinceMemoPrefix } from '../../contract/names';
import { personName } from '../../contract/people';
import { rootRunId } from '../../contract/record/child-runs';
import { isRunInput } from '../../contract/record/is-run-input';
import { retriedSnapshot } from '../../contract/record/retry';
import type { AgentRunInput, RetryPoint } from '../../contract/record/wire';
import { millisecondsOf } from '../../host/history/history-facts';
import { keptPointIn } from '../../host/history/kept-point';
import type { Authority } from '../connection/authority';
import { answered } from '../connection/lost-server';
import { optionsOf } from '../connection/options';
import { errorOf } from '../connection/refusals';
import type { Executions } from '../reading/executions';
import { fairnessKeyOf } from './start-operation';
import type { Histories } from '../reading/histories';

/** A failed run is retried, and a cancelled run is resumed. */
type GoingOn = 'run-retry' | 'run-resume';

export interface GoOnOptions {
  /** The name of the author. */
  readonly by?: string;
  /** The time for the rest of the run. Default: the rest of the first deadline. */
  readonly deadline?: string;
}

type StartAgain = WorkflowStartOptions<(input: AgentRunInput) => Promise<void>>;
type HistoryEvents = Awaited<ReturnType<Histories['newest']>>;

const startedAtKey = defineSearchAttributeKey('HoldfastStartedAt', 'DATETIME');
const statusKey = defineSearchAttributeKey('HoldfastStatus', 'KEYWORD');
/** Attributes that the server or the next execution sets. */
const notCopied = /^(Temporal|(BuildIds|HoldfastStartedAt|HoldfastStatus)$)/;

const ways = {
  'run-retry': {
    option: 'retry',
    impossible: 'retry-impossible',
    refused: 'run-not-failed',
    done: 'retried',
    ended: 'has failed',
    not: 'has not failed',
    where: 'it failed',
  },
  'run-resume': {
    option: 'resume',
    impossible: 'resume-impossible',
    refused: 'run-not-cancelled',
    done: 'resumed',
    ended: 'was cancelled',
    not: 'was not cancelled',
    where: 'it was cancelled',
  },
} as const;

/** Starts a new execution under the same workflow id, from the point that the ended run kept. */
export class Retries {
  constructor(
    private readonly workflow: WorkflowClient,
    private readonly histories: Histories,
    private readonly executions: Executions,
  ) {}

  async goOn(workflowId: string, how: GoingOn, options: GoOnOptions, acting?: Pick<Authority, 'author'>): Promise<void> {
    const startOptions = await this.prepare(workflowId, how, options, acting);
    try {
      await answered(this.workflow.start(names.workflow, startOptions));
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      const { refused, done } = ways[how];
      throw new HoldfastError(refused, `The run "${runIdOf(workflowId)}" is at work: somebody else has ${done} it.`, { cause: error });
    }
    this.executions.changed();
  }

  async prepare(workflowId: string, how: GoingOn, options: GoOnOptions, acting?: Pick<Authority, 'author'>): Promise<StartAgain> {
    const { by, deadline } = optionsOf<GoOnOptions>(options, ways[how].option, {
      by: personName,
      deadline: worded(filled, 'a duration such as "30d"'),
    });
    const author = acting?.author({ by }) ?? { by };
    checkRoot(runIdOf(workflowId), how);
    const { runId } = await this.histories.mark(workflowId);
    const { memo, typedSearchAttributes, startedAt, startTime } = await this.executions.describe(workflowId);
    const { start, snapshot } = await this.point(workflowId, runId, how);
    if (snapshot === undefined) throw impossible(workflowId, how, 'it kept no state');
    const { taskQueue, workflowExecutionExpirationTime } = await this.histories.started(workflowId, runId);
    const expires = millisecondsOf(workflowExecutionExpirationTime);
    const rest = expires > 0 ? expires - Date.now() : undefined;
    const left = deadline === undefined ? rest : milliseconds(deadline, 'request-invalid');
    if (left !== undefined && left <= 0)
      throw impossible(workflowId, how, 'its deadline has passed. Give it another one: the option deadline, or --deadline');
    const attributes: SearchAttributePair[] = typedSearchAttributes.getAll().filter(({ key }) => !notCopied.test(key.name));
    return {
      workflowId,
      taskQueue: taskQueue?.name ?? '',
      priority: { fairnessKey: fairnessKeyOf(start.tenant) },
      args: [{ start, snapshot: retriedSnapshot(snapshot, author, how) }],
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

  private async point(workflowId: string, runId: string, how: GoingOn): Promise<AgentRunInput> {
    const { histories } = this;
    const events = await histories.newest(workflowId, runId, 1);
    checkEnd(workflowId, how, events);
    const kept = how === 'run-retry' ? undefined : await keptPointIn(histories.newestPages(workflowId, runId), histories.payloads);
    const point = kept?.point ?? (await this.failedPoint(events));
    if (point === undefined) throw impossible(workflowId, how, 'it kept nothing to go on from');
    if ('refused' in point) throw errorOf(point.refused, ways[how].impossible);
    if (isRunInput(point)) return point;
    throw new HoldfastError(ways[how].impossible, 'The run cannot go on: what it kept is no state of a run.');
  }

  private async failedPoint([end]: HistoryEvents): Promise<RetryPoint | undefined> {
    const payload = end?.workflowExecutionFailedEventAttributes?.failure?.applicationFailureInfo?.details?.payloads?.[1];
    return payload && ((await this.histories.payloads.value(payload)) as RetryPoint);
  }
}

function checkRoot(id: string, how: GoingOn): void {
  const root = rootRunId(id);
  if (root === id) return;
  throw new HoldfastError(ways[how].impossible, `"${id}" is an isolated agent, and goes on with the run that it is part of: "${root}".`);
}

const endings = [
  ['workflowExecutionCompletedEventAttributes', 'has completed'],
  ['workflowExecutionCanceledEventAttributes', 'was cancelled'],
  ['workflowExecutionFailedEventAttributes', 'has failed'],
  ['workflowExecutionTerminatedEventAttributes', 'was terminated'],
  ['workflowExecutionTimedOutEventAttributes', 'was ended by its deadline'],
] as const;

function checkEnd(workflowId: string, how: GoingOn, [end]: HistoryEvents): void {
  const is = endings.find(([name]) => end?.[name] != null)?.[1] ?? 'has not ended';
  const { ended, refused, not } = ways[how];
  if (is === ended) return;
  if (how === 'run-retry' && (is === 'was terminated' || is === 'was ended by its deadline'))
    throw impossible(workflowId, how, `it ${is}, and kept nothing to go on from`);
  throw new HoldfastError(refused, `The run "${runIdOf(workflowId)}" ${not}: it ${is}.`);
}

function impossible(workflowId: string, how: GoingOn, why: string): HoldfastError {
  const { impossible: code, where } = ways[how];
  return new HoldfastError(code, `The run "${runIdOf(workflowId)}" cannot go on from where ${where}: ${why}.`);
}

/** Lists read open interrupts from the memo, which a new execution lacks. */
function openIn(state: unknown, now: number): Record<string, unknown> {
  const { interrupts = [] } = state as { readonly interrupts?: readonly { readonly shown: Interrupt }[] };
  return Object.fromEntries<unknown>(
    interrupts.flatMap(({ shown }): [string, unknown][] => [
      [interruptMemoPrefix + shown.id, shown],
      [sinceMemoPrefix + shown.id, now],
    ]),
  );
}
