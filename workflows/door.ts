import type { ActivateInput } from '@temporalio/workflow';
import { actInLook, lookFirst, someConditionHolds } from './sdk-internals';

type Job = NonNullable<ActivateInput['activation']['jobs']>[number];

/**
 * Gives a run the parts of an activation one at a time: the next part when the code that the last part woke has run as far as it can. Temporal's core cuts
 * the same events into other activations in a replay, so code must not see which events came together.
 *
 * The SDK looks at its conditions again and again, and runs all microtasks between two looks, until no condition holds. The door is the first of these
 * conditions. It hands out the next part when microtasks have run since the last part, and no other condition holds.
 */
export class Door {
  private waiting: { readonly jobs: readonly Job[]; give(): void }[] = [];
  private hasMicrotasksRun = true;
  /** The code has run as far as it can with what it was given. */
  hasCodeRun = false;

  get isEmpty(): boolean {
    return this.waiting.length === 0;
  }

  /** Whether something of that kind has yet to be given. */
  holds(isMeant: (job: Job) => boolean): boolean {
    return this.waiting.some(({ jobs }) => jobs.some(isMeant));
  }

  /** Gives `give` the parts of an activation: one now, and each other one when the code rests. */
  pass(input: ActivateInput, parts: readonly (readonly Job[])[], give: (part: ActivateInput) => void): void {
    lookFirst(() => this.look());
    this.waiting = parts.map((jobs) => ({ jobs, give: () => give({ ...input, activation: { ...input.activation, jobs: [...jobs] } }) }));
    this.handOut();
  }

  private look(): void {
    if (this.isEmpty || !this.hasMicrotasksRun) return;
    if (someConditionHolds()) this.awaitMicrotasks();
    else actInLook(() => this.handOut());
  }

  private handOut(): void {
    this.hasCodeRun = false;
    this.awaitMicrotasks(() => (this.hasCodeRun = true));
    this.waiting.shift()?.give();
  }

  private awaitMicrotasks(then?: () => void): void {
    this.hasMicrotasksRun = false;
    void Promise.resolve().then(() => {
      this.hasMicrotasksRun = true;
      then?.();
    });
  }
}
