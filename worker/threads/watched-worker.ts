import { url as debuggerAddress } from 'node:inspector';
import { resolve } from 'node:path';
import type { Logger } from '@temporalio/common';
import type { WorkerOptions } from '@temporalio/worker';
import { Worker } from '@temporalio/worker';
import type { CompiledWorkerOptions } from '@temporalio/worker/lib/worker-options';
import type { WorkflowCreator } from '@temporalio/worker/lib/workflow/interface';
import type { ThreadParts } from './watched-thread';
import { WatchedThreads } from './watched-threads';

type Bundle = ThreadParts['bundle'];

/** In Node's calls: none. */
const noLimit = undefined as unknown as number;

export interface WatchedWorkerOptions extends WorkerOptions {
  /** Answers the query for stack traces, at a sixth of what a worker can do. Default: false. */
  readonly stackTraces?: boolean;
}

/** A worker of Temporal's SDK whose workflow code runs in threads that are watched from here. */
export class WatchedWorker extends Worker {
  static override create(options: WatchedWorkerOptions): Promise<Worker> {
    return super.create(options);
  }

  /** The SDK also runs the code in the main thread, for debuggers. Who has none waits for that in vain. */
  protected static override async getOrCreateBundle(options: CompiledWorkerOptions, logger: Logger): Promise<Bundle | undefined> {
    const { workflowBundle, debugMode } = options;
    const code = workflowBundle !== undefined && 'code' in workflowBundle ? workflowBundle.code : undefined;
    const map = code === undefined ? undefined : mapOf(code);
    if (code === undefined || map === undefined || debugMode || debuggerAddress() !== undefined)
      return super.getOrCreateBundle(options, logger);
    return { code, sourceMap: map, filename: resolve(map.file) };
  }

  protected static override async createWorkflowCreator(
    bundle: ThreadParts['bundle'],
    options: CompiledWorkerOptions & Pick<WatchedWorkerOptions, 'stackTraces'>,
    logger: Logger,
  ): Promise<WorkflowCreator> {
    // The code runs in the main thread, where a debugger stops it for as long as it likes.
    if (options.debugMode) return super.createWorkflowCreator(bundle, { ...options, isolateExecutionTimeoutMs: noLimit }, logger);
    return WatchedThreads.create({
      bundle,
      activityNames: new Set(options.activities.keys()),
      logger,
      limitMs: options.isolateExecutionTimeoutMs,
      stackTraces: options.stackTraces ?? false,
      reuseV8Context: options.reuseV8Context,
    });
  }
}

const mapHead = '//# sourceMappingURL=data:';

/** The map that ends the code of a bundle. */
function mapOf(code: string): Bundle['sourceMap'] | undefined {
  const [, encoded] = code.slice(code.lastIndexOf(mapHead)).split('base64,');
  return encoded === undefined ? undefined : (JSON.parse(Buffer.from(encoded, 'base64').toString('utf8')) as Bundle['sourceMap']);
}
