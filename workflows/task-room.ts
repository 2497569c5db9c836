import { workflowInfo } from '@temporalio/workflow';
import { HoldfastError } from '../contract/plain/errors';
import { limits } from '../contract/plain/limits';

/** How much one task takes along: calls, results and answers. The server refuses a task that is too large for ever, so the rest goes into the next ones. */
export class TaskRoom {
  /** The task that is counted, by the length that history has in it. */
  private task = 0;
  private used = 0;
  private usedByEvents = 0;

  constructor(
    /** Goes on in the next task. */
    readonly nextTask: () => Promise<void>,
  ) {}

  /** Something has room always, however large it is. */
  has(bytes: number, most: number = limits.activation): boolean {
    this.begin();
    return this.used === 0 || this.used + bytes <= most;
  }

  take(bytes: number): void {
    this.begin();
    this.used += bytes;
  }

  /** Takes room in this task, or waits for one that has it. Absent: it is taken. */
  find(bytes: number): Promise<void> | undefined {
    if (!this.has(bytes)) return this.nextTask().then(() => this.find(bytes));
    this.take(bytes);
    return undefined;
  }

  /** Code that sends an event cannot wait: what is too much is refused. */
  takeForEvent(bytes: number): void {
    this.begin();
    this.usedByEvents += bytes;
    if (this.usedByEvents > limits.activation / 2)
      throw new HoldfastError('payload-too-large', `The events of one step have more than ${limits.activation / 2} bytes together.`);
  }

  private begin(): void {
    const { historyLength } = workflowInfo();
    if (this.task === historyLength) return;
    this.task = historyLength;
    this.used = 0;
    this.usedByEvents = 0;
  }
}
