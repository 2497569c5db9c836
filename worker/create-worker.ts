import { defined } from '../contract/defined';
import type { DataConverter } from '@temporalio/common';
import type { Worker } from '@temporalio/worker';
import { NativeConnection } from '@temporalio/worker';
import { LoopWatch } from '../activities/health/loop-watch';
import { checkKeyedEnvironment } from '../activities/models/providers/keyed';
import type { RedisLink } from '../activities/limits/redis-turns';
import type { WorkerParts } from '../activities/parts';
import { HoldfastError, errorTable } from '../contract/errors';
import { defaultTaskQueue } from '../contract/names';
import { shown } from '../contract/shown';
import { taskQueueProblem } from '../host/check-settings';
import type { TemporalSettings } from '../host/connection';
import { connectNative, connectTemporal } from '../host/connection';
import { createLogger } from '../host/logger';
import { withCompression } from '../host/payloads/compression';
import { checkSearchAttributes } from '../host/search-attributes';
import type { WorkflowBundle } from './bundle/bundle';
import { bundleOnce } from './bundle/bundle-memory';
import { BundleStore } from './bundle/bundle-store';
import { checkBundle } from './bundle/check-bundle';
import { checkWorkerOptions } from './check-options';
import { checkRetention } from './check-retention';
import { Deployment, identityOf } from './builds/deployment';
import { callInterceptor } from './interceptors';
import { onLostTask } from './runtime';
import { dropThread, prepareThread } from './threads/spare-thread';
import type { ThreadedWorkerOptions } from './sdk-internals';
import { WatchedWorker } from './threads/watched-worker';
import { reportStrayRejections } from './stray-rejections';
import { ServedBuilds } from './builds/served-builds';
import { SwitchedParts } from './builds/switched-parts';
import type { PartsOptions, PartsServer } from './worker-parts';
import { longestTool, openRedis, partsOf, partsReady } from './worker-parts';

export interface WorkerOptions extends PartsOptions {
  readonly server: TemporalSettings;
  /** Path of the agents module; the worker serves every exported agent. */
  readonly agents: string;
  readonly taskQueue?: string;
  /** The directory for the code of builds that still have open runs. */
  readonly bundles: string;
  readonly dataConverter?: DataConverter;
  /** Compresses new payloads; compressed payloads are always read. Default: no. */
  readonly compress?: boolean;
  /**
   * Number of runs kept in memory; other runs read their history at the next task. Default of Temporal's SDK: 600 for each GB of heap above
   * 200 MB.
   */
  readonly maxCachedRuns?: number;
  /** How long a shutdown waits for running calls, in milliseconds. Default: the longest tool timeout. */
  readonly shutdownGraceMs?: number;
  /** Milliseconds between two checks for older builds with open runs. */
  readonly buildCheckMs?: number;
  /**
   * Milliseconds without a worker of the current build before this process's build takes its place. Default 90 s, because a poll takes up
   * to 60 s.
   */
  readonly unservedMs?: number;
  readonly stickyTimeoutMs?: number;
  /** Milliseconds, in real time and in processor time, before code of a run without a pause counts as an endless loop. Default 5 s. */
  readonly endlessLoopMs?: number;
  /** Answers Temporal's query for stack traces of runs, which slows a worker down by a sixth. Default false. */
  readonly stackTraces?: boolean;
  /** A finished bundle, which saves tests time. */
  readonly bundle?: WorkflowBundle;
}

/** Changes for a running worker. Server, task queue and storage stay. */
export type TakeOver = Pick<
  WorkerOptions,
  'tools' | 'mcp' | 'outputs' | 'policies' | 'middleware' | 'observers' | 'models' | 'language'
> & {
  /** Undefined: the agents stay. */
  readonly bundle?: WorkflowBundle | undefined;
};

interface WorkerInside {
  readonly options: WorkerOptions;
  readonly served: ServedBuilds;
  readonly parts: SwitchedParts;
  readonly partsFor: (options: WorkerOptions, before: WorkerParts) => Promise<WorkerParts>;
  readonly close: () => Promise<void>;
}

/**
 * A process's workers: for the newest build, and for each older build with open runs.
 * @example
 * const worker = await HoldfastWorker.create({
 *   server: { address: '127.0.0.1:7233', namespace: 'default' },
 *   agents: 'agents.ts',
 *   bundles: '.holdfast/bundles',
 *   tools,
 * });
 * process.once('SIGTERM', () => void worker.shutdown());
 * await worker.run();
 */
export class HoldfastWorker {
  private readonly stopped: Promise<void>;
  private stop: () => void = () => undefined;
  private failed: (error: unknown) => void = () => undefined;
  private forgetStray: () => void = () => undefined;
  private stopping = false;

