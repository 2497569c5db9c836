import type { Worker } from '@temporalio/worker';
import type { WorkflowCreator } from '../sdk-internals';
import { workerOn } from '../sdk-internals';
import { WatchedThreads } from './watched-threads';

/** A worker of Temporal's SDK whose workflow code runs in threads that are watched from here. */
export const WatchedWorker = workerOn((parts) => WatchedThreads.create(parts));

/** Its replayer. `seen` gets what runs the code. */
export function watchedReplayer(seen: (creator: WorkflowCreator) => WorkflowCreator): Pick<typeof Worker, 'runReplayHistories'> {
  return workerOn((parts) => WatchedThreads.create(parts), seen);
}
