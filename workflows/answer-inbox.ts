import { ApplicationFailure, condition } from '@temporalio/workflow';
import { wellFormed } from '../contract/errors';
import type { Answer } from '../contract/interrupts';
import { jsonSize } from '../contract/limits';
import type { Failure } from '../contract/messages/messages';
import type { ResumeReceipt } from '../contract/record/wire';
import type { AgentRun } from '../kernel/engine/run';
import type { RunState } from '../kernel/run/state';
import type { AnswerTimes } from './answer-times';
import { activation } from './interceptors';
import type { TaskRoom } from './task-room';
import type { Timeline } from './timeline';

interface WaitingAnswer {
  readonly answer: Answer;
  /** When the server took it. */
  readonly at: number;
  /** What whoever gave it is told. Absent: it came as a signal. */
  readonly receipt?: Receipt;
}

/** What comes with an update stands in the task that accepts it, too; ten of them may come at once. */
const answersShare = 2;

/** Takes answers as they come, one after another. Those that one task cannot carry, such as all that came while no worker was there, are taken in the next ones. */
export class AnswerInbox {
  private readonly waiting: WaitingAnswer[] = [];
  /** Updates that were accepted and have not been answered. */
  private readonly open = new Set<Receipt>();

  constructor(
    private readonly run: Pick<AgentRun, 'answer' | 'isLate' | 'refusalOf' | 'state'>,
    private readonly room: TaskRoom,
    private readonly timeline: Timeline,
    private readonly times: Pick<AnswerTimes, 'ask'>,
    /** Whether code has yet to be given an answer that was taken. */
    private readonly isHandingOn: () => boolean,
  ) {}

  /** What an answer wakes may make another question void, so the next answer waits until that code has run. */
  private get isBehindAnother(): boolean {
    return this.isHandingOn() || this.timeline.isBusy;
  }

  /** One that nobody waits to be told of, by the number of its event. What was over before it came has its turn before. */
  signalled(answer: Answer, event: number): void {
    if (this.timeline.isBehind || this.run.isLate(answer.interruptId)) this.times.ask(answer, event, (at) => this.came(answer, at));
    else {
      const at = this.timeline.now;
      if (this.isBehindAnother) this.timeline.next(() => this.came(answer, at));
      else this.came(answer, at);
    }
  }

  /** One of which the time is known. */
  came(answer: Answer, at: number): void {
    if (this.hasRoom(answer)) this.take({ answer, at });
    else this.later({ answer, at });
  }

  /** Why an update cannot be accepted by this task, although the answer is wanted. The client sends it again. */
  busy(answer: Answer): Failure | undefined {
    if (this.room.accepts(jsonSize(answer))) return undefined;
    const message = `The run took other answers at this moment, and has no room for one of ${jsonSize(answer)} bytes beside them.`;
    return { code: 'run-busy', message };
  }

  /** Refuses what does not fit as things are, and the log says nothing of it. Which of two counts that wait here is seen when they are taken. */
  updated(answer: Answer): ResumeReceipt | Promise<ResumeReceipt> {
    const at = this.timeline.now;
    this.room.take(jsonSize(answer));
    const refusal = this.run.refusalOf(answer, at);
    if (refusal !== undefined) throw refusedAnswer(refusal);
    const receipt = new Receipt(this.run.state, this.open);
    const waiting: WaitingAnswer = { answer, at, receipt };
    const inTurn = (): void => (this.hasRoom(answer) ? this.take(waiting) : this.later(waiting));
    if (this.timeline.isBehind) this.timeline.at(at, inTurn);
    else if (this.isBehindAnother) this.timeline.next(inTurn);
    else inTurn();
    return receipt.taken ?? receipt.promise;
  }

  /** The run is about to end: what it has not taken by now it never will. Absent: nobody waits for its word. */
  end(): Promise<void> | undefined {
    if (this.open.size === 0) return undefined;
    for (const receipt of this.open) receipt.tell({ code: 'run-ended', message: 'The run has ended, and takes no answer any more.' });
    return ticks();
  }

  private hasRoom(answer: Answer): boolean {
    return this.waiting.length === 0 && this.room.has(jsonSize(answer), answersShare);
  }

  private take({ answer, at, receipt }: WaitingAnswer): void {
    // Whoever sent an update hears that it is refused, so the log says nothing of it.
    const refusal = receipt && this.run.refusalOf(answer, at);
    if (refusal !== undefined) return receipt?.tell(refusal);
    this.room.take(jsonSize(answer));
    this.run.answer(answer, at, receipt && ((refused) => receipt.tell(refused)));
  }

  private later(waiting: WaitingAnswer): void {
    this.waiting.push(waiting);
    // What is over meanwhile came later.
    if (this.waiting.length === 1) this.timeline.holdFor(this.takeInNextTask());
  }

  private takeInNextTask(): Promise<void> {
    return this.room.nextTask().then(
      () => this.takeSome(),
      // The run is cancelled: nobody waits for them any more.
      (error: unknown) => this.waiting.splice(0).forEach(({ receipt }) => receipt?.fail(error)),
    );
  }

  private takeSome(): Promise<void> | undefined {
    for (let next = this.waiting[0]; next !== undefined; next = this.waiting[0]) {
      if (!this.room.has(jsonSize(next.answer), answersShare)) return this.takeInNextTask();
      this.waiting.shift();
      this.take(next);
      if (this.waiting.length > 0 && this.isHandingOn()) return this.whenHandedOn().then(() => this.takeSome());
    }
    return undefined;
  }

  private whenHandedOn(): Promise<void> {
    return condition(() => activation.settled && !this.isHandingOn());
  }
}

/** The word that an update waits for. */
class Receipt {
  /** What it is answered with, once it was taken. */
  taken: ResumeReceipt | undefined;
  readonly promise: Promise<ResumeReceipt>;
  private resolve: (receipt: ResumeReceipt) => void = () => undefined;
  private reject: (error: unknown) => void = () => undefined;

  constructor(
    private readonly state: Pick<RunState, 'sequence'>,
    /** Those that have heard nothing. */
    private readonly open: Set<Receipt>,
  ) {
    this.promise = new Promise((resolve, reject) => ([this.resolve, this.reject] = [resolve, reject]));
    this.promise.catch(() => undefined);
    open.add(this);
  }

  tell(refused?: Failure): void {
    if (refused !== undefined) return this.fail(refusedAnswer(refused));
    this.open.delete(this);
    this.taken = { sequence: this.state.sequence };
    this.resolve(this.taken);
  }

  fail(error: unknown): void {
    this.open.delete(this);
    this.reject(error);
  }
}

/** As many as the answer to an update takes on its way. */
async function ticks(): Promise<void> {
  for (let tick = 0; tick < 50; tick++) await Promise.resolve();
}

export function refusedAnswer({ code, message }: { readonly code: string; readonly message: string }): ApplicationFailure {
  return ApplicationFailure.nonRetryable(wellFormed(message), code);
}
