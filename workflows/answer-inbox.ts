import { ApplicationFailure } from '@temporalio/workflow';
import { wellFormed } from '../contract/plain/errors';
import type { Answer } from '../contract/plain/interrupts';
import { jsonSize } from '../contract/plain/limits';
import type { ResumeReceipt } from '../contract/plain/wire';
import type { AgentRun } from '../kernel/run';
import type { TaskRoom } from './task-room';

interface Waiting {
  readonly answer: Answer;
  readonly taken: (sequence: number) => void;
  readonly refused: (error: unknown) => void;
}

/** What comes with an update stands in the task that accepts it, too; ten of them may come at once. */
const answersShare = 2;

/** Takes answers as they come. Those that one task cannot carry, such as all that came while no worker was there, are taken in the next ones. */
export class AnswerInbox {
  private readonly waiting: Waiting[] = [];

  constructor(
    private readonly run: Pick<AgentRun, 'answer' | 'refusalOf'>,
    private readonly room: TaskRoom,
  ) {}

  /** One that nobody waits to be told of. */
  signalled(answer: Answer): void {
    if (this.hasRoom(answer)) this.take(answer);
    else this.later({ answer, taken: () => undefined, refused: () => undefined });
  }

  /** One that fits as things are. Which of two counts that wait here is seen when they are taken. */
  updated(answer: Answer): ResumeReceipt | Promise<ResumeReceipt> {
    this.room.take(jsonSize(answer));
    if (this.hasRoom(answer)) return { sequence: this.take(answer) };
    return new Promise((resolve, refused) => this.later({ answer, taken: (sequence) => resolve({ sequence }), refused }));
  }

  private hasRoom(answer: Answer): boolean {
    return this.waiting.length === 0 && this.room.has(jsonSize(answer), answersShare);
  }

  private take(answer: Answer): number {
    this.room.take(jsonSize(answer));
    return this.run.answer(answer);
  }

  private later(waiting: Waiting): void {
    this.waiting.push(waiting);
    if (this.waiting.length === 1) this.takeInNextTask();
  }

  private takeInNextTask(): void {
    void this.room.nextTask().then(
      () => this.takeSome(),
      // The run is cancelled: nobody waits for them any more.
      (error: unknown) => this.waiting.splice(0).forEach(({ refused }) => refused(error)),
    );
  }

  private takeSome(): void {
    for (let next = this.waiting[0]; next !== undefined; next = this.waiting[0]) {
      if (!this.room.has(jsonSize(next.answer), answersShare)) return this.takeInNextTask();
      this.waiting.shift();
      const refusal = this.run.refusalOf(next.answer);
      const sequence = this.take(next.answer);
      if (refusal === undefined) next.taken(sequence);
      else next.refused(refusedAnswer(refusal));
    }
  }
}

export function refusedAnswer({ code, message }: { readonly code: string; readonly message: string }): ApplicationFailure {
  return ApplicationFailure.nonRetryable(wellFormed(message), code);
}
