import { defaultPayloadConverter } from '@temporalio/common';
import type { PayloadConverter, VersioningBehavior } from '@temporalio/common';
import type { ActivateInput } from '@temporalio/workflow';

/*
 * All internals of Temporal's SDK that workflow code uses: five fields of the activator, and core's id for a query without a task.
 * test/unit/workflows/workflow-internals.test.ts fails if an SDK changes them.
 */

interface Condition {
  fn(): boolean;
  resolve(): void;
}

interface Activator {
  readonly blockedConditions: Map<number, Condition>;
  /** The SDK sets `false` at the end of a check, even of a nested check. */
  rethrowSynchronously: boolean;
  cancelled: boolean;
  versioningBehavior?: VersioningBehavior;
  readonly payloadConverter?: PayloadConverter;
}

function activator(): Activator {
  return (globalThis as unknown as { __TEMPORAL_ACTIVATOR__: Activator }).__TEMPORAL_ACTIVATOR__;
}

/** The SDK numbers its conditions from 1. */
const keyOfFirst = -1;
const keyOfAnotherLook = -2;

/** Before all conditions of a workflow, whose code makes its first condition after the first activation. */
export function lookFirst(look: () => void): void {
  const { blockedConditions } = activator();
  // The SDK removes a condition that held.
  if (!blockedConditions.has(keyOfFirst)) blockedConditions.set(keyOfFirst, { fn: () => (look(), false), resolve: () => undefined });
}

export function someConditionHolds(): boolean {
  return [...activator().blockedConditions].some(([key, { fn }]) => key !== keyOfFirst && fn());
}

/** Acts during a check, and has the SDK check all conditions again. */
export function actInLook(act: () => void): void {
  try {
    act();
  } finally {
    activator().rethrowSynchronously = true;
  }
  activator().blockedConditions.set(keyOfAnotherLook, { fn: () => true, resolve: () => undefined });
}

/** Without this flag and without a cancel by the server, the SDK would make a failure. Servers accept a cancelled end of any run. */
export function endsAsCancelled(): void {
  activator().cancelled = true;
}

/**
 * `AUTO_UPGRADE` lets the next newest build take the run over. Server 1.29 ignores the SDK's option of continue-as-new, but all servers
 * follow the behavior that tasks report.
 */
export function reportVersioning(behavior: VersioningBehavior): void {
  activator().versioningBehavior = behavior;
}

export function payloadConverter(): PayloadConverter {
  return activator().payloadConverter ?? defaultPayloadConverter;
}

/** Core gives a query without a task the id `legacy_query`; other queries have ids of the server. */
export function isTaskOfItsOwn(jobs: NonNullable<ActivateInput['activation']['jobs']>): boolean {
  return jobs.some(({ queryWorkflow }) => queryWorkflow?.queryId === 'legacy_query');
}
