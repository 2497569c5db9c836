import type { WorkflowDefinitionOptions } from '@temporalio/common';
import { ActivityFailure, ApplicationFailure, CancellationScope, condition, scheduleActivity, workflowInfo } from '@temporalio/workflow';
import { HoldfastError, isErrorCode, messageOf, wellFormed } from '../contract/errors';
import type { Failure } from '../contract/messages/messages';
import { names } from '../contract/names';
import { packedSnapshot, unpackedInput } from '../contract/record/snapshot-messages';
import type { AgentRunInput, Snapshot, TrialVerdict, UpgradeReceipt } from '../contract/record/wire';
import type { AnyAgent } from '../kernel/define/definition';
import type { RunState } from '../kernel/run/state';
import { Trial } from '../kernel/engine/trial';
import { activation } from './interceptors';
import { reportVersioning } from './sdk-internals';
import { TemporalPorts } from './temporal-ports';

type AgentsByName = ReadonlyMap<string, AnyAgent>;

export class UpgradeRequests {
  private asking: { resolve(receipt: UpgradeReceipt): void; reject(error: unknown): void }[] = [];

  get isAsked(): boolean {
    return this.asking.length > 0;
  }

  ask(): Promise<UpgradeReceipt> {
    return new Promise((resolve, reject) => this.asking.push({ resolve, reject }));
  }

  answer(verdict: TrialVerdict): void {
    const { asking } = this;
    this.asking = [];
    const { build, failure } = verdict;
    for (const { resolve, reject } of asking) {
      if (failure === undefined) resolve({ build, moved: moves(verdict) });
      else reject(ApplicationFailure.nonRetryable(wellFormed(failure.message), failure.code));
    }
  }
}

export function moves({ build, failure }: TrialVerdict): boolean {
  return failure === undefined && isVersioned() && build !== ownBuild();
}

/** Without Worker Versioning the deployment name is empty, and a task takes no versioning behavior. */
export function isVersioned(): boolean {
  return workflowInfo().currentDeploymentVersion?.deploymentName !== '';
}

/** For workflows without user code. */
export const inNewestBuild = (): WorkflowDefinitionOptions => (isVersioned() ? { versioningBehavior: 'AUTO_UPGRADE' } : {});

function ownBuild(): string {
  return workflowInfo().currentDeploymentVersion?.buildId ?? '';
}

export async function askNewestBuild(input: AgentRunInput): Promise<TrialVerdict> {
  try {
    return await scheduleActivity<TrialVerdict>(names.trialActivity, [input], {
      startToCloseTimeout: 40_000,
      scheduleToCloseTimeout: 60_000,
      retry: { maximumAttempts: 1 },
    });
  } catch (error) {
    const { cause } = error instanceof ActivityFailure ? error : { cause: error };
    const { type } = (cause ?? {}) as { type?: unknown };
    return { build: ownBuild(), failure: { code: isErrorCode(type) ? type : 'upgrade-failed', message: messageOf(cause ?? error) } };
  }
}

/** Has no effects. Undefined: the run can go on. */
async function tryHere(agents: AgentsByName, input: AgentRunInput, snapshot: Snapshot): Promise<Failure | undefined> {
  const state = snapshot.state as RunState;
  const facts = new TemporalPorts(input, state, { wantsContinueAsNew: () => false, asked: () => [], found: () => undefined });
  const trial = new Trial(agents, { state, lists: snapshot.lists }, facts, Date.now());
  for (;;) {
    await condition(() => activation.settled && (trial.goesOn || !trial.asks));
    if (!trial.goesOn) return trial.failure;
    trial.goOn();
  }
}

export function serveTrials(agents: AgentsByName): (input: AgentRunInput) => Promise<TrialVerdict> {
  return async (given) => {
    const input = unpackedInput(given);
    const { snapshot } = input;
    if (snapshot === undefined)
      throw ApplicationFailure.nonRetryable('There is nothing to try: the input has no snapshot.', 'input-invalid');
    const failure = await tryHere(agents, input, snapshot);
    const build = ownBuild();
    return failure === undefined ? { build } : { build, failure };
  };
}

/** A retried run with changed code fails again without effects. */
export async function tryRetried(agents: AgentsByName, input: AgentRunInput): Promise<void> {
  const { snapshot } = input;
  if (snapshot === undefined) return;
  const failure = await tryHere(agents, input, copyOf(snapshot));
  // The run itself meets other failures.
  if (failure?.code === 'frame-changed') throw new HoldfastError('frame-changed', failure.message);
}

/** The trial must not change the snapshot of the run. */
function copyOf(snapshot: Snapshot): Snapshot {
  return { ...snapshot, state: JSON.parse(JSON.stringify(snapshot.state)) as Snapshot['state'] };
}

/** Fails the workflow task, and not the run. */
export class CannotGoOnHere extends Error {}

/**
 * A moved run may reach a newer build than the build that tried it. That build tries the run first, and the run is pinned only after a
 * successful trial. A failed task leaves the run stuck but unharmed, and a later build that finds another build's verdict in the history
 * tries for itself.
 */
export async function tryUntried({ start, snapshot }: AgentRunInput): Promise<void> {
  if (snapshot?.movedTo === undefined || snapshot.movedTo === ownBuild()) return;
  const isPinnable = isVersioned();
  if (isPinnable) reportVersioning('AUTO_UPGRADE');
  const input: AgentRunInput = { start, snapshot: packedSnapshot(snapshot) };
  const ask = (): Promise<TrialVerdict> => scheduleActivity(names.trialActivity, [input], { startToCloseTimeout: 40_000 });
  let verdict: TrialVerdict;
  do {
    verdict = await CancellationScope.nonCancellable(ask);
  } while (verdict.build !== ownBuild());
  const { failure } = verdict;
  if (failure !== undefined) throw new CannotGoOnHere(`${failure.code}: ${failure.message}`);
  if (isPinnable) reportVersioning('PINNED');
}
