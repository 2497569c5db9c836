import type { McpServers } from '../activities/mcp/servers';
import type { RedisLink } from '../activities/limits/redis-turns';
import { readFile } from 'node:fs/promises';
import type { StorageDriver } from '@temporalio/common';
import type { BundleOptions, WorkerOptions as TemporalWorkerOptions, WorkflowBundleOption } from '@temporalio/worker';
import { Worker } from '@temporalio/worker';
import { createActivities } from '../activities/activities';
import { checkKeyedEnvironment } from '../activities/models/providers/keyed';
import { isRecord } from '../contract/check';
import { defined } from '../contract/defined';
import { HoldfastError, codeOf, messageOf } from '../contract/errors';
import { shown } from '../contract/shown';
import { ClientPlugin } from '../host/client-plugin';
import { readsCompressed, withCompression } from '../host/payloads/compression';
import { snapshotStorage } from '../host/snapshot-storage';
import { checkSearchAttributes } from '../host/search-attributes';
import { checkPluginOptions } from './check-options';
import { checkRetention } from './check-retention';
import type { WorkerOptions } from './create-worker';
import { logged } from './create-worker';
import { interceptorFor } from './interceptors';
import { bundledBeside, hasAgents, noWorkflows } from './bundle/plugin-bundler';
import type { PartsOptions, PartsServer } from './worker-parts';
import { longestTool, openRedis, partsOf, partsReady } from './worker-parts';

/** Options of HoldfastWorker. Server, task queue and data converter are options of the user's own worker. */
export interface PluginOptions extends PartsOptions, Pick<WorkerOptions, 'agents'> {
  /** The storage of large snapshots of runs. Clients need the same storage. */
  readonly storage?: StorageDriver;
  /** Compresses new payloads, also of other workflows; compressed payloads are always read. Default: no. */
  readonly compress?: boolean;
}

/**
 * A Temporal plugin that adds agents to a Worker and to a bundle of workflow code. A Client and its Connection may also have the plugin.
 * @example
 * import { Worker } from '@temporalio/worker';
 *
 * const holdfast = holdfastPlugin({ agents: require.resolve('./agents'), tools });
 * const worker = await Worker.create({ taskQueue: 'holdfast', plugins: [holdfast] });
 * await worker.run();
 */
export function holdfastPlugin(options: PluginOptions): HoldfastPlugin {
  return new HoldfastPlugin(options);
}

/** By an activity, which identifies the worker. */
const servings = new WeakMap<object, Serving>();

class Serving {
  worker: Worker | undefined;
  mcp: McpServers | undefined;

  constructor(
    readonly plugin: HoldfastPlugin,
    readonly redis: RedisLink | undefined,
  ) {}

  /** Read late, because other plugins may change the options. */
  get options(): Worker['options'] {
    if (this.worker === undefined) throw new HoldfastError('internal', 'The worker has not begun yet.');
    return this.worker.options;
  }

  get connection(): NonNullable<Worker['connection']> {
    const connection = this.worker?.connection;
    if (connection === undefined) throw new HoldfastError('internal', 'The worker has no connection yet.');
    return connection;
  }
}

function serverOf(serving: Serving): PartsServer {
  return {
    redis: serving.redis,
    source: {
      get namespace() {
        return serving.options.namespace;
      },
      get workflowService() {
        return serving.connection.workflowService;
      },
    },
    connection: () => serving.connection,
    taskQueue: () => serving.options.taskQueue,
    dataConverter: () => serving.options.dataConverter,
  };
}

const invalid = (message: string): HoldfastError => new HoldfastError('config-invalid', message);

/**
 * The plugin that `holdfastPlugin` makes, for the types of your own functions.
 * @example
 * function pluginFor(environment: 'test' | 'live'): HoldfastPlugin {
 *   return holdfastPlugin({ agents: `agents/${environment}.ts`, tools });
 * }
 */
export class HoldfastPlugin extends ClientPlugin {
  private readonly onProblem: (problem: HoldfastError) => void;

  constructor(private readonly given: PluginOptions) {
    checkPluginOptions(given);
    super(defined({ storage: given.storage, compress: given.compress }));
    this.onProblem = given.onProblem ?? logged;
  }

  override configureBundler(options: BundleOptions): BundleOptions {
    return bundledBeside(options, this.given.agents);
  }

  // The SDK awaits the promise, although SimplePlugin's type has none.
  override configureWorker(options: TemporalWorkerOptions): TemporalWorkerOptions {
    return this.withAgents(options) as unknown as TemporalWorkerOptions;
  }

