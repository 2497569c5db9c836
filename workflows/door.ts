import type { ActivateInput } from '@temporalio/workflow';
import { actInLook, lookFirst, someConditionHolds } from './sdk-internals';

type Job = NonNullable<ActivateInput['activation']['jobs']>[number];

export interface CommandMaker {
  readonly hasCommands: boolean;
  makeCommands(): void;
}

/**
 * Gives a run the parts of an activation one at a time: the next part when the code that the last part woke has run as far as it can. Temporal's core cuts
 * the same events into other activations in a replay, so code must not see which events came together.
 *
 * The SDK looks at its conditions again and again, and runs all microtasks between two looks, until no condition holds. The door is the first of these
 * conditions. When microtasks have run since the last look, and no other condition holds, the code rests: the door has all commands made that the code
 * asked for, and hands out the next part when the code asks for no more.
 */
export class Door {
  private waiting: { readonly jobs: readonly Job[]; give(): void }[] = [];
  private readonly makers: CommandMaker[] = [];
  private hasMicrotasksRun = true;
  private hasCodeRun = false;

  /** All code rests, and all its commands are made. */
  get isSettled(): boolean {
    return this.hasCodeRun && !this.hasCommands;
  }

  get isEmpty(): boolean {
    return this.waiting.length === 0;
  }

  /** Whether a part of that kind is still waiting. */
  holds(isMeant: (job: Job) => boolean): boolean {
    return this.waiting.some(({ jobs }) => jobs.some(isMeant));
  }

  add(maker: CommandMaker): void {
    this.makers.push(maker);
  }

  /** Gives the parts of an activation: one now, and each other part when the code rests. */
  pass(input: ActivateInput, parts: readonly (readonly Job[])[], give: (part: ActivateInput) => void): void {
    lookFirst(() => this.look());
    this.waiting = parts.map((jobs) => ({ jobs, give: () => give({ ...input, activation: { ...input.activation, jobs: [...jobs] } }) }));
    this.handOut();
  }

  private look(): void {
    if (!this.hasMicrotasksRun) return;
    const { hasCommands } = this;
    if (!hasCommands && this.isEmpty) return;
    if (someConditionHolds()) this.awaitMicrotasks();
    else actInLook(() => (hasCommands ? this.makeCommands() : this.handOut()));
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
