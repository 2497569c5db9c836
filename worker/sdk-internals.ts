import { url as debuggerAddress } from 'node:inspector';
import * as modules from 'node:module';
import { resolve } from 'node:path';
import { Worker as Thread } from 'node:worker_threads';
import { ApplicationFailure } from '@temporalio/common';
import type { Logger } from '@temporalio/common';
import { Worker } from '@temporalio/worker';
import type { WorkerOptions } from '@temporalio/worker';
import type { CompiledWorkerOptions } from '@temporalio/worker/lib/worker-options';
import type { Workflow, WorkflowCreateOptions, WorkflowCreator } from '@temporalio/worker/lib/workflow/interface';
import { VMWorkflowThreadProxy, WorkerThreadClient } from '@temporalio/worker/lib/workflow/threaded-vm';
import type { WorkerThreadInput } from '@temporalio/worker/lib/workflow/workflow-worker-thread/input';
import type { WorkerThreadOutput } from '@temporalio/worker/lib/workflow/workflow-worker-thread/output';
import { names } from '../contract/names';
import { noteMemoryLoss } from './threads/memory-loss';

/*
 * All that Holdfast knows of the insides of @temporalio/worker 1.24 and @temporalio/common. None of this is their API. sdk-internals.test.ts asks of the
 * SDK what stands here. HOLDFAST_STOCK_SDK=1 does without the first two parts, as a way out.
 */

export { disallowedModules, moduleMatches } from '@temporalio/worker/lib/workflow/bundler';
export type { Workflow, WorkflowCreateOptions, WorkflowCreator };

/** Whether workflow code runs as the SDK has it by itself. */
export function isStockSdk(): boolean {
  return process.env['HOLDFAST_STOCK_SDK'] === '1';
}

// A worker whose workflow code runs in other threads than the SDK's

type Init = Extract<WorkerThreadInput, { type: 'init' }>;

/** What threads of workflow code are made with. */
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

export interface ThreadedWorkerOptions extends WorkerOptions {
  /** Answers the query for stack traces, at a sixth of what a worker can do. Default: false. */
  readonly stackTraces?: boolean;
}

/**
 * The SDK's worker, and its replayer, with workflow code in threads of ours. A debugger needs the code in the main thread, where the SDK has it then.
 * `seen` gets what runs the code in either case.
 */
export function workerOn(
  threads: (parts: ThreadParts) => Promise<WorkflowCreator>,
  seen: (creator: WorkflowCreator) => WorkflowCreator = (creator) => creator,
): { create(options: ThreadedWorkerOptions): Promise<Worker> } & Pick<typeof Worker, 'runReplayHistories'> {
  return class ThreadedWorker extends Worker {
    /** The SDK also runs the code in the main thread, for debuggers. Who has none waits for that in vain. */
    protected static override async getOrCreateBundle(
      options: CompiledWorkerOptions,
      logger: Logger,
    ): Promise<ThreadParts['bundle'] | undefined> {
      const { workflowBundle, debugMode } = options;
      const code = workflowBundle !== undefined && 'code' in workflowBundle ? workflowBundle.code : undefined;
      const map = code === undefined ? undefined : mapOf(code);
      if (code === undefined || map === undefined || debugMode || isStockSdk() || debuggerAddress() !== undefined)
        return super.getOrCreateBundle(options, logger);
      return { code, sourceMap: map, filename: resolve(map.file) };
    }

    protected static override async createWorkflowCreator(
      bundle: ThreadParts['bundle'],
      options: CompiledWorkerOptions & Pick<ThreadedWorkerOptions, 'stackTraces'>,
      logger: Logger,
    ): Promise<WorkflowCreator> {
      const { activities, debugMode, isolateExecutionTimeoutMs, reuseV8Context, stackTraces = false } = options;
      if (debugMode || isStockSdk()) return seen(await super.createWorkflowCreator(bundle, options, logger));
      const activityNames = new Set(activities.keys());
      return seen(await threads({ bundle, activityNames, logger, limitMs: isolateExecutionTimeoutMs, stackTraces, reuseV8Context }));
    }
  };
}

/** For a replay, which the SDK plays in the main thread otherwise. Its types do not have the option. */
export const replayInThread: object = { debugMode: false };

const mapHead = '//# sourceMappingURL=data:';

/** The map that ends the code of a bundle. */
function mapOf(code: string): ThreadParts['bundle']['sourceMap'] | undefined {
  const [, encoded] = code.slice(code.lastIndexOf(mapHead)).split('base64,');
  return encoded === undefined
    ? undefined
    : (JSON.parse(Buffer.from(encoded, 'base64').toString('utf8')) as Init['workflowBundle']['sourceMap']);
}

// A thread of workflow code

/** The SDK's thread, and the number of the request that it was given last. */
export interface SdkThread {
  readonly thread: Thread;
  readonly atWork: BigInt64Array;
}

/** What runs in the thread before the SDK's own code: no hook on every promise unless that is wanted, and a note of each request that begins. */
const threadCode = `
const { parentPort, workerData } = require('node:worker_threads');
const { atWork, compiled, handlers, stackTraces, thread } = workerData;
if (compiled !== undefined) require('node:module').enableCompileCache(compiled);
parentPort.on('message', ({ requestId }) => Atomics.store(atWork, 0, requestId));
if (!stackTraces) require(handlers).globalHandlers.setPromiseHook = () => undefined;
require(thread);
`;

