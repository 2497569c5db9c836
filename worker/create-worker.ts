import { defined } from '../contract/defined';
import type { DataConverter } from '@temporalio/common';
import type { Worker } from '@temporalio/worker';
import { NativeConnection } from '@temporalio/worker';
import { createActivities } from '../activities/activities';
import { Culprits } from '../activities/health/culprits';
import type { ModelsOptions } from '../activities/models/models';
import { checkKeyedEnvironment } from '../activities/models/providers/keyed';
import type { RedisLink } from '../activities/limits/redis-turns';
import type { WorkerParts } from '../activities/parts';
import type { WorkerMiddleware } from '../activities/worker-middleware/worker-middleware';
import type { DeltaSink } from '../contract/deltas';
import { HoldfastError, codeOf, errorTable, messageOf } from '../contract/errors';
import type { Language, ModelFacts, ToolFacts } from '../contract/manifest';
import type { Observer } from '../contract/observed';
import { defaultTaskQueue, runIdOf } from '../contract/names';
import { shown } from '../contract/shown';
import { taskQueueProblem } from '../host/check-settings';
import type { TemporalSettings } from '../host/connection';
import { connectNative, connectTemporal } from '../host/connection';
import { createLogger } from '../host/logger';
import { withCompression } from '../host/payloads/compression';
import { checkSearchAttributes } from '../host/search-attributes';
import type { WorkflowBundle } from './bundle';
import { bundleOnce } from './bundle-memory';
import { BundleStore } from './bundle-store';
import { checkBundle } from './check-bundle';
import { checkWorkerOptions } from './check-options';
import { checkRetention } from './check-retention';
import { Deployment, identityOf } from './deployment';
import { Findings } from './findings';
import { callInterceptor } from './interceptors';
import { memoryLossOf } from './threads/memory-loss';
import { WatchedWorker } from './threads/watched-worker';
import { strayRejections } from './stray-rejections';
import { Succession } from './succession';
import { longestTool, openRedis, partsOf, partsReady } from './worker-parts';

export interface WorkerOptions {
  readonly server: TemporalSettings;
  /** Path of the agents module; every exported agent is served. */
  readonly agents: string;
  readonly tools: Readonly<Record<string, unknown>>;
  /** The schemas that agents name as their `output`. */
  readonly outputs?: Readonly<Record<string, unknown>>;
  readonly middleware?: readonly WorkerMiddleware[];
  /** Look on at the model and tool calls of this worker, inside of all worker middleware. */
  readonly observers?: readonly Observer[];
  readonly models?: ModelsOptions;
  readonly language?: Language;
  readonly taskQueue?: string;
  /** Where the code of builds is kept that still have open runs. */
  readonly bundles: string;
  readonly dataConverter?: DataConverter;
  /** Whether what this worker writes is compressed. Compressed data is always read. Default: no. */
  readonly compress?: boolean;
  readonly toolDefaults?: Partial<ToolFacts>;
  readonly modelFacts?: Partial<ModelFacts>;
  /** A Redis by which all workers of the task queue share the limits of models and tools. Without it each worker has its own. */
  readonly redisUrl?: string;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Where tokens go while a call runs. Default: to the readers of this process. */
  readonly deltas?: DeltaSink;
  /** How long a model's stream may be silent before the call is made again. Default 5 minutes. */
  readonly modelStallMs?: number;
  readonly maxCachedRuns?: number;
  /** How much of transcripts is kept in memory; what is missing is read from history. Default 64 MB. */
  readonly messageCacheBytes?: number;
  /** How long a shutdown waits for calls that run. At least the longest tool timeout. */
  readonly shutdownGraceMs?: number;
  /** Milliseconds between looks at which older builds still have open runs. */
  readonly buildCheckMs?: number;
  /** How long the current build may be served by nobody before the build of this process takes its place. Default 90 s: a poll takes up to 60. */
  readonly unservedMs?: number;
  readonly stickyTimeoutMs?: number;
  /** How long code of a run may go on without a pause before it counts as an endless loop. Default 5 s. */
  readonly endlessLoopMs?: number;
  /** Answers Temporal's query for stack traces of runs. A worker does a sixth less then. Default false. */
  readonly stackTraces?: boolean;
  /** Told once of what needs a person, such as open runs whose code is missing. Default: a line on stderr. */
  readonly onProblem?: (problem: HoldfastError) => void;
  /** A bundle made before, to spare tests the time. */
  readonly bundle?: WorkflowBundle;
}

/** A process's workers: the newest build, and one for each older build that still has open runs. */
export class HoldfastWorker {
  private readonly workers = new Map<string, { readonly worker: Worker; readonly done: Promise<void> }>();
  private readonly stopped: Promise<void>;
  private stop: () => void = () => undefined;
  private failed: (error: unknown) => void = () => undefined;
  private readonly findings: Findings;
  private forgetStray: () => void = () => undefined;
  private stopping = false;
  /** The look at builds that goes on, or the last one. */
  private checking: Promise<void> = Promise.resolve();
  private timer: NodeJS.Timeout | undefined;

