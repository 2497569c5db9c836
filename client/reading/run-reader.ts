import { count, oneOf, worded } from '../../contract/check';
import { defined } from '../../contract/defined';
import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { ConnectionLike, WorkflowClient, WorkflowHandle } from '@temporalio/client';
import type { LoadedDataConverter } from '@temporalio/common';
import type { Delta, DeltaSource } from '../../contract/deltas';
import type { RunCall } from '../../contract/calls';
import type { RunExecutions } from '../../contract/run-executions';
import type { RetriedCall, RunEvent, RunFacts, RunView } from '../../contract/events';
import type { Interrupt } from '../../contract/interrupts';
import { HistoryFold } from '../../contract/record/fold';
import type { ParentRun } from '../../contract/record/wire';
import { factSource } from '../../host/history/history-connection';
import { FactReader } from '../../host/history/history-facts';
import { PayloadReader } from '../../host/history/payload-reader';
import type { GoingOn, GoOnOptions } from '../retry';
import { Retries } from '../retry';
import { newestPages, oldestPages } from '../../host/history/history-pages';
import { found, previousRun, readChain, readMark, taskAtWork } from './chain';
import type { ModelCallUsage } from './execution-usage';
import { ExecutionUsage } from './execution-usage';
import { Executions, openInterruptsIn } from './executions';
import type { ReadOptions } from './follower';
import { RunFollower } from './follower';
import { answered, withCode } from '../lost-server';
import { OpenWork } from '../open-work';
import { optionsOf } from '../options';
import type { CallOptions } from './read-call';
import { readCall, wantedMessages } from './read-call';
import { readExecutions } from './read-executions';
import { retriedCalls } from './retried-calls';
import type { SharedFollower } from './shared-followers';
import { SharedFollowers } from './shared-followers';
import { settleDoubt } from './doubtful-task';
import { StoredMessages, withStored } from './stored-messages';
import type { TimedAnswer } from './stored-answers';
import { StoredAnswers, withoutAnswered } from './stored-answers';

/** How a run stands, for whoever answers it. */
export interface AnswerStanding {
  /** With all interrupts that the code has not taken an answer to. */
  readonly view: RunView;
  /** Answers that wait in the history for a worker. */
  readonly stored: readonly TimedAnswer[];
  /** Interrupts that nobody answered in time, as far as the last Temporal run says. */
  readonly expired: ReadonlySet<string>;
  /** Interrupts that nobody need answer any more. */
  readonly withdrawn: ReadonlySet<string>;
  /** Somebody has asked that the run stops. */
  readonly cancelling: boolean;
  /** How answers had come that were taken before the run went on as new. */
  readonly delivered: readonly string[];
  /** Of an isolated agent. */
  readonly parent?: ParentRun;
}

interface Folded {
  readonly fold: HistoryFold;
  readonly stored: StoredAnswers;
  readonly messages: StoredMessages;
  readonly retrying: readonly RetriedCall[];
  readonly facts: RunFacts;
}

/** How many Temporal runs back an update is looked for that was sent moments ago. */
const executionsOfAnUpdate = 3;

/** Reads runs from their histories, without a worker. Readers of one run share one follower. */
export class RunReader {
  private readonly followers = new SharedFollowers();
  private readonly reader: FactReader;
  private readonly payloads: PayloadReader;
  readonly executions: Executions;
  readonly work = new OpenWork();
  /** What many readers share has the deadline of none of them. */
  private readonly withoutDeadline: <T>(run: () => T) => T = AsyncLocalStorage.snapshot();

  constructor(
    private readonly workflow: WorkflowClient,
    private readonly connection: ConnectionLike,
    private readonly namespace: string,
    private readonly converter: LoadedDataConverter,
    private readonly deltas: DeltaSource,
  ) {
    this.reader = new FactReader(converter);
    this.payloads = new PayloadReader(converter);
    this.executions = new Executions(connection, namespace, converter);
  }

  checkOpen(): void {
    this.work.checkOpen();
  }

  handle(workflowId: string): WorkflowHandle {
    this.checkOpen();
    return this.workflow.getHandle(workflowId);
  }

  withDeadline<T>(deadline: number, run: () => Promise<T>): Promise<T> {
    return this.connection.withDeadline(deadline, run);
  }

  async *events(workflowId: string, id: string, options: ReadOptions): AsyncGenerator<RunEvent | Delta> {
    checkReadOptions(options);
    for (let from: number | undefined = options.from ?? 0; from !== undefined;)
      from = yield* this.chainEvents(workflowId, id, { ...options, from });
  }

