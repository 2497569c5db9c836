import { arrayFromPayloads } from '@temporalio/common';
import { condition, workflowInfo } from '@temporalio/workflow';
import type { ActivateInput, WorkflowInterceptors, WorkflowInterceptorsFactory } from '@temporalio/workflow';
import { names } from '../contract/names';
import type { CommandMaker } from './door';
import { Door } from './door';
import { countCommands, isHeld } from './events-without-task';
import { payloadConverter } from './sdk-internals';

type Job = NonNullable<ActivateInput['activation']['jobs']>[number];

const door = new Door();

export const activation = {
  /** Has commands made whenever the run's code rests. */
  add(maker: CommandMaker): void {
    door.add(maker);
  },
  get settled(): boolean {
    return door.isSettled;
  },
  /** Settled, and the code has all parts of this activation. */
  get isOver(): boolean {
    return door.isSettled && door.isEmpty;
  },
  get hasSignals(): boolean {
    return !door.holds(isSignalOfPeople);
  },
  count: 0,
};

/** Workflows of users stay unchanged. */
export const interceptors: WorkflowInterceptorsFactory = () =>
  [names.workflow, names.trialWorkflow].some((ours) => ours === workflowInfo().workflowType) ? ofRuns : {};

const ofRuns: WorkflowInterceptors = {
  inbound: [],
  outbound: [],
  internals: [
    {
      activate(input, next) {
        if (isHeld(input)) return;
        const jobs = input.activation.jobs ?? [];
        door.pass(
          input,
          jobs.some(({ initializeWorkflow, queryWorkflow }) => initializeWorkflow ?? queryWorkflow) || jobs.length === 0
            ? [jobs]
            : inOrder(jobs),
          (part) => {
            activation.count += 1;
            dropUnreadableSignals(part);
            next(part);
          },
        );
      },
      concludeActivation(input, next) {
        countCommands(input.commands);
        return next(input);
      },
    },
  ],
};

function isSignalOfPeople({ signalWorkflow: signal }: Job): boolean {
  return signal != null && signal.signalName !== names.childSignal;
}

/** The SDK checks a new condition at once, while code may be at work, so the first check is skipped. */
export function anew(holds: () => boolean): Promise<void> {
  let isNew = true;
  return condition(() => {
    const wasNew = isNew;
    isNew = false;
    return !wasNew && holds();
  });
}

/**
 * News of isolated agents, results in the order of the history, then messages of people. An isolated agent sends its last news before its
 * end, and the client sends the signal of a cancel before the cancel.
 */
function inOrder(jobs: readonly Job[]): readonly (readonly Job[])[] {
  const rank = ({ doUpdate, signalWorkflow: signal, cancelWorkflow }: Job): number => {
    if (signal?.signalName === names.childSignal) return 0;
    return doUpdate ? 3 : (signal ?? cancelWorkflow) ? 2 : 1;
  };
  return [0, 1, 2, 3].flatMap((place) => jobs.filter((job) => rank(job) === place).map((job) => [job]));
}

/** An unreadable signal would fail its task for ever, so the signal loses its payload, and is ignored as invalid. */
function dropUnreadableSignals({ activation: { jobs } }: ActivateInput): void {
  for (const { signalWorkflow: signal } of jobs ?? []) {
    if (!signal) continue;
    try {
      arrayFromPayloads(payloadConverter(), signal.input);
    } catch {
      signal.input = [];
    }
  }
}
