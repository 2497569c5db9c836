import type { ActivateInput } from '@temporalio/workflow';
import { actInLook, lookFirst, someConditionHolds } from './sdk-internals';

type Job = NonNullable<ActivateInput['activation']['jobs']>[number];

const isCancel = ({ cancelWorkflow }: Job): boolean => cancelWorkflow != null;

export interface CommandMaker {
  readonly hasCommands: boolean;
  makeCommands(): void;
}

/**
 * Gives a run the parts of an activation one at a time, because a replay cuts the same events into other activations:
 * docs/decisions/histories-and-replay.md.
 *
 * The door is the first condition that the SDK checks. When microtasks have run since the last check and no other condition holds, the code
 * rests: the door has the requested commands made, and then hands out the next part.
 */
export class Door {
  private waiting: { readonly jobs: readonly Job[]; give(): void }[] = [];
  private readonly makers: CommandMaker[] = [];
  private hasMicrotasksRun = true;
  private hasCodeRun = false;

  /** The code rests, and all its commands are made. */
  get isSettled(): boolean {
    return this.hasCodeRun && !this.hasCommands;
  }

  get isEmpty(): boolean {
    return this.waiting.length === 0;
  }

  holds(isMeant: (job: Job) => boolean): boolean {
    return this.waiting.some(({ jobs }) => jobs.some(isMeant));
  }

  add(maker: CommandMaker): void {
    this.makers.push(maker);
  }

  /** Gives one part now, and each other part when the code rests. */
  pass(input: ActivateInput, parts: readonly (readonly Job[])[], give: (part: ActivateInput) => void): void {
    lookFirst(() => this.look());
    this.waiting = parts.map((jobs) => ({ jobs, give: () => give({ ...input, activation: { ...input.activation, jobs: [...jobs] } }) }));
    this.handOut();
  }

  private look(): void {
    if (!this.hasMicrotasksRun) return;
    // Core would withdraw a call that a cancel ends in the call's own task, with the events in its input.
    const mayMake = this.hasCommands && !this.holds(isCancel);
    if (!mayMake && this.isEmpty) return;
    if (someConditionHolds()) this.awaitMicrotasks();
    else actInLook(() => (mayMake ? this.makeCommands() : this.handOut()));
  }

  private get hasCommands(): boolean {
    return this.makers.some(({ hasCommands }) => hasCommands);
  }

  /** A command may wake code at once, such as in a cancelled scope. */
  private makeCommands(): void {
    this.wake();
    for (const maker of this.makers) if (maker.hasCommands) maker.makeCommands();
  }

  private handOut(): void {
    this.wake();
    this.waiting.shift()?.give();
  }

  private wake(): void {
    this.hasCodeRun = false;
    this.awaitMicrotasks(() => (this.hasCodeRun = true));
  }

  private awaitMicrotasks(then?: () => void): void {
    this.hasMicrotasksRun = false;
    void Promise.resolve().then(() => {
      this.hasMicrotasksRun = true;
      then?.();
    });
  }
}
