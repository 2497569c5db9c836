import { workflowInfo } from '@temporalio/workflow';
import { HoldfastError } from '../contract/errors';
import { limits } from '../contract/limits';

/** Overhead of a command: names, timeouts, ids. */
const ofACommand = 512;

/** The most of a task, with what the server may add. */
const ceiling = limits.activation + 128 * 1024;

/**
 * How much one task carries: calls, results, answers, events and interrupts. The server writes a task together with everything that came meanwhile,
 * and ends a run whose task is too large. What finds no room goes into the next task.
 */
export class TaskRoom {
  /** The counted task, as a length of the history. */
  private historyLength = 0;
  private used = 0;
  private usedByEvents = 0;

  constructor(readonly nextTask: () => Promise<void>) {}

  /** The first command always has room, however large. `share`: the divisor of the allowed room. */
  has(bytes: number, share = 1): boolean {
    this.begin();
    return this.used === 0 || this.used + bytes + ofACommand <= limits.activation / share;
  }

  /** Whether this task can accept an update, which the server writes with the task. Only looks, because validators do not run in a replay. */
  accepts(bytes: number): boolean {
    const used = this.historyLength === workflowInfo().historyLength ? this.used : 0;
    return used === 0 || used + bytes + ofACommand <= limits.activation;
  }

  take(bytes: number): void {
    this.begin();
    this.used += bytes + ofACommand;
  }

  /** Takes room in this task, or waits for a task with room. Absent: taken. */
  find(bytes: number): Promise<void> | undefined {
    return this.takeForStep(bytes) ? undefined : this.nextTask().then(() => this.find(bytes));
  }

  takeForStep(bytes: number): boolean {
    if (!this.has(bytes)) return false;
    this.take(bytes);
    return true;
  }

  /** Waits for a task with room, and takes none. Absent: this task has room. */
  wait(bytes: number, share = 1): Promise<void> | undefined {
    return this.has(bytes, share) ? undefined : this.nextTask().then(() => this.wait(bytes, share));
  }

  /** Code that sends an event cannot wait, so too much is refused. */
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
