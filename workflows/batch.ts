import { ActivityCancellationType, CancellationScope, defineSignal, proxyActivities, setHandler, upsertMemo } from '@temporalio/workflow';
import type { BatchActivities, BatchEnd, BatchInput, BatchProgress, BatchStop } from '../contract/batches';
import { batchBegin } from '../contract/batches';
import { names } from '../contract/names';

const stopSignal = defineSignal<[BatchStop]>(names.batchStopSignal);

/** One activity does the work. Its heartbeats are no events, so the history stays short, however many lines the batch has. */
export async function agentBatch(batch: BatchInput): Promise<void> {
  const scope = new CancellationScope();
  let stop: BatchStop | undefined;
  setHandler(stopSignal, (request) => {
    stop = { ...stop, ...request };
    scope.cancel();
  });
  const { runBatch, cancelRuns } = proxyActivities<BatchActivities>({
    taskQueue: batch.queue,
    // Batches wait for people: only heartbeats tell that a service is gone.
    startToCloseTimeout: '10 years',
    heartbeatTimeout: 20_000,
    retry: { initialInterval: 1000, maximumInterval: 10_000 },
    // A stopped batch starts nothing after its end.
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  });
  const stopped = (): BatchStop | undefined => stop;
  const progress = await scope
    .run(() => runBatch(batch))
    .catch((error: unknown) => {
      if (stopped() === undefined) throw error;
      return lastProgress(error);
    });
  const cancels = stopped()?.cancels;
  if (cancels !== undefined) await cancelRuns(batch, cancels);
  upsertMemo({ [names.memo.batchEnd]: { progress, isStopped: stopped() !== undefined } satisfies BatchEnd });
}

/** A stop of a batch whose service is gone ends with the timeout of the heartbeat. */
function lastProgress(error: unknown): BatchProgress {
  const { cause } = error as { readonly cause?: { readonly lastHeartbeatDetails?: BatchProgress } };
  return cause?.lastHeartbeatDetails ?? batchBegin;
}
