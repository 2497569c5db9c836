import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { ConnectionLike, WorkflowClient, WorkflowHandle } from '@temporalio/client';
import type { LoadedDataConverter } from '@temporalio/common';
import { temporal } from '@temporalio/proto';
import type { RunCall } from '../../contract/calls';
import { count, oneOf, worded } from '../../contract/check';
import { defined } from '../../contract/defined';
import type { Delta, DeltaSource } from '../../contract/deltas';
import type { RetriedCall, RunEvent, RunFacts, RunView } from '../../contract/events';
import type { Interrupt } from '../../contract/interrupts';
import { names } from '../../contract/names';
import { HistoryFold } from '../../contract/record/fold';
import type { ParentRun } from '../../contract/record/wire';
import type { RunExecutions } from '../../contract/run-executions';
import { newestPages } from '../../host/history/history-pages';
import { answered, withCode } from '../connection/lost-server';
import { OpenWork } from '../connection/open-work';
import { optionsOf } from '../connection/options';
import { Retries } from '../runs/retry';
import { settleDoubt } from './doubtful-task';
import type { ModelCallUsage } from './execution-usage';
import { ExecutionUsage } from './execution-usage';
import { Executions, openInterruptsIn } from './executions';
import type { ReadOptions } from './follower';
import { RunFollower } from './follower';
import { Histories } from './histories';
import type { CallOptions } from './read-call';
import { readCall, wantedMessages } from './read-call';
import { readExecutions } from './read-executions';
import { retriedCalls } from './retried-calls';
import type { SharedFollower } from './shared-followers';
import { SharedFollowers } from './shared-followers';
import type { TimedAnswer } from './stored-signals';
import { answersIn, withoutAnswered, StoredSignals, messagesIn, withStored } from './stored-signals';

export interface AnswerStanding {
  /** The view has interrupts until the workflow code sees the answer. */
  readonly view: RunView;
  readonly stored: readonly TimedAnswer[];
  readonly expired: ReadonlySet<string>;
  readonly withdrawn: ReadonlySet<string>;
  readonly cancelling: boolean;
  /** Deliveries before the last continue-as-new. */
  readonly delivered: readonly string[];
  readonly parent?: ParentRun;
}

interface Folded {
  readonly fold: HistoryFold;
  readonly answers: StoredSignals;
  readonly messages: StoredSignals;
  readonly retrying: readonly RetriedCall[];
  readonly facts: RunFacts;
}

const executionsOfAnUpdate = 3;

const startedTask = temporal.api.enums.v1.PendingWorkflowTaskState.PENDING_WORKFLOW_TASK_STATE_STARTED;

/** Readers of one run share a follower. */
export class RunReader {
  private readonly followers = new SharedFollowers();
  readonly histories: Histories;
  readonly executions: Executions;
  readonly retries: Retries;
  readonly work = new OpenWork();
  /** A shared follower must not inherit one reader's deadline. */
  private readonly withoutDeadline: <T>(run: () => T) => T = AsyncLocalStorage.snapshot();

  constructor(
    private readonly workflow: WorkflowClient,
    connection: { readonly connection: ConnectionLike; readonly namespace: string },
    converter: LoadedDataConverter,
    private readonly deltas: DeltaSource,
  ) {
    this.histories = new Histories(connection.connection, connection.namespace, converter);
    this.executions = new Executions(this.histories);
    this.retries = new Retries(workflow, this.histories, this.executions);
  }

  checkOpen(): void {
    this.work.checkOpen();
  }

  handle(workflowId: string): WorkflowHandle {
    this.checkOpen();
    return this.workflow.getHandle(workflowId);
  }

  withDeadline<T>(deadline: number, run: () => Promise<T>): Promise<T> {
    return this.histories.connection.withDeadline(deadline, run);
  }

  async *events(workflowId: string, options: ReadOptions): AsyncGenerator<RunEvent | Delta> {
    checkReadOptions(options);
    for (let from: number | undefined = options.from ?? 0; from !== undefined;)
      from = yield* this.chainEvents(workflowId, { ...options, from });
  }

  /** Returns the next offset if the run has grown beyond the chain. */
  private async *chainEvents(
    workflowId: string,
    options: ReadOptions & { readonly from: number },
  ): AsyncGenerator<RunEvent | Delta, number | undefined> {
    this.checkOpen();
    const isFirst = !this.followers.has(workflowId);
    const shared = this.withoutDeadline(() => this.share(workflowId));
    try {
      const follower = await this.work.wait(() => shared.follower);
      // The requested offset may be newer than the follower's last read.
      const isOld = !isFirst && (options.until === 'waiting' || options.from > follower.nextOffset);
      const mark = isOld ? await this.work.wait(() => this.histories.mark(workflowId)) : follower.mark;
      const next = yield* follower.read(options, mark);
      if (next === undefined || !isOld) return undefined;
      this.followers.forget(workflowId, shared);
      return next;
    } catch (error) {
      throw withCode(error);
    } finally {
      this.followers.leave(workflowId, shared);
    }
  }

  async view(workflowId: string): Promise<RunView> {
    const { view, stored } = await this.standing(workflowId);
    return withoutAnswered(view, stored);
  }