/** Where Node keeps compiled code of this process, if it does. From Node 22.8 on. */
const { getCompileCacheDir } = modules as { readonly getCompileCacheDir?: () => string | undefined };

export function newThread(stackTraces: boolean): SdkThread {
  const atWork = new BigInt64Array(new SharedArrayBuffer(8)).fill(-1n);
  const workerData = {
    atWork,
    compiled: getCompileCacheDir?.(),
    handlers: require.resolve('@temporalio/worker/lib/workflow/vm-shared'),
    stackTraces,
    thread: require.resolve('@temporalio/worker/lib/workflow/workflow-worker-thread'),
  };
  // Without flags and NODE_OPTIONS, thus without preloaded modules; Yarn's Plug'n'Play is one that finds the SDK.
  const bare = process.versions['pnp'] === undefined ? { execArgv: [], env: { ...process.env, NODE_OPTIONS: '' } } : {};
  return { thread: new Thread(threadCode, { ...bare, eval: true, workerData }), atWork };
}

/** A request that has been at work for some time. */
interface AtWork {
  readonly id: bigint;
  /** Since when, by the clock and by the processor time of this process. */
  readonly at: number;
  readonly cpu: number;
}

/**
 * A thread in which workflow code runs. Node could end each call by a limit of time, and starts and joins a thread for each call to do so. Here the
 * main thread looks instead: when one request has been at work for the limit, the thread is ended, and all that it was asked for fails.
 */
export class WatchedThread extends WorkerThreadClient {
  /** By their numbers, which the SDK gives in the same way: requests that have no answer. Code of a run goes on only while its request is the last one. */
  private readonly pending = new Map<bigint, WorkerThreadInput>();
  private nextId = 0n;
  private readonly workflowIds = new Map<string, string>();
  private readonly exited: Promise<void>;
  private readonly timer: NodeJS.Timeout;
  private seen: AtWork | undefined;
  private culprit: WorkerThreadInput | undefined;

  private constructor(
    private readonly made: SdkThread,
    private readonly parts: Pick<ThreadParts, 'limitMs' | 'logger'>,
    /** Told of the workflow for which the thread was ended. */
    private readonly onLoop: (workflowId: string | undefined) => void,
  ) {
    const { thread } = made;
    super(thread, parts.logger);
    this.exited = new Promise((done) => thread.once('exit', () => done()));
    thread.on('error', (error) => noteMemoryLoss(error, () => this.runsInTask(), this.workflowIds));
    this.timer = setInterval(() => this.look(), parts.limitMs / looksPerLimit);
    this.timer.unref();
  }

  static async start(made: SdkThread, parts: ThreadParts, onLoop: (workflowId: string | undefined) => void): Promise<WatchedThread> {
    const thread = new WatchedThread(made, parts, onLoop);
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

  createWorkflow(options: WorkflowCreateOptions): Promise<Workflow> {
    return VMWorkflowThreadProxy.create(this, options);
  }

  override async send(input: WorkerThreadInput): Promise<WorkerThreadOutput> {
    if (this.hasEnded) return answerOfEnded(input);
    const id = this.nextId++;
    this.pending.set(id, input);
    if (input.type === 'create-workflow') this.workflowIds.set(input.options.info.runId, input.options.info.workflowId);
    if (input.type === 'dispose-workflow') this.workflowIds.delete(input.runId);
    try {
      return await super.send(input);
    } catch (error) {
      if (!this.hasEnded) throw error;
      if (input !== this.culprit) return answerOfEnded(input);
      throw new Error(`${loopedText} after ${this.parts.limitMs}ms`, { cause: error });
    } finally {
      this.pending.delete(id);
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

  private get idAtWork(): bigint {
    return Atomics.load(this.made.atWork, 0);
  }

  private look(): void {
    const id = this.idAtWork;
    const input = this.pending.get(id);
    if (input === undefined || input.type === 'init') this.seen = undefined;
    else if (this.seen?.id !== id) this.seen = { id, at: performance.now(), cpu: cpuMs() };
    // Its answer may stand in line, where it was this thread that could not go on.
    else if (this.isLate(this.seen)) setTimeout(() => this.pending.has(id) && !this.hasEnded && this.endFor(input), momentMs);
  }

  /** Code without a pause takes processor time. A process that was stopped, or that got none from a busy machine, has not run it. */
  private isLate({ at, cpu }: AtWork): boolean {
    const { limitMs } = this.parts;
    return performance.now() - at > limitMs && cpuMs() - cpu > limitMs;
  }

  private endFor(culprit: WorkerThreadInput): void {
    this.culprit = culprit;
    const runId = runOf(culprit);
    this.onLoop(runId === undefined ? undefined : this.workflowIds.get(runId));
    void this.workerThread.terminate();
  }

  /** The one at work first. */
  private runsInTask(): readonly string[] {
    const atWork = this.pending.get(this.idAtWork);
    const all = [...(atWork === undefined ? [] : [atWork]), ...this.pending.values()];
    return all.flatMap((input) => (/^(create|activate)-workflow$/.test(input.type) ? (runOf(input) ?? []) : []));
  }
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

const looksPerLimit = 10;
const momentMs = 10;
/** As the SDK says it of its own limit. */
const loopedText = 'Script execution timed out';

function runOf(input: WorkerThreadInput): string | undefined {
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

/** Whether a task failed because its code went on without a pause, in a thread of ours or of the SDK. */
export function hasLooped(error: unknown): boolean {
  return String(error).includes(loopedText);
}
