import {
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  allHandlersFinished,
  condition,
  defineQuery,
  defineSignal,
  defineUpdate,
  makeContinueAsNewFunc,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { HandlerUnfinishedPolicy } from '@temporalio/common';
import { codeOf, messageOf } from '../contract/errors';
import type { Answer } from '../contract/interrupts';
import { names, runIdOf } from '../contract/names';
import { isRunInput } from '../contract/record/is-run-input';
import { packedSnapshot, unpackedInput } from '../contract/record/snapshot-messages';
import type {
  AgentRunInput,
  AgentRunResult,
  ChildNews,
  ResumeReceipt,
  RetryPoint,
  Snapshot,
  StatusReply,
  TrialVerdict,
  UpgradeReceipt,
} from '../contract/record/wire';
import type { AnyAgent } from '../kernel/define/definition';
import { agentsOf } from '../kernel/define/agents-of-module';
import { fitting } from '../kernel/run/weight';
import { AgentRun } from '../kernel/engine/run';
import { resultOfRun } from '../kernel/engine/run-result';
import type { KeptAtFailure } from '../kernel/run/ports';
import type { Left } from '../kernel/run/run-end';
import { leftOf } from '../kernel/run/run-end';
import type { RunStanding } from '../kernel/run/standstill';
import { stalledError } from '../kernel/run/standstill';
import type { RunState } from '../kernel/run/state';
import { freshState, restoredState } from '../kernel/run/state';
import { answerIn } from './answer-in';
import { AnswerInbox, refusedAnswer } from './answer-inbox';
import { CancelInbox } from './cancel-inbox';
import { ContinueAsNewWish } from './continue-as-new';
import { activation, anew } from './interceptors';
import { listenToConversation } from './conversation-handlers';
import { listedAttributes, listedMemo } from './listed';
import { tellOfEnd, tellOfStart } from './news';
import { failureOfRun, isGoingOn } from './run-failure';
import { endsAsCancelled, reportVersioning } from './sdk-internals';
import { TemporalPorts } from './temporal-ports';
import { UpgradeRequests, askNewestBuild, moves, tryRetried, tryUntried } from './upgrade';
import { isCancellation } from '../kernel/effects/errors';

export const answerSignal = defineSignal<[Answer]>(names.answerSignal);
export const answerUpdate = defineUpdate<ResumeReceipt, [Answer]>(names.answerUpdate);
export const childSignal = defineSignal<[ChildNews]>(names.childSignal);
export const cancelSignal = defineSignal<[unknown]>(names.cancelSignal);
export const continueAsNewSignal = defineSignal(names.continueAsNewSignal);
export const upgradeUpdate = defineUpdate<UpgradeReceipt>(names.upgradeUpdate);
export const statusQuery = defineQuery<StatusReply>(names.statusQuery);

/**
 * Makes the workflow that runs the agents of a module. Bundles of Holdfast contain the workflow, so only bundles made by hand need the
 * function.
 * @example
 * import * as agents from './agents';
 *
 * export const agentRun = serveAgents(agents);
 */
export function serveAgents(module: object): (input: AgentRunInput) => Promise<AgentRunResult> {
  const agents = agentsOf(module);
  return async function agentRun(input) {
    if (!isRunInput(input))
      throw ApplicationFailure.nonRetryable('This workflow was not started as a run: its input is none.', 'input-invalid');
    return new RunWorkflow(agents, withId(unpackedInput(input))).execute();
  };
}

/** All runs of a schedule have one input, so the server's id of the workflow says which run this is. */
function withId({ start, ...rest }: AgentRunInput): AgentRunInput {
  return { ...rest, start: start.id === '' ? { ...start, id: runIdOf(workflowInfo().workflowId) } : start };
}

class RunWorkflow {
  private readonly ports: TemporalPorts;
  private readonly run: AgentRun;
  private readonly inbox: AnswerInbox;
  private readonly cancels: CancelInbox;
  private readonly upgrades = new UpgradeRequests();
  private readonly wish = new ContinueAsNewWish();
  private trying = false;
  private done = false;

  constructor(
    private readonly agents: ReadonlyMap<string, AnyAgent>,
    private readonly input: AgentRunInput,
  ) {
    const { start, snapshot } = input;
    const state = snapshot === undefined ? freshState(start) : restoredState(snapshot.state as RunState, snapshot.lists);
    this.ports = new TemporalPorts(input, state, {
      wantsContinueAsNew: () => this.upgrades.isAsked || this.wish.isSoon,
      asked: () => this.run.interrupts,
      move: () => void this.upgrades.ask().catch(() => undefined),
      found: (answer) => this.inbox.came(answerIn(answer)),
    });
    this.run = new AgentRun(agents, state, this.ports);
    this.inbox = new AnswerInbox(this.run, this.ports.room, this.ports.timeline, () => this.ports.hasDeferred);
    this.cancels = new CancelInbox(this.run, {
      isDone: () => this.done,
      waits: () => !this.trying && this.standing === 'waiting',
    });
    this.listen();
  }

  async execute(): Promise<AgentRunResult> {
    if (this.input.snapshot === undefined) tellOfStart(this.input.start);
    this.watchCancellation();
    const background = CancellationScope.nonCancellable(() =>
      Promise.race([
        this.watchStall(),
        this.watchContinueAsNew(),
        this.answerAfterHandlers(),
        this.ports.timeline.follow(() => !this.ports.hasDeferred),
      ]),
    );
    try {
      const end = await Promise.race([this.begin(), background]);
      await this.end();
      const { run, ports } = this;
      tellOfEnd(this.input.start, 'completed');
      return resultOfRun({ run, log: ports.log, start: this.input.start, end, news: () => ports.lastNews });
    } catch (error) {
      await this.end();
      const cancelled = isCancellation(error);
      // A run without progress goes on from its snapshot, so its questions stay.
      if (!this.trying && !isGoingOn(error)) this.run.endQuestions();
      if (cancelled && this.ports.onceCalls.size > 0) await this.onceCallsEnded();
      this.ports.log.flush();
      this.tellOfFailure(error);
      const { left } = this;
      if (cancelled) await this.ports.keep(this.pointBehind(error)).catch(() => undefined);
      if (left !== undefined && cancelled) await this.ports.tellParent(left);
      if (cancelled && this.run.cancels.isAsked) endsAsCancelled();
      if (left !== undefined) throw failureOfRun(error, [{ ...left, ...this.ports.lastNews, ...(await this.keptAtFailure(error)) }]);
      // A parent workflow of a user gets the failure itself.
      const point = cancelled || workflowInfo().parent !== undefined ? undefined : this.pointBehind(error);
      throw failureOfRun(error, point === undefined ? undefined : [null, point]);
    }
  }

  /** Answers updates that arrived together with the end. */
  private async end(): Promise<void> {
    this.done = true;
    this.ports.end();
    await CancellationScope.nonCancellable(() => anew(() => activation.isOver && !this.ports.hasDeferred));
    await this.inbox.end();
  }

  private tellOfFailure(error: unknown): void {
    if (isGoingOn(error)) return;
    const status = isCancellation(error) ? 'cancelled' : 'failed';
    tellOfEnd(this.input.start, status, { error, isTold: this.ports.news.isTold(error) });
  }

  private begin(): ReturnType<AgentRun['execute']> {
    const { movedTo, retried } = this.input.snapshot ?? {};
    if (movedTo === undefined && retried === undefined) return this.run.execute();
    this.trying = true;
    return (movedTo === undefined ? tryRetried(this.agents, this.input) : tryUntried(this.input)).then(() => {
      this.trying = false;
      return this.run.execute();
    });
  }

  /** The log needs the results of `once` calls that user code dropped. */
  private async onceCallsEnded(): Promise<void> {
    await CancellationScope.nonCancellable(() => condition(() => activation.settled && this.ports.onceCalls.size === 0));
  }

  private async keptAtFailure(error: unknown): Promise<{ readonly kept?: KeptAtFailure }> {
    if (isCancellation(error) || isGoingOn(error)) return {};
    const point = this.pointBehind(error);
    if ('refused' in point) return { kept: { refused: point.refused.message } };
    try {
      await this.ports.keep(point, true);
      return { kept: true };
    } catch {
      return {};
    }
  }

  /** A run whose code could not go on keeps its snapshot. */
  private pointBehind(error: unknown): RetryPoint {
    const { log } = this.ports;
    try {
      const { snapshot } = this.input;
      if (this.trying && snapshot !== undefined) return this.nextInput({ ...snapshot, events: [], nextOffset: log.nextOffset });
      return this.nextInput(log.snapshot(isCancellation(error) ? this.run.resumePoint() : this.run.retryPoint(error)));
    } catch (refused) {
      return { refused: { code: codeOf(refused) ?? 'retry-impossible', message: messageOf(refused) } };
    }
  }

  /** Handlers are set before the first await, wait only for room in a task, and throw only errors for the caller. */
  private listen(): void {
    setHandler(answerSignal, (answer) => {
      this.wish.signals += 1;
      this.inbox.came(answerIn(answer));
    });
    setHandler(
      answerUpdate,
      (answer) => {
        this.wish.updates += 1;
        return this.inbox.updated(answerIn(answer));
      },
      {
        // If validators reject all updates of a task, the server drops the task, so the validator rejects only for lack of room.
        validator: (answer) => {
          const refused = this.inbox.busy(answerIn(answer));
          if (refused !== undefined) throw refusedAnswer(refused);
        },
      },
    );
    listenToConversation({ run: this.run, room: this.ports.room, ports: this.ports, came: (how) => (this.wish[how] += 1) });
    setHandler(childSignal, (news) => {
      this.wish.signals += 1;
      this.ports.children.hear(news);
    });
    setHandler(cancelSignal, (given) => {
      this.wish.signals += 1;
      this.cancels.take(given);
    });
    setHandler(continueAsNewSignal, () => {
      this.wish.signals += 1;
      this.wish.isAsked = true;
    });
    setHandler(
      upgradeUpdate,
      () => {
        this.wish.updates += 1;
        return this.upgrades.ask();
      },
      { unfinishedPolicy: HandlerUnfinishedPolicy.ABANDON },
    );
    setHandler(statusQuery, () => {
      const { interrupts } = this.run;
      const status = interrupts.length > 0 ? 'waiting' : this.run.isIdle ? 'idle' : 'running';
      return { status, interrupts, nextOffset: this.ports.log.nextOffset };
    });
  }

  private get left(): Left | undefined {
    const { start } = this.input;
    return start.parent === undefined ? undefined : leftOf(this.run.state, start.session);
  }

  private watchCancellation(): void {
    CancellationScope.current().cancelRequested.catch((error: unknown) => {
      this.run.cancel(error);
      this.ports.release();
    });
  }

  /** A hook waits although no call, timer or question is open. */
  private async watchStall(): Promise<never> {
    await condition(() => activation.isOver && !this.done && !this.trying && this.standing === 'stalled' && !this.ports.isHeldBack);
    throw this.run.cancels.isHeard ? new CancelledFailure('The run was cancelled.') : stalledError(this.run.openCode);
  }

  /** Continues as new at a checkpoint of an iteration, or while the run waits only for people or time. */
  private async watchContinueAsNew(): Promise<never> {
    const { ports } = this;
    for (;;) {
      await condition(() => activation.isOver && !this.done && this.mayContinueAsNew && (this.upgrades.isAsked || allHandlersFinished()));
      const verdict = this.upgrades.isAsked ? await this.tryNewestBuild() : undefined;
      if (verdict === undefined || moves(verdict)) return this.goOnAsNew(verdict);
      this.run.goOn();
      ports.goOn();
    }
  }

  private goOnAsNew(verdict: TrialVerdict | undefined): Promise<never> {
    this.ports.holdBack();
    const next = this.ports.log.continueAsNew(this.run.snapshot(), (snapshot) =>
      this.nextInput(verdict === undefined ? snapshot : { ...snapshot, movedTo: verdict.build }),
    );
    if (verdict !== undefined) reportVersioning('AUTO_UPGRADE');
    return makeContinueAsNewFunc<(input: AgentRunInput) => Promise<AgentRunResult>>({
      memo: listedMemo(),
      typedSearchAttributes: listedAttributes(),
      ...(verdict === undefined ? {} : { initialVersioningBehavior: 'AUTO_UPGRADE' }),
    })(next);
  }

  /** The run rests while the newest build tries to go on. Meanwhile answers are kept. */
  private async tryNewestBuild(): Promise<TrialVerdict> {
    this.ports.holdBack();
    this.run.hold();
    let verdict: TrialVerdict;
    try {
      verdict = await askNewestBuild(this.nextInput(this.ports.log.snapshot(this.run.snapshot())));
    } catch (error) {
      if (codeOf(error) !== 'transcript-too-large') throw error;
      verdict = { build: '', failure: { code: 'transcript-too-large', message: messageOf(error) } };
    }
    do {
      this.upgrades.answer(verdict);
      await condition(() => activation.isOver && !this.ports.timeline.isBusy && (this.upgrades.isAsked || allHandlersFinished()));
    } while (this.upgrades.isAsked);
    return verdict;
  }

  private nextInput(snapshot: Snapshot): AgentRunInput {
    return fitting({ start: this.input.start, snapshot: packedSnapshot(snapshot) });
  }

  private get standing(): RunStanding {
    return this.ports.standing(this.run.waitingFor > 0);
  }

  private get mayContinueAsNew(): boolean {
    const { standing } = this;
    return !this.trying && (standing === 'parked' || (standing === 'waiting' && (this.upgrades.isAsked || this.wish.isUrgent)));
  }

  private async answerAfterHandlers(): Promise<never> {
    for (;;) {
      await condition(() => activation.settled && this.ports.hasDeferred);
      this.ports.runDeferred();
    }
  }
}
