import { arrayFromPayloads } from '@temporalio/common';
import { condition, workflowInfo } from '@temporalio/workflow';
import type { ActivateInput, WorkflowInterceptors, WorkflowInterceptorsFactory } from '@temporalio/workflow';
import { asksAgain } from '../contract/news';
import { names } from '../contract/names';
import type { CommandMaker } from './door';
import { Door } from './door';
import { payloadConverter } from './sdk-internals';

type Job = NonNullable<ActivateInput['activation']['jobs']>[number];

/** Hands what comes from outside to the code. */
const door = new Door();

export const activation = {
  /** Has the commands of a run made whenever its code rests. */
  add(maker: CommandMaker): void {
    door.add(maker);
  },
  /** All code has run as far as it can, and all commands are made. */
  get settled(): boolean {
    return door.isSettled;
  },
  /** The code has been given all that came with this activation. */
  get hasAll(): boolean {
    return door.isEmpty;
  },
  /** The code has also been given all that came with this activation. */
  get isOver(): boolean {
    return door.isSettled && door.isEmpty;
  },
  /** The code has been given all signals of people that came with this activation. */
  get hasSignals(): boolean {
    return !door.holds(isSignalOfPeople);
  },
  /** Counts all that was handed to the code. */
  count: 0,
  /** Something of this activation came from outside so far. */
  isFromOutside: false,
};

/** Workflows of users beside ours stay as they are. */
export const interceptors: WorkflowInterceptorsFactory = () => (isOurs(workflowInfo().workflowType) ? ofRuns : {});

function isOurs(workflowType: string): boolean {
  return workflowType === names.workflow || workflowType === names.trialWorkflow;
}

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
            begin(part);
            next(part);
          },
        );
      },
    },
  ],
};

/** The activation before this one, and whether its code was not woken. */
const before = { length: Infinity, task: '', isHeld: false };

/**
 * A query that is a task of its own may bring events to a run before the task that they began has started. Code that went on with them would see them
 * apart from what comes with that task, and a replay has both at once, so that the run would be stuck. The code is not woken, and the query behind these
 * events fails: Temporal's core then lets go of the run, and its next task brings all events from the history. The start of a task sets the time and the
 * size of the history, so that events without a task have those of the task before.
 */
function isHeld({ activation: { jobs, timestamp, historyLength, historySizeBytes }, batchIndex }: ActivateInput): boolean {
  if (batchIndex > 0) return before.isHeld;
  if (before.isHeld) throw new Error(asksAgain);
  if (jobs?.some(({ queryWorkflow }) => queryWorkflow) === true) return false;
  const task = [timestamp?.seconds, timestamp?.nanos, historySizeBytes].map(String).join(' ');
  const length = historyLength ?? 0;
  before.isHeld = length > before.length && task === before.task;
  Object.assign(before, { length, task });
  return before.isHeld;
}

function begin(input: ActivateInput): void {
  activation.count += 1;
  dropUnreadableSignals(input);
}

function isSignalOfPeople({ signalWorkflow: signal }: Job): boolean {
  return signal != null && signal.signalName !== names.childSignal;
}

/** Waits until it holds. A condition is looked at when it is made, too, while code may still be at work: that does not count. */
export function anew(holds: () => boolean): Promise<void> {
  let isNew = true;
  return condition(() => {
    const wasNew = isNew;
    isNew = false;
    return !wasNew && holds();
  });
}

/**
 * News of isolated agents, results in the order of the history, and then what people send. An isolated agent sends its last news before its end, and the
 * client sends the signal of a cancel before the cancel.
 */
function inOrder(jobs: readonly Job[]): readonly (readonly Job[])[] {
  const rank = ({ doUpdate, signalWorkflow: signal, cancelWorkflow }: Job): number => {
    if (signal?.signalName === names.childSignal) return 0;
    return doUpdate ? 3 : (signal ?? cancelWorkflow) ? 2 : 1;
  };
  return [0, 1, 2, 3].flatMap((place) => jobs.filter((job) => rank(job) === place).map((job) => [job]));
}

/**
 * A signal whose payload cannot be read would fail the task, and every one after it, for ever. It arrives without its payload instead,
 * and is then answered like any other signal that makes no sense.
 */
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
