import { arrayFromPayloads, defaultPayloadConverter } from '@temporalio/common';
import type { PayloadConverter } from '@temporalio/common';
import { condition, patched, workflowInfo } from '@temporalio/workflow';
import type { ActivateInput, WorkflowInterceptors, WorkflowInterceptorsFactory } from '@temporalio/workflow';
import { asksAgain } from '../contract/news';
import { names, patches } from '../contract/names';
import { Door } from './door';

type Job = NonNullable<ActivateInput['activation']['jobs']>[number];

/** A local activity that runs. */
interface RunningLocal {
  /** Something came from outside while it ran. */
  outlasts: boolean;
}

const running = new Set<RunningLocal>();
/** The time at which a local activity last began or ended. */
let lastTime = 0;

/** Hands what comes from outside to the code. */
const door = new Door();

export const activation = {
  /**
   * All code has run as far as it can. It has not while a local activity outlasts its task: in a replay its result comes together with what came from
   * outside meanwhile, so nothing may be done in between.
   */
  get settled(): boolean {
    return door.hasCodeRun && !isOutlasted();
  },
  /** The code has been given all that came with this activation. */
  get hasAll(): boolean {
    return door.isEmpty;
  },
  /** The code has also been given all that came with this activation. */
  get isOver(): boolean {
    return this.settled && door.isEmpty;
  },
  /** Which one it is of those that something brought from outside. Local activities come back in the task that began them, however often it is renewed. */
  fromOutside: 0,
  /** How many there were. */
  count: 0,
  /** This one is among them so far. */
  isFromOutside: false,
  /**
   * The last time that a replay has as well, while a local activity outlasts its task. What comes meanwhile has the time of its own task, and in a replay that of
   * the result.
   */
  restsAt: undefined as number | undefined,
  /** The numbers in the history of the answers that came as signals and whose handler has not been called, in their order. */
  answers: [] as number[],
  /** The same of requests to stop. */
  cancels: [] as number[],
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
      concludeActivation(input, next) {
        const { commands } = next(input);
        // Local activities are over in a moment and are waited for. Temporal's core fails the task when one is cancelled that has just ended.
        return { commands: commands.filter(({ requestCancelLocalActivity: cancel }) => cancel == null) };
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
  before.isHeld = length > before.length && task === before.task && jobs?.every(isResultOfLocal) !== true;
  Object.assign(before, { length, task });
  return before.isHeld;
}

function begin(input: ActivateInput): void {
  if ((input.activation.jobs ?? []).some(isFromOutside)) countFromOutside();
  activation.count += 1;
  dropUnreadableSignals(input);
  noteAnswers(input);
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

function isOutlasted(): boolean {
  return [...running].some(({ outlasts }) => outlasts);
}

function isResultOfLocal({ resolveActivity }: Job): boolean {
  return resolveActivity?.isLocal === true;
}

/** Results in the order of the history, then what people send, then results of local activities: the order in which a replay that has all of them at once gives them. */
function inOrder(jobs: readonly Job[]): readonly (readonly Job[])[] {
  const rank = (job: Job): number => (isResultOfLocal(job) ? 3 : job.doUpdate ? 2 : job.signalWorkflow ? 1 : 0);
  return [0, 1, 2, 3].flatMap((place) => jobs.filter((job) => rank(job) === place).map((job) => [job]));
}

/** Called by the handler of each update: one that is refused stands in no history, so it must not count. */
export function countFromOutside(): void {
  if (activation.isFromOutside) return;
  activation.isFromOutside = true;
  activation.fromOutside += 1;
  if (running.size === 0 || !patched(patches.restsForLocals)) return;
  for (const local of running) local.outlasts = true;
  if (activation.restsAt === undefined && patched(patches.clockRests)) activation.restsAt = lastTime;
}

/** Whether something that comes now finds a local activity at work. */
export function isBesideLocal(): boolean {
  return running.size > 0;
}

/** Called at once when it begins. */
export function watchLocal(result: Promise<unknown>): void {
  const local = { outlasts: false };
  running.add(local);
  lastTime = timeNow();
  const end = (): void => {
    running.delete(local);
    if (!isOutlasted()) activation.restsAt = undefined;
    lastTime = timeNow();
  };
  result.then(end, end);
}

/** The time, alike in each execution. */
export function timeNow(): number {
  return activation.restsAt ?? Date.now();
}

function isFromOutside({ resolveActivity, doUpdate, notifyHasPatch, queryWorkflow, updateRandomSeed, removeFromCache }: Job): boolean {
  if (resolveActivity) return resolveActivity.isLocal !== true;
  return !doUpdate && !notifyHasPatch && !queryWorkflow && !updateRandomSeed && !removeFromCache;
}

/**
 * A signal whose payload cannot be read would fail the task, and every one after it, for ever. It arrives without its payload instead,
 * and is then answered like any other signal that makes no sense.
 */
function dropUnreadableSignals({ activation: { jobs } }: ActivateInput): void {
  for (const { signalWorkflow: signal } of jobs ?? []) {
    if (!signal) continue;
    try {
      arrayFromPayloads(converter(), signal.input);
    } catch {
      signal.input = [];
    }
  }
}

/** A handler is not told which event its signal is, and only the event has the time. */
function noteAnswers({ activation: { jobs } }: ActivateInput): void {
  for (const { signalWorkflow: signal } of jobs ?? []) {
    if (signal?.signalName === names.resumeSignal) activation.answers.push(Number(signal.originatingEventId ?? 0));
    if (signal?.signalName === names.cancelSignal) activation.cancels.push(Number(signal.originatingEventId ?? 0));
  }
}

/**
 * Lets the run end as cancelled, also where the server was not asked to cancel it: the SDK makes a failure of that otherwise. Servers take
 * such an end from any run.
 */
export function endsAsCancelled(): void {
  const { __TEMPORAL_ACTIVATOR__: activator } = globalThis as { __TEMPORAL_ACTIVATOR__?: { cancelled: boolean } };
  if (activator !== undefined) activator.cancelled = true;
}

/** The converter that the SDK itself is about to use. */
function converter(): PayloadConverter {
  const { __TEMPORAL_ACTIVATOR__: activator } = globalThis as { __TEMPORAL_ACTIVATOR__?: { payloadConverter?: PayloadConverter } };
  return activator?.payloadConverter ?? defaultPayloadConverter;
}