  private constructor(
    readonly buildId: string,
    readonly parts: WorkerParts,
    private readonly start: (bundle: WorkflowBundle) => Promise<Worker>,
    private readonly store: BundleStore,
    private readonly deployment: Deployment,
    private readonly succession: Succession,
    private readonly close: () => Promise<void>,
    private readonly onProblem: (problem: HoldfastError) => void,
  ) {
    this.stopped = new Promise<void>((resolve, reject) => {
      this.stop = resolve;
      this.failed = reject;
    });
    this.stopped.catch(() => undefined);
    this.findings = new Findings((problem) => {
      if (!this.stopping) onProblem(problem);
    });
  }

  static async create(given: WorkerOptions): Promise<HoldfastWorker> {
    checkWorkerOptions(given);
    const { onProblem = logged } = given;
    const options = { ...given, onProblem, dataConverter: withCompression(given.dataConverter, given.compress) };
    const { server, taskQueue = defaultTaskQueue, buildCheckMs = 15_000, unservedMs = 90_000 } = options;
    checkKeyedEnvironment(options.environment ?? process.env);
    const problem = taskQueueProblem(taskQueue);
    if (problem !== undefined) throw new HoldfastError('config-invalid', `taskQueue is ${shown(taskQueue)}. ${problem}`);
    const store = new BundleStore(options.bundles);
    const bundle = options.bundle ?? (await bundleOnce(options.agents, options.bundles, store));
    const { connection, close: closeConnection } = await connectTemporal(server);
    let native: NativeConnection | undefined;
    let redis: RedisLink | undefined;
    let begun: HoldfastWorker | undefined;
    try {
      native = await connectNative(server, NativeConnection);
      await checkSearchAttributes(connection, server.namespace);
      if (!(await store.holds(bundle.buildId))) {
        await checkBundle(bundle);
        await store.save(bundle);
      }
      redis = await openRedis(options, `${server.namespace}/${taskQueue}`);
      const parts = partsOf(options, {
        redis,
        source: connection.facts(server.namespace),
        connection: () => connection,
        taskQueue: () => taskQueue,
        dataConverter: () => options.dataConverter,
        culprits: new Culprits(options.bundles, onProblem),
      });
      await partsReady(parts);
      const start = (build: WorkflowBundle): Promise<Worker> =>
        createTemporalWorker(build, options, parts, native as NativeConnection, taskQueue, identityOf(build.buildId === bundle.buildId));
      const deployment = new Deployment(connection, server.namespace, taskQueue);
      const closeAll = async (): Promise<void> => {
        redis?.close();
        await native?.close();
        await closeConnection();
      };
      const succession = new Succession(deployment, bundle.buildId, Math.max(unservedMs, 4 * buildCheckMs));
      const worker = new HoldfastWorker(bundle.buildId, parts, start, store, deployment, succession, closeAll, onProblem);
      begun = worker;
      const forgetRejections = strayRejections.report(worker.onProblem);
      const onExit = (code: number): void => worker.parts.culprits?.processEnds(code);
      process.on('exit', onExit);
      worker.forgetStray = () => {
        forgetRejections();
        process.off('exit', onExit);
      };
      await worker.open(bundle, buildCheckMs, () => checkRetention(connection, server.namespace));
      return worker;
    } catch (error) {
      // Nothing stays behind that polls, and what went wrong first is what is said.
      if (begun !== undefined) await begun.shutdown().catch(() => undefined);
      else await Promise.allSettled([native?.close(), closeConnection()]);
      redis?.close();
      throw error;
    }
  }

  /** Settles when the workers have stopped; rejects when one stopped unasked. */
  run(): Promise<void> {
    return this.stopped;
  }

  /** The builds that this process serves now. */
  get builds(): readonly string[] {
    return [...this.workers.keys()];
  }

  /** Drains: nothing new is taken, calls that run may end. */
  async shutdown(): Promise<void> {
    if (this.stopping) return this.stopped;
    this.stopping = true;
    clearTimeout(this.timer);
    const drain = (): void => {
      for (const { worker } of this.workers.values()) if (worker.getState() === 'RUNNING') worker.shutdown();
    };
    drain();
    await this.checking;
    drain();
    await Promise.allSettled([...this.workers.values()].map(({ done }) => done));
    this.forgetStray();
    await this.close();
    this.stop();
  }

  /** Looks whether new runs find a worker, and which older builds still have open runs, and serves exactly those. */
  checkBuilds(): Promise<void> {
    this.checking = this.checking.then(() => this.serveOpenBuilds());
    return this.checking;
  }

  /** Never fails: what cannot be looked at is told, and looked at again the next time. */
  private async serveOpenBuilds(): Promise<void> {
    const { findings, store, deployment } = this;
    await findings.during({
      name: 'succession',
      failed: 'Which build new runs go to could not be looked up',
      work: async () => {
        const unserved = await this.succession.look(() => !this.stopping);
        if (unserved !== undefined) this.onProblem(unserved);
      },
    });
    const kept = await findings.during({
      name: 'bundles',
      failed: 'The directory of bundles could not be read, so that no other older build is served',
      work: () => store.builds(),
    });
    const known = await findings.during({
      name: 'builds',
      failed: 'Which builds there are could not be looked up',
      work: async () => (await deployment.standing()).builds,
    });
    for (const buildId of new Set([...(kept ?? []), ...(known ?? []), ...this.workers.keys()])) {
      if (this.stopping || buildId === this.buildId) continue;
      await findings.during({
        name: `build ${buildId}`,
        failed: `Build ${buildId} could not be looked after, and runs of it may wait`,
        work: () => this.lookAfter(buildId),
      });
    }
  }

