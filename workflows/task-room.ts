import { workflowInfo } from '@temporalio/workflow';
import { HoldfastError } from '../contract/errors';
import { limits } from '../contract/limits';
import { activation } from './interceptors';

/** Of a command beside what it carries: names, timeouts, ids. */
const ofACommand = 512;

/** The most that a task can carry when the server adds what it may keep meanwhile. */
const ceiling = limits.activation + 128 * 1024;

/**
 * How much one task takes along: calls, results, answers, events and what is shown. The server writes it together with what came while the task was
 * at work, and ends a run whose task is too large. So what finds no room goes into the next task.
 */
export class TaskRoom {
  /** What is counted began with this. */
  private fromOutside = 0;
  private used = 0;
  /** What counted before, by which runs of that time have decided: with the length of history that it is of. */
  private historyLength = 0;
  private usedBefore = 0;
  private usedByEvents = 0;

  constructor(
    /** Goes on in the next task. */
    readonly nextTask: () => Promise<void>,
  ) {}

  /** Something has room always, however large it is. `share`: of so many parts of the room, one. */
  has(bytes: number, share = 1): boolean {
    this.begin();
    if (this.usedBefore > 0 && this.usedBefore + bytes > limits.activationBefore / share) return false;
    return this.hasNow(bytes, share);
  }

  /** Room for what did not ask for any before. */
  hasNow(bytes: number, share = 1): boolean {
    this.begin();
    return this.used === 0 || this.used + bytes + ofACommand <= limits.activation / share;
  }

  /** Whether this task can accept an update too, which the server writes with it. Only looks: validators do not run in a replay. */
  accepts(bytes: number): boolean {
    const used = activation.isFromOutside && this.fromOutside === activation.fromOutside ? this.used : 0;
    return used === 0 || used + bytes + ofACommand <= limits.activation;
  }

  take(bytes: number): void {
    this.begin();
    this.usedBefore += bytes;
    this.used += bytes + ofACommand;
  }

  /** Counts what did not count before. */
  takeBeside(bytes: number): void {
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
    return this.hasNow(bytes, share) ? undefined : this.nextTask().then(() => this.wait(bytes, share));
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
    const { fromOutside } = activation;
    if (this.fromOutside !== fromOutside) this.used = 0;
    this.fromOutside = fromOutside;
    const { historyLength } = workflowInfo();
    if (this.historyLength === historyLength) return;
    this.historyLength = historyLength;
    this.usedBefore = 0;
    this.usedByEvents = 0;
  }
}
