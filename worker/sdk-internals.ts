import { url as debuggerAddress } from 'node:inspector';
import * as modules from 'node:module';
import { resolve } from 'node:path';
import { getHeapStatistics } from 'node:v8';
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
 * All internals of @temporalio/worker 1.24 and @temporalio/common that Holdfast uses. sdk-internals.test.ts checks the SDK against this
 * file. HOLDFAST_STOCK_SDK=1 turns the first two parts off.
 */

export { disallowedModules, moduleMatches } from '@temporalio/worker/lib/workflow/bundler';
export type { Workflow, WorkflowCreateOptions, WorkflowCreator };

/** Temporal's core logs this line when the core has lost a task. */
export const lostTaskLine = 'Extra buffered run should not have produced an activation';

/** Whether workflow code runs in the SDK's own threads. */
export function isStockSdk(): boolean {
  return process.env['HOLDFAST_STOCK_SDK'] === '1';
}

type Init = Extract<WorkerThreadInput, { type: 'init' }>;

export interface ThreadParts {
  readonly bundle: Init['workflowBundle'];
  readonly activityNames: Set<string>;
  readonly logger: Logger;
  /** Milliseconds of processor time for code of a run without a pause. */
  readonly limitMs: number;
  /** Answers the query for stack traces, for which every promise is noted. */
  readonly stackTraces: boolean;
  readonly reuseV8Context: CompiledWorkerOptions['reuseV8Context'];
  readonly cachedRuns: number;
}

export interface ThreadedWorkerOptions extends WorkerOptions {
  readonly stackTraces?: boolean;
}

/** For a debugger the code runs in the SDK's main thread. `seen` wraps the creator of workflows in both cases. */
export function workerOn(
  threads: (parts: ThreadParts) => Promise<WorkflowCreator>,
  seen: (creator: WorkflowCreator) => WorkflowCreator = (creator) => creator,
): { create(options: ThreadedWorkerOptions): Promise<Worker> } & Pick<typeof Worker, 'runReplayHistories'> {
  return class ThreadedWorker extends Worker {
    /** The SDK also loads the code in the main thread, which only debuggers need. */
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
      const { activities, debugMode, isolateExecutionTimeoutMs: limitMs, reuseV8Context, stackTraces = false } = options;
      if (debugMode || isStockSdk()) return seen(await super.createWorkflowCreator(bundle, options, logger));
      const activityNames = new Set(activities.keys());
      const parts = { bundle, activityNames, logger, limitMs, stackTraces, reuseV8Context };
      return seen(await threads({ ...parts, cachedRuns: options.maxCachedWorkflows }));
    }
  };
}

/** The SDK replays in the main thread by default. */
export const replayInThread: object = { debugMode: false };

const mapHead = '//# sourceMappingURL=data:';

function mapOf(code: string): ThreadParts['bundle']['sourceMap'] | undefined {
  const [, encoded] = code.slice(code.lastIndexOf(mapHead)).split('base64,');
  return encoded === undefined
    ? undefined
    : (JSON.parse(Buffer.from(encoded, 'base64').toString('utf8')) as Init['workflowBundle']['sourceMap']);
}

export interface SdkThread {
  readonly thread: Thread;
  readonly atWork: BigInt64Array;
  readonly hasSmallHeap: boolean;
}

/** V8 lets a heap with a limit below 2 GB grow to twice its content before a collection, and other heaps to four times. */
const smallHeapMb = 2047;
/** By the SDK's measure of 600 runs for each GB above 200 MB. */
const mostRunsInSmallHeap = 1000;

export function fitsSmallHeap(cachedRuns: number): boolean {
  return cachedRuns <= mostRunsInSmallHeap && getHeapStatistics().heap_size_limit > smallHeapMb * 1024 ** 2;
}

/** Removes the hook on every promise, unless stack traces are wanted, and notes each request that begins. */
const threadCode = `
const { parentPort, workerData } = require('node:worker_threads');
const { atWork, compiled, handlers, stackTraces, thread } = workerData;
if (compiled !== undefined) require('node:module').enableCompileCache(compiled);
parentPort.on('message', ({ requestId }) => Atomics.store(atWork, 0, requestId));
if (!stackTraces) require(handlers).globalHandlers.setPromiseHook = () => undefined;
require(thread);
`;

/** Node's cache for compiled code, from Node 22.8 on. */
const { getCompileCacheDir } = modules as { readonly getCompileCacheDir?: () => string | undefined };

export function newThread(stackTraces: boolean, hasSmallHeap = false): SdkThread {
  const atWork = new BigInt64Array(new SharedArrayBuffer(8)).fill(-1n);
  const workerData = {
    atWork,
    compiled: getCompileCacheDir?.(),
    handlers: require.resolve('@temporalio/worker/lib/workflow/vm-shared'),
    stackTraces,
    thread: require.resolve('@temporalio/worker/lib/workflow/workflow-worker-thread'),
  };
  // Without flags and NODE_OPTIONS, so without preloaded modules, except for Yarn's Plug'n'Play, which must find the SDK.
  const bare = process.versions['pnp'] === undefined ? { execArgv: [], env: { ...process.env, NODE_OPTIONS: '' } } : {};
  const heap = hasSmallHeap ? { resourceLimits: { maxOldGenerationSizeMb: smallHeapMb } } : {};
  return { thread: new Thread(threadCode, { ...bare, ...heap, eval: true, workerData }), atWork, hasSmallHeap };
}

interface AtWork {
  readonly id: bigint;
  /** By the clock, and by the processor time of this process. */
  readonly at: number;
  readonly cpu: number;
}

/**
 * Node's own time limit would start and join a thread for each call, so the main thread watches instead. A thread whose request exceeds the
 * limit is ended, and all its requests fail.
 */
export class WatchedThread extends WorkerThreadClient {
  /** Requests without a reply. Only the last begun request can be running code. */
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
    // The reply may wait in line, if the main thread itself was blocked.
    else if (this.isLate(this.seen)) setTimeout(() => this.pending.has(id) && !this.hasEnded && this.endFor(input), momentMs);
  }

  /** A process that was stopped or starved has not run the code, so processor time counts, too. */
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

  /** The running request first. */
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
const loopedText = 'Script execution timed out';

function runOf(input: WorkerThreadInput): string | undefined {
  if (input.type === 'create-workflow') return input.options.info.runId;
  return 'runId' in input ? input.runId : undefined;
}

/** The next task makes a lost run again from its history. */
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

export function hasLooped(error: unknown): boolean {
  return String(error).includes(loopedText);
}
