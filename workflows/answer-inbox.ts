import { ApplicationFailure, CancellationScope } from '@temporalio/workflow';
import { wellFormed } from '../contract/errors';
import { givenTime } from '../contract/given-time';
import type { Answer } from '../contract/interrupts';
import { jsonSize } from '../contract/limits';
import type { Failure } from '../contract/messages/messages';
import type { ResumeReceipt } from '../contract/record/wire';
import type { AgentRun } from '../kernel/engine/run';
import type { RunState } from '../kernel/run/state';
import { anew } from './interceptors';
import type { TaskRoom } from './task-room';
import type { Timeline } from './timeline';

/** The accepting task also carries the updates' content, and ten updates may arrive at once. */
const answersShare = 2;

/** Answers without room in this task, as after a time without a worker, wait for later tasks. */
export class AnswerInbox {
  private readonly open = new Set<Receipt>();

  constructor(
    private readonly run: Pick<AgentRun, 'answer' | 'refusalOf' | 'state'>,
    private readonly room: TaskRoom,
    private readonly timeline: Timeline,
    /** Whether code still has to get a taken answer. */
    private readonly isHandingOn: () => boolean,
  ) {}

  busy(answer: Answer): Failure | undefined {
    if (this.room.accepts(jsonSize(answer))) return undefined;
    const message = `The run took other answers at this moment, and has no room for one of ${jsonSize(answer)} bytes beside them.`;
    return { code: 'run-busy', message };
  }

  /** Refuses a misfit without an event. */
  updated(answer: Answer): ResumeReceipt | Promise<ResumeReceipt> {
    this.room.take(jsonSize(answer));
    const receipt = new Receipt(this.run.state, this.open);
    this.came(answer, receipt);
    return receipt.taken ?? receipt.promise;
  }

  /** Refuses the remaining updates, and settles when all senders have a reply. */
  async end(): Promise<void> {
    if (this.open.size === 0) return;
    for (const receipt of this.open) receipt.tell({ code: 'run-ended', message: 'The run has ended, and takes no answer any more.' });
    await CancellationScope.nonCancellable(() => anew(() => true));
  }

  /** The answer was given at the latest at the time of this task. A signal has no receipt. */
  came(sent: Answer, receipt?: Receipt): void {
    const at = givenTime(sent.at, Date.now());
    const take = (): void => this.take({ ...sent, at }, receipt);
    const bytes = jsonSize(sent);
    // An answer may void another question, so the next answer waits until the woken code has run.
    if (!this.timeline.isBehind && !this.isHandingOn() && this.room.has(bytes, answersShare)) take();
    else this.timeline.wait({ at, room: () => this.room.wait(bytes, answersShare), take });
  }

  private take(answer: Answer, receipt: Receipt | undefined): void {
    // The sender of an update gets the refusal, so the log needs no event.
    const refusal = receipt && this.run.refusalOf(answer);
    if (refusal !== undefined) return receipt?.tell(refusal);
    this.room.take(jsonSize(answer));
    this.run.answer(answer, receipt && ((refused) => receipt.tell(refused)));
  }
}

class Receipt {
  taken: ResumeReceipt | undefined;
  readonly promise: Promise<ResumeReceipt>;
  private resolve: (receipt: ResumeReceipt) => void = () => undefined;
  private reject: (error: unknown) => void = () => undefined;

  constructor(
    private readonly state: Pick<RunState, 'sequence'>,
    private readonly open: Set<Receipt>,
  ) {
    this.promise = new Promise((resolve, reject) => ([this.resolve, this.reject] = [resolve, reject]));
    this.promise.catch(() => undefined);
    open.add(this);
  }

  tell(refused?: Failure): void {
    this.open.delete(this);
    if (refused !== undefined) return this.reject(refusedAnswer(refused));
    this.taken = { sequence: this.state.sequence };
    this.resolve(this.taken);
  }
}

export function refusedAnswer({ code, message }: { readonly code: string; readonly message: string }): ApplicationFailure {
  return ApplicationFailure.nonRetryable(wellFormed(message), code);
}
