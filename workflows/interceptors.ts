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
  /** Has the commands of a run made whenever its code rests. */
  add(maker: CommandMaker): void {
    door.add(maker);
  },
  /** All code rests, and all commands are made. */
  get settled(): boolean {
    return door.isSettled;
  },
  /** The code also has everything of this activation. */
  get isOver(): boolean {
    return door.isSettled && door.isEmpty;
  },
  /** The code has all signals of people in this activation. */
  get hasSignals(): boolean {
    return !door.holds(isSignalOfPeople);
  },
  /** Counts the parts handed to the code. */
  count: 0,
};

/** Workflows of users stay as they are. */
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

/** Waits until the condition holds. A new condition is also checked at once, while code may be at work: that check does not count. */
export function anew(holds: () => boolean): Promise<void> {
  let isNew = true;
  return condition(() => {
    const wasNew = isNew;
    isNew = false;
    return !wasNew && holds();
  });
}

/**
 * News of isolated agents, results in the order of the history, then messages of people. An isolated agent sends its last news before its end, and
 * the client sends the signal of a cancel before the cancel.
 */
function inOrder(jobs: readonly Job[]): readonly (readonly Job[])[] {
  const rank = ({ doUpdate, signalWorkflow: signal, cancelWorkflow }: Job): number => {
    if (signal?.signalName === names.childSignal) return 0;
    return doUpdate ? 3 : (signal ?? cancelWorkflow) ? 2 : 1;
  };
  return [0, 1, 2, 3].flatMap((place) => jobs.filter((job) => rank(job) === place).map((job) => [job]));
}

/** An unreadable signal would fail its task for ever. The signal arrives without its payload instead, like any senseless signal. */
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
