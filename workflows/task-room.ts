import { workflowInfo } from '@temporalio/workflow';
import { HoldfastError } from '../contract/errors';
import { limits } from '../contract/limits';

/** Of a command beside what it carries: names, timeouts, ids. */
const ofACommand = 512;

/** The most that a task can carry when the server adds what it may keep meanwhile. */
const ceiling = limits.activation + 128 * 1024;

/**
 * How much one task takes along: calls, results, answers, events and what is shown. The server writes it together with what came while the task was
 * at work, and ends a run whose task is too large. So what finds no room goes into the next task.
 */
export class TaskRoom {
  /** The task that is counted, by the length that history has in it. */
  private historyLength = 0;
  private used = 0;
  private usedByEvents = 0;

  constructor(
    /** Goes on in the next task. */
    readonly nextTask: () => Promise<void>,
  ) {}

  /** Something has room always, however large it is. `share`: of so many parts of the room, one. */
  has(bytes: number, share = 1): boolean {
    this.begin();
    return this.used === 0 || this.used + bytes + ofACommand <= limits.activation / share;
  }

  /** Whether this task can accept an update too, which the server writes with it. Only looks: validators do not run in a replay. */
  accepts(bytes: number): boolean {
    const used = this.historyLength === workflowInfo().historyLength ? this.used : 0;
    return used === 0 || used + bytes + ofACommand <= limits.activation;
  }

  take(bytes: number): void {
    this.begin();
    this.used += bytes + ofACommand;
  }

  /** Takes room in this task, or waits for one that has it. Absent: it is taken. */
  find(bytes: number): Promise<void> | undefined {
    return this.takeForStep(bytes) ? undefined : this.nextTask().then(() => this.find(bytes));
  }

  /** Takes room in this task, if it has any. */
  takeForStep(bytes: number): boolean {
    if (!this.has(bytes)) return false;
    this.take(bytes);
    return true;
  }

  /** Waits for a task that has room, and takes none. Absent: this one has. */
  wait(bytes: number, share = 1): Promise<void> | undefined {
    return this.has(bytes, share) ? undefined : this.nextTask().then(() => this.wait(bytes, share));
  }

  /** Code that sends an event cannot wait: what is too much is refused. */
  takeForEvent(bytes: number): void {
    this.begin();
    this.usedByEvents += bytes;
    if (this.usedByEvents > limits.stepEvents)
      throw new HoldfastError('payload-too-large', `The events of one step have more than ${limits.stepEvents} bytes together.`);
    if (this.used > 0 && this.used + bytes > ceiling)
      throw new HoldfastError(
        'payload-too-large',
        `The events of one step and the calls and results beside them have more than ${ceiling} bytes together.`,
      );
    this.used += bytes;
  }

  private begin(): void {
    const { historyLength } = workflowInfo();
    if (this.historyLength === historyLength) return;
    this.historyLength = historyLength;
    this.used = 0;
    this.usedByEvents = 0;
  }
}