  private constructor(private readonly inside: WorkerInside) {
    this.stopped = new Promise<void>((resolve, reject) => {
      this.stop = resolve;
      this.failed = reject;
    });
    this.stopped.catch(() => undefined);
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
    prepareThread(given.maxCachedRuns);
    const { bundle, connection, closeConnection } = await bundleAndConnection(options, store).catch(async (error: unknown) => {
      await dropThread();
      throw error;
    });
    let native: NativeConnection | undefined;
    let redis: RedisLink | undefined;
    let begun: HoldfastWorker | undefined;
    const loop = new LoopWatch(onProblem);
    const forgetLosses = onLostTask(() => begun?.failed(lostTask()));
    try {
      native = await connectNative(server, NativeConnection);
      await checkSearchAttributes(connection, server.namespace);
      if (!bundle.isKept) await keepBundle(bundle, store);
      const partsServer: PartsServer = {
        source: connection.facts(server.namespace),
        connection: () => connection,
        taskQueue: () => taskQueue,
        dataConverter: () => options.dataConverter,
        loop,
      };
      const partsFor = async (changed: WorkerOptions, before?: WorkerParts): Promise<WorkerParts> => {
        redis ??= await openRedis(changed, `${server.namespace}/${taskQueue}`);
        const made = partsOf(changed, { ...partsServer, redis }, before);
        await partsReady(made);
        return made;
      };
      const parts = new SwitchedParts(bundle.buildId, await partsFor(options));
      const served = new ServedBuilds(bundle.buildId, {
        start: (build, isNewest) =>
          createTemporalWorker(build, options, parts, { connection: native, taskQueue, identity: identityOf(isNewest) }),
        store,
        keep: (build) => keepBundle(build, store),
        deployment: new Deployment(connection, server.namespace, taskQueue),
        buildCheckMs,
        unservedMs,
        onProblem,
        retired: (buildId) => parts.forget(buildId),
        failed: (error) => begun?.failed(error),
      });
      const closeAll = async (): Promise<void> => {
        loop.close();
        forgetLosses();
        redis?.close();
        await parts.current.mcp?.close();
        await native?.close();
        await closeConnection();
      };
      const worker = new HoldfastWorker({ options, served, parts, partsFor, close: closeAll });
      begun = worker;
      worker.forgetStray = reportStrayRejections(onProblem);
      await served.open(bundle, () => checkRetention(connection, server.namespace));
      return worker;
    } catch (error) {
      // Stops all polls before the first error is thrown.
      if (begun !== undefined) await begun.shutdown().catch(() => undefined);
      else await Promise.allSettled([native?.close(), closeConnection()]);
      loop.close();
      forgetLosses();
      redis?.close();
      await dropThread();
      throw error;
    }
  }

  /** Settles when the workers have stopped; rejects when a worker stopped unasked. */
  run(): Promise<void> {
    return this.stopped;
  }

  /** The build of new runs. */
  get buildId(): string {
    return this.inside.served.newest;
  }

  /** The parts for calls that begin now. */
  get parts(): WorkerParts {
    return this.inside.parts.current;
  }

  get builds(): readonly string[] {
    return this.inside.served.ids;
  }

  get cachedRuns(): number {
    return this.inside.served.cachedRuns;
  }

  /**
   * Takes over changed code: new runs begin under the build of `bundle`, and new calls use the new tools. Open runs keep their build, and
   * running calls their code. An error leaves the worker unchanged.
   */
  async takeOver(changes: TakeOver): Promise<void> {
    const { bundle, ...changed } = changes;
    const { options: given, partsFor, served, parts } = this.inside;
    const options: WorkerOptions = { ...given, ...unset, ...changed };
    checkWorkerOptions(options);
    const next = await partsFor(options, parts.current);
    await served.change(bundle, () => parts.become(bundle?.buildId ?? this.buildId, next));
  }

  /** Drains: no new work begins, and running calls may end. */
  async shutdown(): Promise<void> {
    if (this.stopping) return this.stopped;
    this.stopping = true;
    await this.inside.served.stop();
    this.forgetStray();
    await this.inside.close();
    this.stop();
  }

  checkBuilds(): Promise<void> {
    return this.inside.served.check();
  }
}

function lostTask(): HoldfastError {
  const text = "Temporal's core lost a task, and the run of the task waits for a new process.";
  return new HoldfastError('internal', `${text} Start the worker again, with a larger maxCachedRuns.`);
}

const unset = {
  mcp: undefined,
  outputs: undefined,
  policies: undefined,
  middleware: undefined,
  observers: undefined,
  models: undefined,
  language: undefined,
};

async function bundleAndConnection(options: WorkerOptions, store: BundleStore) {
  const bundle =
    options.bundle === undefined ? await bundleOnce(options.agents, options.bundles, store) : { ...options.bundle, isKept: false };
  const { connection, close: closeConnection } = await connectTemporal(options.server);
  return { bundle, connection, closeConnection };
}

async function keepBundle(bundle: WorkflowBundle, store: BundleStore): Promise<void> {
  if (await store.holds(bundle.buildId)) return;
  await checkBundle(bundle);
  await store.save(bundle);
}

export function logged({ code, message }: HoldfastError): void {
  createLogger().error(message, { code, fix: errorTable[code].fix });
}

function createTemporalWorker(
  bundle: WorkflowBundle,
  options: WorkerOptions,
  parts: SwitchedParts,
  place: Pick<ThreadedWorkerOptions, 'connection' | 'taskQueue' | 'identity'> & { readonly taskQueue: string },
): Promise<Worker> {
  return WatchedWorker.create({
    ...place,
    namespace: options.server.namespace,
    workflowBundle: { code: bundle.code },
    activities: parts.activitiesOf(bundle.buildId),
    interceptors: { activity: [callInterceptor] },
    workerDeploymentOptions: {
      version: { deploymentName: place.taskQueue, buildId: bundle.buildId },
      useWorkerVersioning: true,
      defaultVersioningBehavior: 'PINNED',
    },
    stickyQueueScheduleToStartTimeout: options.stickyTimeoutMs ?? 1000,
    // More replays at once, as after a crash, would exceed the server's 10 s for a task.
    maxConcurrentWorkflowTaskExecutions: 16,
    // A call gets a cancel in the reply to a heartbeat.
    maxHeartbeatThrottleInterval: 250,
    defaultHeartbeatThrottleInterval: 250,
    shutdownGraceTime: options.shutdownGraceMs ?? longestTool(parts.current),
    ...defined({
      isolateExecutionTimeout: options.endlessLoopMs,
      maxCachedWorkflows: options.maxCachedRuns,
      dataConverter: options.dataConverter,
      stackTraces: options.stackTraces,
    }),
  });
}
