import { randomUUID } from 'node:crypto';
import type { WorkflowHandle } from '@temporalio/client';
import { WorkflowFailedError, WorkflowNotFoundError, WorkflowUpdateFailedError } from '@temporalio/client';
import type { Action } from '../../contract/access';
import type { RunCall } from '../../contract/calls';
import { isRecord } from '../../contract/check';
import { isPolicyApplied } from '../../contract/decisions';
import { defined } from '../../contract/defined';
import type { Delta } from '../../contract/deltas';
import { millisecondsOf } from '../../contract/duration';
import { HoldfastError, codeOf, messageOf, wellFormed } from '../../contract/errors';
import type { RunEvent, RunView } from '../../contract/events';
import { isEnded } from '../../contract/events';
import type { Answer, Interrupt } from '../../contract/interrupts';
import { interruptIdAt } from '../../contract/interrupts';
import type { Json } from '../../contract/messages/messages';
import { names, runIdOf } from '../../contract/names';
import { rootRunId } from '../../contract/record/child-runs';
import type { AgentRunResult, ResumeReceipt, UpgradeReceipt } from '../../contract/record/wire';
import type { RunExecutions } from '../../contract/run-executions';
import type { AnswerOptions } from './answers';
import { answerOf, checkAnswer, checkAnswerTo, checkSize, decidedBy, gone, interruptIn } from './answers';
import { AnyRun } from './any-run';
import { askToStop } from './ask-to-stop';
import { askedAgain, isPassing, isTimeout } from './asked-again';
import type { CancelOptions, CancelReceipt } from './cancel';
import { cancelOutcomeAfter, cancelRequestOf } from './cancel';
import type { Authority } from '../connection/authority';
import { withCode } from '../connection/lost-server';
import { optionsOf } from '../connection/options';
import type { ReadOptions } from '../reading/follower';
import type { Outcome } from '../reading/outcome';
import { endErrorOf, outcomeOf } from '../reading/outcome';
import type { CallOptions } from '../reading/read-call';
import type { AnswerStanding, RunReader } from '../reading/run-reader';
import type { TimedAnswer } from '../reading/stored-signals';
import { checkMoves, ended, notThere, refusedAnswer, refusedUpgrade, stillBusy, stuck } from '../connection/refusals';
import type { GoOnOptions } from './retry';

const updateTimeoutMs = 5000;

/**
 * A run by id. Reading needs no worker.
 * @example
 * const run = client.run('ticket-981');
 * for (const { id } of await run.interrupts()) await run.approve(id, { by: 'ada' });
 * for await (const event of run.events({ until: 'end' })) console.log(event.type);
 * console.log(await run.result());
 */
export class Run<Output = unknown> extends AnyRun {
  readonly id: string;

  private readonly reader: RunReader;

  constructor(
    private readonly through: { readonly reader: RunReader; readonly acting: Authority },
    private readonly workflowId: string,
    /** Whether `start` made this run instead of finding it. */
    readonly isNew: boolean,
    /** Options of `start` that the found run does not have, because the first start counts. */
    readonly ignored: readonly string[] = [],
  ) {
    super();
    this.reader = through.reader;
    this.id = runIdOf(workflowId);
  }

  /**
   * Yields the durable log from an offset, each event once and in order, over crashes and continue-as-new. Deltas of open calls come
   * between, without offset and provisional until the event that ends the call.
   */
  events(options: ReadOptions & { readonly deltas: false }): AsyncGenerator<RunEvent>;
  events(options?: ReadOptions): AsyncGenerator<RunEvent | Delta>;
  async *events(options: ReadOptions = {}): AsyncGenerator<RunEvent | Delta> {
    await this.permit('runs:read');
    yield* this.reader.events(this.workflowId, options);
  }

  /** Returns the request and the result of a model or tool call. `model-start` and `tool-start` have the address. */
  async call(address: string, options: CallOptions = {}): Promise<RunCall> {
    await this.permit('runs:read');
    return this.reader.call(this.workflowId, address, options);
  }