  /** Reads the memo: one request, however long the history is. An ended run has no interrupts. */
  async shown(workflowId: string): Promise<readonly Interrupt[]> {
    this.checkOpen();
    const { status, memo } = await this.executions.describe(workflowId);
    return status.name === 'RUNNING' ? openInterruptsIn(memo).map(({ interrupt }) => interrupt) : [];
  }

  async standing(workflowId: string): Promise<AnswerStanding> {
    const { fold, answers, messages, retrying, facts } = await answered(this.work.wait(() => this.fold(workflowId)));
    const { parent, ends, cancel, delivered } = fold;
    const view = { ...fold.view(), ...facts, usageByModel: fold.used.byModel, ...(retrying.length === 0 ? {} : { retrying }) };
    return {
      view: withStored(view, await messagesIn(messages)),
      stored: await answersIn(answers),
      expired: ends.expired,
      withdrawn: ends.withdrawn,
      cancelling: cancel.isRequested,
      delivered,
      ...defined({ parent }),
    };
  }

  /** The snapshot of the latest Temporal run has the earlier state. */
  private async fold(workflowId: string): Promise<Folded> {
    const { histories } = this;
    const fold = new HistoryFold();
    const answers = new StoredSignals(names.answerSignal, histories.payloads);
    const messages = new StoredSignals(names.conversationSignal, histories.payloads);
    const { workflowExecutionInfo: info, pendingActivities, pendingWorkflowTask } = await histories.describe(workflowId);
    for (let runId: string | undefined = info?.execution?.runId ?? ''; runId !== undefined; runId = fold.nextRunId) {
      for await (const { events, facts } of histories.pages(workflowId, runId)) {
        for (const event of events) for (const waiting of [answers, messages]) waiting.add(event);
        for (const fact of facts) fold.add(fact);
      }
    }
    settleDoubt(fold, pendingWorkflowTask);
    const facts = this.executions.factsOf(info ?? {});
    return { fold, answers, messages, retrying: retriedCalls(pendingActivities), facts };
  }

  call(workflowId: string, address: string, options: CallOptions): Promise<RunCall> {
    const wanted = wantedMessages(options);
    return answered(this.work.wait(() => readCall(this.histories, workflowId, address, wanted)));
  }

  executionsOf(workflowId: string): Promise<RunExecutions> {
    return answered(this.work.wait(() => readExecutions(this.histories, workflowId)));
  }

  async *eventsBack(workflowId: string): AsyncGenerator<readonly RunEvent[]> {
    const { histories } = this;
    const { runId: latest } = await this.work.wait(() => histories.mark(workflowId));
    for await (const { runId } of histories.back(workflowId, latest)) {
      const fold = new HistoryFold();
      const events: RunEvent[] = [];
      for await (const { facts } of histories.pages(workflowId, runId)) for (const fact of facts) events.push(...fold.add(fact));
      yield events;
    }
  }

  async modelCalls(workflowId: string, runId: string): Promise<readonly ModelCallUsage[]> {
    this.checkOpen();
    const usage = new ExecutionUsage();
    for await (const { facts } of this.histories.pages(workflowId, runId)) for (const fact of facts) usage.add(fact);
    return usage.calls;
  }

  async took(workflowId: string, updateId: string): Promise<boolean> {
    return (await this.tookOfLate(workflowId, updateId)) || (await this.standing(workflowId)).delivered.includes(updateId);
  }

  private async tookOfLate(workflowId: string, updateId: string): Promise<boolean> {
    let execution: { workflowId: string; runId?: string } | undefined = { workflowId };
    for (let executions = 0; execution !== undefined && executions < executionsOfAnUpdate; executions++) {
      let before: string | null | undefined;
      for await (const events of newestPages(this.histories, execution)) {
        // Newest first, because an accepted update may be refused later.
        for (const event of events) {
          const { meta, outcome } = event.workflowExecutionUpdateCompletedEventAttributes ?? {};
          if (meta?.updateId === updateId) return outcome?.failure == null;
          if (event.workflowExecutionUpdateAcceptedEventAttributes?.protocolInstanceId === updateId) return true;
        }
        before = events.at(-1)?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId;
      }
      execution = before ? { workflowId, runId: before } : undefined;
    }
    return false;
  }

  /** Waits until histories show earlier requests, because the server holds events back during a workflow task. */
  async untilShown(workflowId: string): Promise<void> {
    const first = await this.taskAtWork(workflowId);
    for (let pause = 20, task = first; task !== undefined && task === first; pause = Math.min(2 * pause, 500)) {
      await delay(pause);
      task = await this.taskAtWork(workflowId);
    }
  }

  private async taskAtWork(workflowId: string): Promise<string | undefined> {
    const { pendingWorkflowTask: task } = await this.histories.describe(workflowId);
    return task?.state === startedTask ? `${String(task.startedTime?.seconds)}.${String(task.startedTime?.nanos)}` : undefined;
  }

  close(): void {
    this.work.close();
    this.followers.close();
  }

  private share(workflowId: string): SharedFollower {
    const { histories, deltas } = this;
    return this.followers.share(workflowId, async () => new RunFollower(histories, deltas, workflowId, await histories.chain(workflowId)));
  }
}

function checkReadOptions(options: ReadOptions): void {
  optionsOf<ReadOptions>(options, 'events', {
    from: worded(count, 'the offset of an event, a whole number of at least 0'),
    until: oneOf('end', 'waiting'),
  });
}