  /** The events of the Temporal runs that a run had gone through when reading began. Returns the offset to go on from if there are more now. */
  private async *chainEvents(
    workflowId: string,
    id: string,
    options: ReadOptions & { readonly from: number },
  ): AsyncGenerator<RunEvent | Delta, number | undefined> {
    this.checkOpen();
    const isFirst = !this.followers.has(workflowId);
    const shared = this.withoutDeadline(() => this.share(workflowId, id));
    try {
      const follower = await this.work.wait(() => shared.follower);
      // What somebody asks from may have been written since this follower looked.
      const isOld = !isFirst && (options.until === 'waiting' || options.from > follower.nextOffset);
      const mark = await this.work.wait(() => (isOld ? readMark(this.connection, this.namespace, workflowId, id) : shared.mark));
      const next = yield* follower.read(options, mark);
      if (next === undefined || !isOld) return undefined;
      // The next follower begins with a chain that has them.
      this.followers.forget(workflowId, shared);
      return next;
    } catch (error) {
      throw withCode(error);
    } finally {
      this.followers.leave(workflowId, shared);
    }
  }

  async view(workflowId: string, id: string): Promise<RunView> {
    const { view, stored } = await this.standing(workflowId, id);
    return withoutAnswered(view, stored);
  }

  /** The open interrupts that the memo shows: one request, however long the history is. A run that has ended shows none. */
  async shown(workflowId: string, id: string): Promise<readonly Interrupt[]> {
    this.checkOpen();
    const { status, memo } = await this.executions.describe(workflowId, id);
    return status.name === 'RUNNING' ? openInterruptsIn(memo).map(({ interrupt }) => interrupt) : [];
  }

  async standing(workflowId: string, id: string): Promise<AnswerStanding> {
    const { fold, stored, messages, retrying, facts } = await answered(this.work.wait(() => this.fold(workflowId, id)));
    const { parent, ends, cancel, delivered } = fold;
    const view = { ...fold.view(), ...facts, usageByModel: fold.used.byModel, ...(retrying.length === 0 ? {} : { retrying }) };
    return {
      view: withStored(view, await messages.read()),
      stored: await stored.read(),
      expired: ends.expired,
      withdrawn: ends.withdrawn,
      cancelling: cancel.isRequested,
      delivered,
      ...defined({ parent }),
    };
  }

  /** Folds the latest Temporal run only: its snapshot says what came before. */
  private async fold(workflowId: string, id: string): Promise<Folded> {
    this.checkOpen();
    const fold = new HistoryFold();
    const stored = new StoredAnswers(this.converter);
    const messages = new StoredMessages(this.converter);
    const source = factSource(this.connection, this.namespace);
    const {
      workflowExecutionInfo: info,
      pendingActivities,
      pendingWorkflowTask: task,
    } = await found(
      this.connection.workflowService.describeWorkflowExecution({ namespace: this.namespace, execution: { workflowId } }),
      id,
    );
    for (let runId: string | undefined = info?.execution?.runId ?? ''; runId !== undefined; runId = fold.nextRunId) {
      for await (const events of oldestPages(source, { workflowId, runId }, false)) {
        for (const event of events) for (const waiting of [stored, messages]) waiting.add(event);
        for (const fact of await this.reader.read(events, workflowId)) fold.add(fact);
      }
    }
    settleDoubt(fold, task);
    const facts = this.executions.factsOf(info ?? {});
    return { fold, stored, messages, retrying: retriedCalls(pendingActivities), facts };
  }

  /** What one call was asked, and what came back. */
  call(workflowId: string, id: string, address: string, options: CallOptions): Promise<RunCall> {
    this.checkOpen();
    const wanted = wantedMessages(options);
    const { connection, namespace, payloads, reader } = this;
    return answered(this.work.wait(() => readCall({ connection, namespace, payloads, reader }, { workflowId, id }, address, wanted)));
  }

  /** The executions that the run has gone through in Temporal. */
  executionsOf(workflowId: string, id: string): Promise<RunExecutions> {
    this.checkOpen();
    const { connection, namespace, payloads } = this;
    return answered(this.work.wait(() => readExecutions({ connection, namespace, payloads }, workflowId, id)));
  }