  async executions(): Promise<RunExecutions> {
    await this.permit('runs:read');
    return this.reader.executionsOf(this.workflowId);
  }

  async view(): Promise<RunView> {
    await this.permit('runs:read');
    return this.reader.view(this.workflowId);
  }

  protected stillView(): Promise<RunView> {
    return this.view();
  }

  /** Waits until the run ends, waits for a person (other calls may still run) or is stuck, or until the timeout. */
  async outcome(options: { timeout?: string } = {}): Promise<Outcome<Output>> {
    const { timeout } = optionsOf(options, 'outcome');
    const signal = timeout === undefined ? undefined : AbortSignal.timeout(millisecondsOf(timeout, 'request-invalid'));
    for (;;) {
      const events = this.events({ until: 'waiting', deltas: false, ...defined({ signal }) });
      while ((await events.next()).done !== true);
      const view = await this.view();
      // An answer may have arrived between both reads.
      if (view.status !== 'running' || signal?.aborted === true) return outcomeOf(view) as Outcome<Output>;
    }
  }

  /** Waits for the output. Throws the code of a failed, cancelled or missing run. */
  async result(): Promise<Output> {
    await this.permit('runs:read');
    try {
      const result = this.reader.work.wait(() => this.reader.handle(this.workflowId).result());
      const { output, pendingToolCalls: toolCalls } = (await result) as AgentRunResult;
      if (toolCalls !== undefined) throw endErrorOf(this.id, { status: 'tool-calls-pending', toolCalls, text: '' });
      return output as Output;
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) throw new HoldfastError('run-unknown', `There is no run "${this.id}".`, { cause: error });
      if (!(error instanceof WorkflowFailedError)) throw withCode(error);
      const endError = endErrorOf(this.id, outcomeOf(await this.view()), error);
      throw endError ?? new HoldfastError('run-failed', error.message, { cause: error });
    }
  }

  /** Continues a cancelled run where it stopped, under the same id and the newest build. `once` calls are not repeated. */
  resume(options?: GoOnOptions): Promise<void>;
  /** Answers an interrupt. */
  resume(interruptId: string, answer: Json, options?: AnswerOptions): Promise<void>;
  async resume(what: string | GoOnOptions = {}, answer?: Json, options: AnswerOptions = {}): Promise<void> {
    if (answer === undefined && isRecord(what)) return this.goOn('run-resume', what);
    const given = answerOf(what as string, answer as Json, options);
    const whole = { ...given, ...this.through.acting.author(given) };
    checkSize(answer as Json);
    const action = isPolicyApplied(answer) ? 'policies:apply' : 'runs:answer';
    await this.permit(action);
    await this.through.acting.decides({ action, run: this.id, ...decidedBy(whole) }, () => this.reader.work.wait(() => this.give(whole)));
  }

  private async give(answer: TimedAnswer): Promise<void> {
    if (rootRunId(this.id) === this.id) return this.deliver(answer, await this.checkShown(answer));
    const standing = await this.check(answer);
    if (!(await this.answerInRoot(answer, standing))) await this.deliver(answer, interruptIn(standing, answer.interruptId));
  }

  /**
   * Moves an open run to the newest build. If that build's code differs where the run stands, the run stays, and the error names the place
   * (`frame-changed`).
   */
  async upgrade(options: { timeout?: string } = {}): Promise<UpgradeReceipt> {
    const { timeout = '1m' } = optionsOf(options, 'upgrade');
    await this.permit('runs:control');
    return this.reader.work.wait(() => this.move(timeout));
  }

  private async move(timeout: string): Promise<UpgradeReceipt> {
    const handle = this.reader.handle(this.workflowId);
    const until = Date.now() + millisecondsOf(timeout, 'request-invalid');
    checkMoves(await this.reader.view(this.workflowId), this.id);
    try {
      const update = (): Promise<UpgradeReceipt> => handle.executeUpdate<UpgradeReceipt, []>(names.upgradeUpdate);
      return await askedAgain(
        () => this.reader.withDeadline(until, update),
        () => this.isOpen(),
        until,
      );
    } catch (error) {
      const view = await this.reader.view(this.workflowId);
      if (view.status === 'stuck') throw stuck(view, error);
      if (error instanceof WorkflowUpdateFailedError) throw refusedUpgrade(error, view.status, this.id);
      if (isTimeout(error)) throw stillBusy(error, this.id, timeout);
      throw await this.explained(error);
    }
  }

  /** Continues a failed run after the last good step, under the same id and the newest build. `once` calls are not repeated. */
  async retry(options: GoOnOptions = {}): Promise<void> {
    await this.goOn('run-retry', options);
  }

  private async goOn(how: 'run-retry' | 'run-resume', options: GoOnOptions): Promise<void> {
    await this.permit('runs:control');
    await this.reader.work.wait(() => this.reader.retries.goOn(this.workflowId, how, options, this.through.acting));
  }

  /** Ends a stuck run at once, without running code or cleaning up. */
  async terminate(reason = 'Ended by a person.'): Promise<void> {
    await this.permit('runs:control');
    const whole = wellFormed(this.through.acting.signed(reason));
    await this.reader.work.wait(() => this.end((handle) => handle.terminate(whole)));
  }

  /**
   * Asks the run to stop, now or at a safe point. Open calls get an abort signal. The run ends as cancelled, and `resume()` continues it.
   */
  async cancel(options: CancelOptions = {}): Promise<CancelReceipt> {
    const request = cancelRequestOf(options, this.through.acting);
    await this.permit('runs:control');
    const at = Date.now();
    const since = await this.reader.work.wait(() => this.end((handle) => askToStop(handle, request && { ...request, at })));
    await this.reader.work.wait(() => this.seenByAll());
    return { settled: () => cancelOutcomeAfter(since, this) };
  }

  /** Works with an unreadable history. The server ignores a cancel of an ended run. */
  private async end(act: (handle: WorkflowHandle) => Promise<unknown>): Promise<number> {
    const handle = this.reader.handle(this.workflowId);
    try {
      const { status, startTime } = await this.reader.executions.describe(this.workflowId);
      if (status.name !== 'RUNNING') throw ended(this.id, status.name.toLowerCase());
      await askedAgain(
        () => act(handle),
        () => this.isOpen(),
        Date.now() + updateTimeoutMs,
      );
      this.reader.executions.changed();
      return startTime.getTime();
    } catch (error) {
      throw await this.explained(error);
    }
  }

  /** Reads the history only for an interrupt that the memo lacks. */
  private async checkShown(answer: TimedAnswer): Promise<Interrupt | undefined> {
    const shown = await this.reader.shown(this.workflowId);
    const interrupt = shown.find(({ id }) => id === answer.interruptId);
    if (interrupt === undefined) return interruptIn(await this.check(answer), answer.interruptId);
    try {
      checkAnswerTo(interrupt, answer);
    } catch (error) {
      // The history may show a better reason: an expired deadline or an earlier answer.
      await this.check(answer);
      throw error;
    }
    return interrupt;
  }

  private async check(answer: TimedAnswer): Promise<AnswerStanding> {
    const standing = await this.reader.standing(this.workflowId);
    this.checkTakes(standing);
    const interrupt = interruptIn(standing, answer.interruptId);
    if (interrupt !== undefined) checkAnswer(interrupt, answer, standing.stored);
    return standing;
  }

  private checkTakes({ view: { status }, cancelling }: AnswerStanding): void {
    if (isEnded(status)) throw ended(this.id, status);
    if (cancelling) throw new HoldfastError('run-ended', `The run "${this.id}" was cancelled, and takes no answer any more.`);
  }

  /**
   * Sends an isolated agent's answer to the root run, because only one of two simultaneous answers may count. Returns whether the root run
   * took the answer.
   */
  private async answerInRoot(answer: TimedAnswer, { parent, view }: AnswerStanding): Promise<boolean> {
    const interrupt = interruptIn({ view }, answer.interruptId);
    if (parent === undefined || interrupt === undefined) return false;
    const root = new Run(this.through, rootRunId(this.workflowId), false);
    const there = { ...answer, interruptId: interruptIdAt(parent.path, interrupt) };
    try {
      await root.deliver(there, await root.checkShown(there));
    } catch (error) {
      if (notThere.has(codeOf(error) ?? '')) return false;
      throw error;
    }
    await this.hears(answer.interruptId, view.nextOffset).catch(() => undefined);
    return true;
  }

  private async hears(interruptId: string, from: number): Promise<void> {
    const signal = AbortSignal.timeout(updateTimeoutMs);
    for await (const event of this.reader.events(this.workflowId, { from, deltas: false, signal }))
      if (event.type === 'interrupt-end' && event.interruptId === interruptId) return;
  }

  /** Without a worker the answer waits as a signal, checked by the history alone. */
  private async deliver(answer: TimedAnswer, known: Interrupt | undefined): Promise<void> {
    const handle = this.reader.handle(this.workflowId);
    const updateId = randomUUID();
    const sent: Answer = { ...answer, delivery: updateId };
    const until = Date.now() + updateTimeoutMs;
    // The run may end or continue as new before the reply.
    let wasTaken = false;
    const mayTake = async (): Promise<boolean> => {
      wasTaken = await this.reader.took(this.workflowId, updateId);
      return !wasTaken && (await this.isOpen());
    };
    const update = (): Promise<unknown> => handle.executeUpdate<ResumeReceipt, [Answer]>(names.answerUpdate, { args: [sent], updateId });
    try {
      await askedAgain(() => this.reader.withDeadline(until, update), mayTake, until);
      this.reader.executions.changed();
    } catch (error) {
      if (wasTaken) return;
      if (error instanceof WorkflowUpdateFailedError && !isPassing(error)) throw refusedAnswer(error);
      const view = await this.reader.view(this.workflowId);
      if (view.status === 'stuck') throw stuck(view, error);
      // The run may have taken the answer after the timeout.
      if (await this.reader.took(this.workflowId, updateId)) return;
      if (!isTimeout(error) && !isPassing(error)) throw await this.explained(error);
      const standing = await this.reader.standing(this.workflowId);
      if (interruptIn(standing, answer.interruptId) === undefined) {
        // The run may have taken the answer between both reads.
        if (await this.reader.took(this.workflowId, updateId)) return;
        if (known === undefined || standing.cancelling) this.checkTakes(standing);
        throw gone(answer.interruptId, standing, known);
      }
      await this.check(answer);
      await this.leave(sent);
    }
  }

  /** The server also keeps the update: both have one delivery id, and the second is ignored. */
  private async leave(sent: Answer): Promise<void> {
    const handle = this.reader.handle(this.workflowId);
    await askedAgain(
      () => handle.signal(names.answerSignal, sent),
      () => this.isOpen(),
      Date.now() + updateTimeoutMs,
    ).catch(async (error: unknown) => {
      throw await this.explained(error);
    });
    await this.seenByAll();
  }

  /** For a service: throws if the caller may not do this with the run. */
  permit(action: Action): Promise<void> {
    return this.through.acting.check(action, this.workflowId);
  }

  private async isOpen(): Promise<boolean> {
    return (await this.reader.executions.describe(this.workflowId)).status.name === 'RUNNING';
  }

  /** Later readers see the effect. The server already has the request, so errors are ignored. */
  private seenByAll(): Promise<void> {
    this.reader.executions.changed();
    return this.reader.untilShown(this.workflowId).catch(() => undefined);
  }

  private async explained(error: unknown): Promise<unknown> {
    if (!(error instanceof WorkflowNotFoundError) && !/already completed/i.test(messageOf(error))) return error;
    return ended(this.id, (await this.reader.view(this.workflowId)).status, error);
  }
}
