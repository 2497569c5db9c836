import { defaultPayloadConverter } from '@temporalio/common';
import type { PayloadConverter, VersioningBehavior } from '@temporalio/common';
import type { ActivateInput } from '@temporalio/workflow';

/*
 * All that the code of runs knows of the insides of Temporal's SDK: five fields of the object by which the SDK runs a workflow, and the id that Temporal's
 * core gives a query without a task. The SDK publishes neither. test/unit/workflow-internals.test.ts fails with the first SDK that has other fields.
 */

interface Condition {
  fn(): boolean;
  resolve(): void;
}

interface Activator {
  /** What the workflow waits for. The SDK looks at all of these conditions again and again, and runs all microtasks between two looks, until no condition holds. */
  readonly blockedConditions: Map<number, Condition>;
  /** The SDK ends its look at conditions with `false`, also a look in the middle of another one. */
  rethrowSynchronously: boolean;
  cancelled: boolean;
  versioningBehavior?: VersioningBehavior;
  readonly payloadConverter?: PayloadConverter;
}

function activator(): Activator {
  return (globalThis as unknown as { __TEMPORAL_ACTIVATOR__: Activator }).__TEMPORAL_ACTIVATOR__;
}

/** The SDK counts its conditions from 1 on. */
const keyOfFirst = -1;
const keyOfAnotherLook = -2;

/** Stands before all conditions of a workflow. The code makes its first condition later than its first activation. */
export function lookFirst(look: () => void): void {
  const { blockedConditions } = activator();
  // It never holds itself, as the SDK takes away a condition that did.
  if (!blockedConditions.has(keyOfFirst)) blockedConditions.set(keyOfFirst, { fn: () => (look(), false), resolve: () => undefined });
}

/** Whether a condition of the workflow holds now. */
export function someConditionHolds(): boolean {
  return [...activator().blockedConditions].some(([key, { fn }]) => key !== keyOfFirst && fn());
}

/** Does something in the middle of a look at the conditions, and has the SDK look at all of them again. */
export function actInLook(act: () => void): void {
  try {
    act();
  } finally {
    activator().rethrowSynchronously = true;
  }
  activator().blockedConditions.set(keyOfAnotherLook, { fn: () => true, resolve: () => undefined });
}

/** Lets the run end as cancelled, also where the server was not asked to cancel it: the SDK makes a failure of that otherwise. Servers take such an end from any run. */
export function endsAsCancelled(): void {
  activator().cancelled = true;
}

/**
 * What this task and the next ones report: `AUTO_UPGRADE` lets the next build that becomes the newest take the run over. The SDK has an option of
 * continue-as-new for this, which server 1.29 takes and does not heed; all heed the behavior that a task reports.
 */
export function reportVersioning(behavior: VersioningBehavior): void {
  activator().versioningBehavior = behavior;
}

/** The converter that the SDK itself is about to use. */
export function payloadConverter(): PayloadConverter {
  return activator().payloadConverter ?? defaultPayloadConverter;
}

/** Whether an activation is a query that is a task of its own. Queries that come with a task of the run have ids of the server. */
export function isTaskOfItsOwn(jobs: NonNullable<ActivateInput['activation']['jobs']>): boolean {
  return jobs.some(({ queryWorkflow }) => queryWorkflow?.queryId === 'legacy_query');
}
