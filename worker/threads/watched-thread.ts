import type { Worker as Thread } from 'node:worker_threads';
import { ApplicationFailure } from '@temporalio/common';
import type { Logger } from '@temporalio/common';
import type { CompiledWorkerOptions } from '@temporalio/worker/lib/worker-options';
import { WorkerThreadClient } from '@temporalio/worker/lib/workflow/threaded-vm';
import type { WorkerThreadInput } from '@temporalio/worker/lib/workflow/workflow-worker-thread/input';
import type { WorkerThreadOutput } from '@temporalio/worker/lib/workflow/workflow-worker-thread/output';
import { names } from '../../contract/names';
import { noteMemoryLoss } from './memory-loss';
import { takeThread } from './spare-thread';

type Init = Extract<WorkerThreadInput, { type: 'init' }>;

export interface ThreadParts {
  readonly bundle: Init['workflowBundle'];
  readonly activityNames: Set<string>;
  readonly logger: Logger;
  /** How long code of a run may go on without a pause, in processor time. */
  readonly limitMs: number;
  /** Whether the query for stack traces is answered, for which every promise is noted. */
  readonly stackTraces: boolean;
  readonly reuseV8Context: CompiledWorkerOptions['reuseV8Context'];
}

/** What the answer to an activation has beside the SDK's own (spare-thread.ts). */
interface Quiet {
  readonly isQuiet?: boolean;
}

interface Pending {
  readonly input: WorkerThreadInput;
  /** Since when it is the oldest, by the clock and by the processor time of this process: the thread takes one after another. */
  since: { readonly at: number; readonly cpu: number } | undefined;
}

/**
 * A thread in which workflow code runs. Node could end each call by a limit of time, and starts and joins a thread for each call to do so. Here the
 * main thread looks instead: when the oldest request has had no answer for the limit, the thread is ended, and all that it was asked for fails.
 */
export class WatchedThread extends WorkerThreadClient {
  private readonly pending: Pending[] = [];
  private readonly workflowIds = new Map<string, string>();
  /** Workflows that have logged nothing in their last activation. */
  private readonly quiet = new Set<string>();
  private readonly exited: Promise<void>;
  private readonly timer: NodeJS.Timeout;
  private culprit: Pending | undefined;

  private constructor(
    thread: Thread,
    private readonly parts: ThreadParts,
    /** Told of the workflow for which the thread was ended. */
    private readonly onLoop: (workflowId: string | undefined) => void,
  ) {
    super(thread, parts.logger);
    this.exited = new Promise((resolve) => thread.once('exit', () => resolve()));
    thread.on('error', (error) => noteMemoryLoss(error, () => this.runsInTask(), this.workflowIds));
    this.timer = setInterval(() => this.look(), parts.limitMs / looksPerLimit);
    this.timer.unref();
  }

  static async start(parts: ThreadParts, onLoop: (workflowId: string | undefined) => void): Promise<WatchedThread> {
    const thread = new WatchedThread(takeThread(parts.stackTraces), parts, onLoop);
    await thread.send({
      type: 'init',
      workflowBundle: parts.bundle,
      registeredActivityNames: parts.activityNames,
      reuseV8Context: parts.reuseV8Context ?? true,
      hasPatchActivationCallback: false,
      isolateExecutionTimeoutMs: undefined,
    } as unknown as Init);
    return thread;
  }

  get hasEnded(): boolean {
    return this.culprit !== undefined;
  }

  override async send(input: WorkerThreadInput): Promise<WorkerThreadOutput> {
    if (this.hasEnded) return answerOfEnded(input);
    const wasQuiet = 'runId' in input && this.quiet.delete(input.runId);
    if (wasQuiet && input.type === 'extract-sink-calls') return { type: 'sink-calls', calls: [] };
    const entry: Pending = { input, since: undefined };
    this.pending.push(entry);
    this.oldest();
    if (input.type === 'create-workflow') this.workflowIds.set(input.options.info.runId, input.options.info.workflowId);
    if (input.type === 'dispose-workflow') this.workflowIds.delete(input.runId);
    try {
      const output = await super.send(input);
      if (input.type === 'activate-workflow' && (output as Quiet | undefined)?.isQuiet === true) this.quiet.add(input.runId);
      return output;
    } catch (error) {
      if (!this.hasEnded) throw error;
      if (entry !== this.culprit) return answerOfEnded(input);
      throw new Error(`Script execution timed out after ${this.parts.limitMs}ms`, { cause: error });
    } finally {
      this.pending.splice(this.pending.indexOf(entry), 1);
    }
  }

  /** Waits until the thread is gone, however it ends. */
  override async destroy(): Promise<void> {
    try {
      if (!this.hasEnded) await super.destroy();
    } catch (error) {
      if (!this.hasEnded) throw error;
    } finally {
      clearInterval(this.timer);
    }
    await this.exited;
  }

  private oldest(): Pending | undefined {
    const [oldest] = this.pending;
    if (oldest !== undefined) oldest.since ??= { at: performance.now(), cpu: cpuMs() };
    return oldest;
  }

  private look(): void {
    const oldest = this.oldest();
    if (oldest === undefined || !this.isLate(oldest)) return;
    // Its answer may stand in line, where it was this thread that could not go on.
    setTimeout(() => {
      if (this.pending[0] === oldest && !this.hasEnded) this.endFor(oldest);
    }, momentMs);
  }

  /** Code without a pause takes processor time. A process that was stopped, or that got none from a busy machine, has not run it. */
  private isLate({ input, since }: Pending): boolean {
    const { limitMs } = this.parts;
    return since !== undefined && input.type !== 'init' && performance.now() - since.at > limitMs && cpuMs() - since.cpu > limitMs;
  }

  private endFor(culprit: Pending): void {
    this.culprit = culprit;
    const runId = runOf(culprit);
    this.onLoop(runId === undefined ? undefined : this.workflowIds.get(runId));
    void this.workerThread.terminate();
  }

  private runsInTask(): readonly string[] {
    return this.pending.flatMap((entry) => (/^(create|activate)-workflow$/.test(entry.input.type) ? (runOf(entry) ?? []) : []));
  }
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

const looksPerLimit = 5;
const momentMs = 10;

function runOf({ input }: Pending): string | undefined {
  if (input.type === 'create-workflow') return input.options.info.runId;
  return 'runId' in input ? input.runId : undefined;
}

/** What was in the thread is gone with it. A run that is asked for is made again by the next task, from its history. */
function answerOfEnded({ type }: WorkerThreadInput): WorkerThreadOutput {
  if (type === 'dispose-workflow' || type === 'destroy') return undefined;
  if (type === 'extract-sink-calls') return { type: 'sink-calls', calls: [] };
  throw ApplicationFailure.create({
    type: names.threadEnded,
    message: 'The thread of workflow code was ended, because the code of another run went on without a pause. This task is done again.',
  });
}

export function isThreadEnded(error: unknown): boolean {
  return error instanceof ApplicationFailure && error.type === names.threadEnded;
}
