import { readFile } from 'node:fs/promises';
import type { StorageDriver } from '@temporalio/common';
import type { BundleOptions, WorkerOptions as TemporalWorkerOptions, WorkflowBundleOption } from '@temporalio/worker';
import { Worker } from '@temporalio/worker';
import { createActivities } from '../activities/activities';
import { checkKeyedEnvironment } from '../activities/models/providers/keyed';
import { HoldfastError, codeOf, messageOf } from '../contract/errors';
import { ClientPlugin } from '../host/client-plugin';
import { snapshotStorage } from '../host/snapshot-storage';
import { checkSearchAttributes } from '../host/search-attributes';
import { checkPluginOptions } from './check-options';
import { checkRetention } from './check-retention';
import type { WorkerOptions } from './create-worker';
import { logged, memoryLossText } from './create-worker';
import { interceptorFor } from './interceptors';
import { beginLoopGuard } from './threads/loop-guard';
import { bundledBeside, hasAgents, noWorkflows } from './plugin-bundler';
import type { PartsOptions } from './worker-parts';
import { longestTool, partsOf, partsReady } from './worker-parts';

/** Named as those of HoldfastWorker. Server, task queue and data converter are those of the user's own worker. */
export interface PluginOptions extends PartsOptions, Pick<WorkerOptions, 'agents'> {
  /** Where large snapshots of runs go. Clients need the same. */
  readonly storage?: StorageDriver;
}

/** A Temporal plugin that adds agents to a Worker, and to a bundle of workflow code. A Client and its Connection may have it, too. */
export function holdfastPlugin(options: PluginOptions): HoldfastPlugin {
  return new HoldfastPlugin(options);
}

/** What a worker has of ours between its making and its end. */
class Serving {
  worker: Worker | undefined;
  readonly endLoopGuard = beginLoopGuard();

  /** The connection of the worker, which may have made it itself. */
  get connection(): NonNullable<Worker['connection']> {
    const connection = this.worker?.connection;
    if (connection === undefined) throw new HoldfastError('internal', 'The worker has no connection yet.');
    return connection;
  }
}

export class HoldfastPlugin extends ClientPlugin {
  /** By one of the activities, which tells the worker. */
  private readonly serving = new WeakMap<object, Serving>();
  private readonly onProblem: (problem: HoldfastError) => void;

  constructor(private readonly given: PluginOptions) {
    checkPluginOptions(given);
    super(given.storage === undefined ? {} : { storage: given.storage });
    this.onProblem = given.onProblem ?? logged;
  }

  override configureBundler(options: BundleOptions): BundleOptions {
    return bundledBeside(options, this.given.agents);
  }

  // The SDK waits for it, and SimplePlugin does not know.
  override configureWorker(options: TemporalWorkerOptions): TemporalWorkerOptions {
    return this.withAgents(options) as unknown as TemporalWorkerOptions;
  }

  private async withAgents(options: TemporalWorkerOptions): Promise<TemporalWorkerOptions> {
    const {
      activities = {},
      connection,
      namespace = 'default',
      taskQueue,
      workerDeploymentOptions,
      workflowBundle,
      workflowsPath,
    } = options;
    // Given twice, as when a connection has the plugin, too.
    if (this.servingOf(activities) !== undefined) return options;
    checkKeyedEnvironment(this.given.environment ?? process.env);
    if (workerDeploymentOptions !== undefined && !workerDeploymentOptions.useWorkerVersioning)
      throw new HoldfastError(
        'config-invalid',
        'The worker has workerDeploymentOptions without useWorkerVersioning, so that runs could not be pinned. Set it, or leave both out.',
      );
    if (workflowBundle !== undefined) await refuseWithoutAgents(workflowBundle);
    if (connection !== undefined) await checkSearchAttributes(connection, namespace);
    const { storage } = this.given;
    if (storage !== undefined && options.dataConverter?.externalStorage !== undefined)
      throw new HoldfastError(
        'config-invalid',
        'holdfastPlugin: storage was given, and the data converter of the worker has external storage. Leave one of them out.',
      );
    const dataConverter = storage === undefined ? options.dataConverter : { ...options.dataConverter, ...snapshotStorage(storage) };
    const serving: { now?: Serving } = {};
    const connected = () => (serving.now as Serving).connection;
    const parts = partsOf(
      { ...this.given, onProblem: this.onProblem },
      {
        source: {
          namespace,
          get workflowService() {
            return connected().workflowService;
          },
        },
        connection: connected,
        taskQueue,
        dataConverter,
      },
    );
    await partsReady(parts);
    const ours = createActivities(parts);
    const taken = Object.keys(ours).find((name) => Object.hasOwn(activities, name));
    if (taken !== undefined)
      throw new HoldfastError('config-invalid', `The worker has an activity '${taken}', which is the name of one of Holdfast. Rename it.`);
    serving.now = new Serving();
    this.serving.set(ours.callModel, serving.now);
    const { interceptors } = options;
    return {
      // A heartbeat is how a call hears that it is cancelled.
      maxHeartbeatThrottleInterval: 250,
      defaultHeartbeatThrottleInterval: 250,
      shutdownGraceTime: longestTool(parts),
      ...options,
      activities: { ...activities, ...ours },
      interceptors: { ...interceptors, activity: [...(interceptors?.activity ?? []), interceptorFor(Object.keys(ours))] },
      ...(workflowBundle === undefined && workflowsPath === undefined ? { workflowsPath: noWorkflows() } : {}),
      ...(dataConverter === undefined ? {} : { dataConverter }),
    };
  }

  override async runWorker(worker: Worker, next: (worker: Worker) => Promise<void>): Promise<void> {
    const serving = this.servingOf(Object.fromEntries(worker.options.activities));
    if (serving === undefined || serving.worker !== undefined) return next(worker);
    serving.worker = worker;
    serving.endLoopGuard();
    if (!(worker instanceof Worker))
      throw new HoldfastError(
        'config-invalid',
        'The Worker comes from another copy of @temporalio/worker than the one of Holdfast. Install one version only.',
      );
    const { connection } = serving;
    const { namespace } = worker.options;
    await checkSearchAttributes(connection, namespace);
    checkRetention(connection, namespace).catch((error: unknown) => this.tell(error));
    await next(worker).catch((error: unknown) => {
      const text = memoryLossText(error);
      throw text === undefined
        ? error
        : new HoldfastError('out-of-memory', `The code of workflows ran out of memory. ${text}`, { cause: error });
    });
  }

  /** What only warns is told if it has a code. A server that does not answer is not: the worker asks it for tasks anyway. */
  private tell(error: unknown): void {
    const code = codeOf(error);
    if (code !== undefined) this.onProblem(new HoldfastError(code, messageOf(error), { cause: error }));
  }

  private servingOf(activities: object): Serving | undefined {
    const { callModel } = activities as { readonly callModel?: unknown };
    return typeof callModel === 'function' ? this.serving.get(callModel) : undefined;
  }
}

/** A bundle that was made without the plugin has no agents, and every run would fail its tasks. */
async function refuseWithoutAgents(bundle: WorkflowBundleOption): Promise<void> {
  const code = 'code' in bundle ? bundle.code : await readFile(bundle.codePath, 'utf8');
  if (hasAgents(code)) return;
  throw new HoldfastError(
    'config-invalid',
    'The workflowBundle of the worker has no agents. Make it with bundleWorkflowCode({ plugins: [holdfastPlugin(…)], … }).',
  );
}
