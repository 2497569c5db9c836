import type { Logger } from '@temporalio/common';
import type { WorkerOptions } from '@temporalio/worker';
import { Worker } from '@temporalio/worker';
import type { CompiledWorkerOptions } from '@temporalio/worker/lib/worker-options';
import type { WorkflowCreator } from '@temporalio/worker/lib/workflow/interface';
import type { IdleOptions } from './idle-runs';
import { IdleRuns } from './idle-runs';
import type { ThreadParts } from './watched-thread';
import { WatchedThreads } from './watched-threads';

/** In Node's calls: none. */
const noLimit = undefined as unknown as number;

export interface WatchedWorkerOptions extends WorkerOptions {
  /** Answers the query for stack traces, at a sixth of what a worker can do. Default: false. */
  readonly stackTraces?: boolean;
  /** Which runs leave the memory. Without it: none. */
  readonly idle?: IdleOptions;
}

/** A worker of Temporal's SDK whose workflow code runs in threads that are watched from here. */
export class WatchedWorker extends Worker {
  static override create(options: WatchedWorkerOptions): Promise<Worker> {
    return super.create(options);
  }

  protected static override async createWorkflowCreator(
    bundle: ThreadParts['bundle'],
    options: CompiledWorkerOptions & Pick<WatchedWorkerOptions, 'stackTraces' | 'idle'>,
    logger: Logger,
  ): Promise<WorkflowCreator> {
    // The code runs in the main thread, where a debugger stops it for as long as it likes.
    if (options.debugMode) return super.createWorkflowCreator(bundle, { ...options, isolateExecutionTimeoutMs: noLimit }, logger);
    const threads = await WatchedThreads.create({
      bundle,
      activityNames: new Set(options.activities.keys()),
      logger,
      limitMs: options.isolateExecutionTimeoutMs,
      stackTraces: options.stackTraces ?? false,
      reuseV8Context: options.reuseV8Context,
    });
    return options.idle === undefined ? threads : new IdleRuns(threads, options.idle);
  }
}