  /** The log in pieces, one for each Temporal run, the last one first. What the server keeps no more is not there. */
  async *eventsBack(workflowId: string, id: string): AsyncGenerator<readonly RunEvent[]> {
    this.checkOpen();
    const source = { connection: this.connection, namespace: this.namespace, payloads: this.payloads };
    const pages = factSource(this.connection, this.namespace);
    const { runId: last } = await this.work.wait(() => readMark(this.connection, this.namespace, workflowId, id));
    for (let runId = last; runId !== '';) {
      const fold = new HistoryFold();
      const events: RunEvent[] = [];
      for await (const page of oldestPages(pages, { workflowId, runId }, false))
        for (const fact of await this.reader.read(page, workflowId)) events.push(...fold.add(fact));
      yield events;
      const before = await previousRun(source, workflowId, runId);
      if (before === undefined || before.runId === '') return;
      // One that the server has deleted can be read no more.
      if ((await previousRun(source, workflowId, before.runId)) === undefined) return;
      runId = before.runId;
    }
  }

  /** Lets a run go on that has failed, or was cancelled. */
  async goOn(workflowId: string, id: string, how: GoingOn, options: GoOnOptions): Promise<void> {
    const { workflow, connection, namespace, payloads, executions } = this;
    await new Retries({ workflow, connection, namespace, payloads, executions }).goOn(workflowId, id, how, options);
  }

  /** Throws what that would be refused with. Nothing goes on. */
  async checkGoesOn(workflowId: string, id: string, how: GoingOn, options: GoOnOptions): Promise<void> {
    const { workflow, connection, namespace, payloads, executions } = this;
    await new Retries({ workflow, connection, namespace, payloads, executions }).prepare(workflowId, id, how, options);
  }

  /** The model calls in the history of one execution. */
  async modelCalls(workflowId: string, runId: string): Promise<readonly ModelCallUsage[]> {
    this.checkOpen();
    const usage = new ExecutionUsage();
    const source = factSource(this.connection, this.namespace);
    for await (const events of oldestPages(source, { workflowId, runId }, false))
      for (const fact of await this.reader.read(events, workflowId)) usage.add(fact);
    return usage.calls;
  }

  /** Whether the run took an update. It may have gone on as new since, again and again. */
  async took(workflowId: string, id: string, updateId: string): Promise<boolean> {
    return (await this.tookOfLate(workflowId, updateId)) || (await this.standing(workflowId, id)).delivered.includes(updateId);
  }

  private async tookOfLate(workflowId: string, updateId: string): Promise<boolean> {
    const source = { workflowService: this.connection.workflowService, namespace: this.namespace };
    let execution: { workflowId: string; runId?: string } | undefined = { workflowId };
    for (let executions = 0; execution !== undefined && executions < executionsOfAnUpdate; executions++) {
      let before: string | undefined;
      for await (const events of newestPages(source, execution)) {
        // Newest first: one that was accepted may have been refused in its turn.
        for (const event of events) {
          const { meta, outcome } = event.workflowExecutionUpdateCompletedEventAttributes ?? {};
          if (meta?.updateId === updateId) return outcome?.failure == null;
          if (event.workflowExecutionUpdateAcceptedEventAttributes?.protocolInstanceId === updateId) return true;
        }
        before = events.at(-1)?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId ?? undefined;
      }
      execution = before === undefined || before === '' ? undefined : { workflowId, runId: before };
    }
    return false;
  }

  /** Waits until histories show what was sent before: while a worker has a task of the run, the server keeps back what comes. */
  async untilShown(workflowId: string): Promise<void> {
    const first = await taskAtWork(this.connection, this.namespace, workflowId);
    for (let pause = 20, task = first; task !== undefined && task === first; pause = Math.min(2 * pause, 500)) {
      await delay(pause);
      task = await taskAtWork(this.connection, this.namespace, workflowId);
    }
  }

  close(): void {
    this.work.close();
    this.followers.close();
  }

  private share(workflowId: string, id: string): SharedFollower {
    const { connection, namespace, payloads, reader, deltas } = this;
    return this.followers.share(workflowId, () => ({
      chain: readChain({ connection, namespace, payloads }, workflowId, id),
      follow: (chain) => new RunFollower(connection, namespace, reader, deltas, workflowId, chain),
    }));
  }
}

function checkReadOptions(options: ReadOptions): void {
  optionsOf<ReadOptions>(options, 'events', {
    from: worded(count, 'the offset of an event, a whole number of at least 0'),
    until: oneOf('end', 'waiting'),
  });
}
