import type { ActivateInput } from '@temporalio/workflow';

type Job = NonNullable<ActivateInput['activation']['jobs']>[number];

/** The part of the SDK's state that a door needs. It is private there. */
interface Activator {
  readonly blockedConditions: Map<number, { fn(): boolean; resolve(): void }>;
  /** The SDK ends its look at conditions with `false`, also a look in the middle of another one. */
  rethrowSynchronously: boolean;
}

/** The SDK counts its conditions from 1 on. */
const keyOfDoor = -1;
const keyOfAnotherLook = -2;

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
    this.stand();
    this.waiting = parts.map((jobs) => ({ jobs, give: () => give({ ...input, activation: { ...input.activation, jobs: [...jobs] } }) }));
    this.handOut();
  }

  /** Stands before all conditions: the code of a run makes its first one later than its first activation. */
  private stand(): void {
    const { blockedConditions } = activator();
    if (blockedConditions.has(keyOfDoor)) return;
    blockedConditions.set(keyOfDoor, { fn: () => this.look(), resolve: () => undefined });
  }

  /** Never holds itself, as the SDK takes away a condition that did. Another one in its place says that there was something to do. */
  private look(): false {
    if (this.isEmpty || !this.hasMicrotasksRun) return false;
    const { blockedConditions } = activator();
    if ([...blockedConditions].some(([key, { fn }]) => key !== keyOfDoor && fn())) {
      this.awaitMicrotasks();
      return false;
    }
    try {
      this.handOut();
    } finally {
      activator().rethrowSynchronously = true;
    }
    blockedConditions.set(keyOfAnotherLook, { fn: () => true, resolve: () => undefined });
    return false;
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

function activator(): Activator {
  return (globalThis as unknown as { __TEMPORAL_ACTIVATOR__: Activator }).__TEMPORAL_ACTIVATOR__;
}
