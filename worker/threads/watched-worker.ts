import type { Worker } from '@temporalio/worker';
import type { WorkflowCreator } from '../sdk-internals';
import { workerOn } from '../sdk-internals';
import { WatchedThreads } from './watched-threads';

export const WatchedWorker = workerOn((parts) => WatchedThreads.create(parts));

export function watchedReplayer(seen: (creator: WorkflowCreator) => WorkflowCreator): Pick<typeof Worker, 'runReplayHistories'> {
  return workerOn((parts) => WatchedThreads.create(parts), seen);
}