  private async withAgents(options: TemporalWorkerOptions): Promise<TemporalWorkerOptions> {
    const { connection, namespace = 'default', workerDeploymentOptions, workflowBundle, workflowsPath } = options;
    const activities = options.activities ?? {};
    // The plugin may come twice.
    const before = servingOf(activities);
    if (before?.plugin === this) return options;
    if (before !== undefined) throw invalid('The worker has holdfastPlugin twice, with options of their own. Give it one, for all agents.');
    checkKeyedEnvironment(this.given.environment ?? process.env);
    if (workerDeploymentOptions !== undefined && !workerDeploymentOptions.useWorkerVersioning)
      throw invalid(
        'The worker has workerDeploymentOptions without useWorkerVersioning, so that runs could not be pinned. Set it, or leave both out.',
      );
    if (workflowBundle !== undefined) await refuseWithoutAgents(workflowBundle);
    if (connection !== undefined) await checkSearchAttributes(connection, namespace);
    const { storage, compress } = this.given;
    if (storage !== undefined && options.dataConverter?.externalStorage !== undefined)
      throw invalid('holdfastPlugin: storage was given, and the data converter of the worker has external storage. Leave one of them out.');
    const stored = storage === undefined ? {} : snapshotStorage(storage);
    const dataConverter = withCompression({ ...options.dataConverter, ...stored }, compress);
    const given = { ...this.given, onProblem: this.onProblem };
    const serving = new Serving(this, await openRedis(given, `${namespace}/${options.taskQueue}`));
    const parts = partsOf(given, serverOf(serving));
    await partsReady(parts);
    const ours = createActivities(parts);
    const taken = Object.keys(ours).find((name) => Object.hasOwn(activities, name));
    if (taken !== undefined) throw invalid(`The worker has an activity '${taken}', which is the name of one of Holdfast. Rename it.`);
    serving.mcp = parts.mcp;
    servings.set(ours.callModel, serving);
    const { interceptors } = options;
    return {
      maxHeartbeatThrottleInterval: 250,
      defaultHeartbeatThrottleInterval: 250,
      shutdownGraceTime: longestTool(parts),
      ...options,
      activities: { ...activities, ...ours },
      interceptors: { ...interceptors, activity: [...(interceptors?.activity ?? []), interceptorFor(Object.keys(ours))] },
      ...(workflowBundle === undefined && workflowsPath === undefined ? { workflowsPath: noWorkflows() } : {}),
      dataConverter,
    };
  }

  override async runWorker(worker: Worker, next: (worker: Worker) => Promise<void>): Promise<void> {
    const serving = servingOf(Object.fromEntries(worker.options.activities));
    if (serving?.plugin !== this || serving.worker !== undefined) return next(worker);
    serving.worker = worker;
    if (!(worker instanceof Worker))
      throw invalid('The Worker comes from another copy of @temporalio/worker than the one of Holdfast. Install one version only.');
    const { connection } = serving;
    const { namespace, dataConverter } = worker.options;
    if (this.given.compress === true && !readsCompressed(dataConverter ?? {})) throw replacedWith('compression');
    if (this.given.storage !== undefined && dataConverter?.externalStorage === undefined) throw replacedWith('storage');
    await checkSearchAttributes(connection, namespace);
    checkRetention(connection, namespace).catch((error: unknown) => this.tell(error));
    await next(worker).finally(async () => {
      serving.redis?.close();
      await serving.mcp?.close();
    });
  }

  /** A server without an answer is not reported, because the worker polls it anyway. */
  private tell(error: unknown): void {
    const code = codeOf(error);
    if (code !== undefined) this.onProblem(new HoldfastError(code, messageOf(error), { cause: error }));
  }
}

function replacedWith(part: 'compression' | 'storage'): HoldfastError {
  return invalid(
    `Another plugin replaced the data converter of the worker, and with it the ${part} of holdfastPlugin. Put holdfastPlugin last.`,
  );
}

function servingOf(activities: object): Serving | undefined {
  const { callModel } = activities as { readonly callModel?: unknown };
  return typeof callModel === 'function' ? servings.get(callModel) : undefined;
}

/** Without agents in the bundle every run would fail its tasks. */
async function refuseWithoutAgents(bundle: WorkflowBundleOption): Promise<void> {
  const { code, codePath } = (isRecord(bundle) ? bundle : {}) as { readonly code?: unknown; readonly codePath?: unknown };
  if (typeof code !== 'string' && typeof codePath !== 'string')
    throw invalid(`The workflowBundle of the worker must be { code } or { codePath }. It is ${shown(bundle)}.`);
  if (hasAgents(typeof code === 'string' ? code : await codeAt(codePath as string))) return;
  throw invalid('The workflowBundle of the worker has no agents. Make it with bundleWorkflowCode({ plugins: [holdfastPlugin(…)], … }).');
}

async function codeAt(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new HoldfastError('config-invalid', `The workflowBundle of the worker cannot be read: ${messageOf(error)}`, { cause: error });
  }
}
