import { ApplicationFailure } from '@temporalio/workflow';
import { wellFormed } from '../contract/errors';
import type { Answer } from '../contract/interrupts';
import { jsonSize } from '../contract/limits';
import type { Failure } from '../contract/messages/messages';
import type { ResumeReceipt } from '../contract/record/wire';
import type { AgentRun } from '../kernel/engine/run';
import type { AnswerTimes } from './answer-times';
import type { TaskRoom } from './task-room';
import type { Timeline } from './timeline';

interface Waiting {
  readonly answer: Answer;
  /** When the server took it. */
  readonly at: number;
  readonly taken: (sequence: number) => void;
  readonly refused: (error: unknown) => void;
}

/** What comes with an update stands in the task that accepts it, too; ten of them may come at once. */
const answersShare = 2;

/** Takes answers as they come. Those that one task cannot carry, such as all that came while no worker was there, are taken in the next ones. */
export class AnswerInbox {
  private readonly waiting: Waiting[] = [];

  constructor(
    private readonly run: Pick<AgentRun, 'answer' | 'isLate' | 'refusalOf'>,
    private readonly room: TaskRoom,
    private readonly timeline: Timeline,
    private readonly times: Pick<AnswerTimes, 'ask'>,
  ) {}

  /** One that nobody waits to be told of, by the number of its event. What was over before it came has its turn before. */
  signalled(answer: Answer, event: number): void {
    if (this.timeline.isBehind || this.run.isLate(answer.interruptId)) this.times.ask(answer, event, (at) => this.came(answer, at));
    else this.came(answer, this.timeline.now);
  }

  /** One of which the time is known. */
  came(answer: Answer, at: number): void {
    if (this.hasRoom(answer)) this.take(answer, at);
    else this.later({ answer, at, taken: () => undefined, refused: () => undefined });
  }

  /** Why an update cannot be accepted by this task, although the answer is wanted. The client sends it again. */
  busy(answer: Answer): Failure | undefined {
    if (this.room.accepts(jsonSize(answer))) return undefined;
    const message = `The run took other answers at this moment, and has no room for one of ${jsonSize(answer)} bytes beside them.`;
    return { code: 'run-busy', message };
  }

  /** One that fits as things are. Which of two counts that wait here is seen when they are taken. */
  updated(answer: Answer): ResumeReceipt | Promise<ResumeReceipt> {
    const at = this.timeline.now;
    this.room.take(jsonSize(answer));
    const isBehind = this.timeline.isBehind;
    if (!isBehind && this.hasRoom(answer)) return { sequence: this.take(answer, at) };
    return new Promise((resolve, refused) => {
      const waiting: Waiting = { answer, at, taken: (sequence) => resolve({ sequence }), refused };
      if (isBehind) this.timeline.at(at, () => (this.hasRoom(answer) ? this.settle(waiting) : this.later(waiting)));
      else this.later(waiting);
    });
  }

  private hasRoom(answer: Answer): boolean {
    return this.waiting.length === 0 && this.room.has(jsonSize(answer), answersShare);
  }

  private take(answer: Answer, at: number): number {
    this.room.take(jsonSize(answer));
    return this.run.answer(answer, at);
  }

  private later(waiting: Waiting): void {
    this.waiting.push(waiting);
    // What is over meanwhile came later.
    if (this.waiting.length === 1) this.timeline.holdFor(this.takeInNextTask());
  }

  private takeInNextTask(): Promise<void> {
    return this.room.nextTask().then(
      () => this.takeSome(),
      // The run is cancelled: nobody waits for them any more.
      (error: unknown) => this.waiting.splice(0).forEach(({ refused }) => refused(error)),
    );
  }

  private takeSome(): Promise<void> | undefined {
    for (let next = this.waiting[0]; next !== undefined; next = this.waiting[0]) {
      if (!this.room.has(jsonSize(next.answer), answersShare)) return this.takeInNextTask();
      this.waiting.shift();
      this.settle(next);
    }
    return undefined;
  }

  private settle({ answer, at, taken, refused }: Waiting): void {
    const refusal = this.run.refusalOf(answer, at);
    const sequence = this.take(answer, at);
    if (refusal === undefined) taken(sequence);
    else refused(refusedAnswer(refusal));
  }
}

export function refusedAnswer({ code, message }: { readonly code: string; readonly message: string }): ApplicationFailure {
  return ApplicationFailure.nonRetryable(wellFormed(message), code);
}