  /** Serves an older build for as long as it has open runs. Those whose code is not here wait: that must not go unseen. */
  private async lookAfter(buildId: string): Promise<void> {
    const open = await this.deployment.openRuns(buildId);
    const serving = this.workers.get(buildId);
    if (open > 0 && serving === undefined) await this.serve(await this.codeFor(buildId, open));
    if (open === 0 && serving !== undefined) {
      this.workers.delete(buildId);
      serving.worker.shutdown();
      await serving.done;
    }
  }

  private async open(bundle: WorkflowBundle, buildCheckMs: number, checkNamespace: () => Promise<void>): Promise<void> {
    await this.serve(bundle);
    await this.deployment.makeCurrent(bundle.buildId, () => !this.stopping);
    const again = (milliseconds: number): void => {
      if (this.stopping) return;
      this.timer = setTimeout(() => {
        void this.checkBuilds().then(() => again(buildCheckMs));
      }, milliseconds);
      this.timer.unref();
    };
    await this.findings.during({ name: 'namespace', failed: 'How long runs are kept could not be looked up', work: checkNamespace });
    await this.checkBuilds();
    // A server that was too busy to say which builds have open runs is asked again soon.
    again(this.findings.untold ? Math.min(1000, buildCheckMs) : buildCheckMs);
  }

  private async codeFor(buildId: string, open: number): Promise<WorkflowBundle> {
    try {
      return await this.store.load(buildId);
    } catch (error) {
      const waiting = open === 1 ? 'An open run was begun under it. It waits.' : `${open} open runs were begun under it. They wait.`;
      throw new HoldfastError(codeOf(error) ?? 'internal', `${messageOf(error)} ${waiting}`, { cause: error });
    }
  }

  private async serve(bundle: WorkflowBundle): Promise<void> {
    const worker = await this.start(bundle);
    const done = worker.run().then(
      () => {
        if (!this.stopping && this.workers.has(bundle.buildId))
          this.failed(new HoldfastError('internal', `The worker of build ${bundle.buildId} stopped unasked.`));
      },
      (error: unknown) => this.failed(failureOf(error, bundle.buildId)),
    );
    this.workers.set(bundle.buildId, { worker, done });
  }
}

/** For a program that has a worker in it and does not ask to be told. */
export function logged({ code, message }: HoldfastError): void {
  createLogger().error(message, { code, fix: errorTable[code].fix });
}

function failureOf(error: unknown, buildId: string): HoldfastError {
  const text = memoryLossText(error);
  if (text === undefined)
    return new HoldfastError('internal', `The worker of build ${buildId} failed: ${messageOf(error)}`, { cause: error });
  return new HoldfastError('out-of-memory', `The code of agents ran out of memory (build ${buildId}). ${text}`, { cause: error });
}

/** Which run used up the memory of workflow code, as a sentence; undefined when it is not that what failed. */
export function memoryLossText(error: unknown): string | undefined {
  const running = memoryLossOf(error)?.map(runIdOf);
  if (running === undefined) return undefined;
  const [likely, ...others] = running;
  if (likely === undefined) return 'No run was in a task.';
  return `The run ${likely} was in a task${others.length === 0 ? '' : `, or about to be: ${others.join(', ')}`}.`;
}

function createTemporalWorker(
  bundle: WorkflowBundle,
  options: WorkerOptions,
  parts: WorkerParts,
  connection: NativeConnection,
  taskQueue: string,
  identity: string,
): Promise<Worker> {
  return WatchedWorker.create({
    connection,
    namespace: options.server.namespace,
    taskQueue,
    identity,
    workflowBundle: { code: bundle.code },
    activities: createActivities(parts),
    interceptors: { activity: [callInterceptor] },
    workerDeploymentOptions: {
      version: { deploymentName: taskQueue, buildId: bundle.buildId },
      useWorkerVersioning: true,
      defaultVersioningBehavior: 'PINNED',
    },
    stickyQueueScheduleToStartTimeout: options.stickyTimeoutMs ?? 1000,
    // One thread runs all workflow code. After a crash every run is replayed: more at once and each takes longer than the
    // server waits for a task (10 s), which it then hands out again.
    maxConcurrentWorkflowTaskExecutions: 16,
    // A heartbeat is how a call hears that it is cancelled.
    maxHeartbeatThrottleInterval: 250,
    defaultHeartbeatThrottleInterval: 250,
    shutdownGraceTime: options.shutdownGraceMs ?? longestTool(parts),
    ...defined({
      isolateExecutionTimeout: options.endlessLoopMs,
      maxCachedWorkflows: options.maxCachedRuns,
      dataConverter: options.dataConverter,
      stackTraces: options.stackTraces,
    }),
  });
}
