import { workflowInfo } from '@temporalio/workflow';
import { HoldfastError } from '../contract/errors';
import { limits } from '../contract/limits';

/** Overhead of a command in bytes: names, timeouts, ids. */
const ofACommand = 512;

/** With the server's additions. */
const ceiling = limits.activation + 128 * 1024;

/**
 * Counts the bytes of one task. The server writes a task together with all events that came meanwhile, and ends a run whose task is too
 * large, so further commands wait for the next task.
 */
export class TaskRoom {
  /** The counted task, as a length of the history. */
  private historyLength = 0;
  private used = 0;
  private usedByEvents = 0;

  constructor(readonly nextTask: () => Promise<void>) {}

  /** The first command always has room. `share`: the divisor of the room. */
  has(bytes: number, share = 1): boolean {
    this.begin();
    return this.used === 0 || this.used + bytes + ofACommand <= limits.activation / share;
  }

  /** Changes no count, because validators do not run in a replay. */
  accepts(bytes: number): boolean {
    const used = this.historyLength === workflowInfo().historyLength ? this.used : 0;
    return used === 0 || used + bytes + ofACommand <= limits.activation;
  }

  take(bytes: number): void {
    this.begin();
    this.used += bytes + ofACommand;
  }

  /** Undefined: room in this task is taken. */
  find(bytes: number): Promise<void> | undefined {
    return this.takeForStep(bytes) ? undefined : this.nextTask().then(() => this.find(bytes));
  }

  takeForStep(bytes: number): boolean {
    if (!this.has(bytes)) return false;
    this.take(bytes);
    return true;
  }

  /** Waits for room without taking it. Undefined: there is room. */
  wait(bytes: number, share = 1): Promise<void> | undefined {
    return this.has(bytes, share) ? undefined : this.nextTask().then(() => this.wait(bytes, share));
  }

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
