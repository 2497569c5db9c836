import type { ActivityFailure, ApplicationFailure } from '@temporalio/workflow';
import {
  ActivityCancellationType,
  CancellationScope,
  defineSignal,
  proxyActivities,
  setHandler,
  upsertMemo,
  workflowInfo,
} from '@temporalio/workflow';
import type { BatchActivities, BatchEnd, BatchInput, BatchProgress, BatchStop } from '../contract/batches';
import { batchBegin } from '../contract/batches';
import { names, runIdOf } from '../contract/names';

const stopSignal = defineSignal<[BatchStop]>(names.batchStopSignal);

/** Heartbeats and retries of activities are no events, so the history stays short, however many lines the batch has. */
export async function agentBatch(given: BatchInput): Promise<void> {
  const scope = new CancellationScope();
  const asked: { stop?: BatchStop } = {};
  const stop = (request: BatchStop): void => {
    asked.stop = { ...asked.stop, ...request };
    scope.cancel();
  };
  setHandler(stopSignal, stop);
  // A schedule with the overlap `cancel-other` cancels the workflow.
  CancellationScope.current().cancelRequested.catch(() => stop({ cancels: given.author }));
  const { keepLines, startLines, countEnds, cancelRuns } = proxyActivities<BatchActivities>({
    taskQueue: given.queue,
    // Only heartbeats tell that a service is gone.
    startToCloseTimeout: '10 years',
    heartbeatTimeout: 20_000,
    retry: { initialInterval: 1000, maximumInterval: 10_000 },
    // A stopped batch starts nothing after its end.
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  });
  let batch: BatchInput = { ...given, id: runIdOf(workflowInfo().workflowId) };
  let progress = batchBegin;
  const tell = (end: Pick<BatchEnd, 'error'> = {}): void =>
    upsertMemo({ [names.memo.batchEnd]: { progress, isStopped: asked.stop !== undefined, ...end } satisfies BatchEnd });
  try {
    await scope.run(async () => {
      if (given.schedule !== undefined) {
        batch = { ...batch, ...(await keepLines(batch)) };
        upsertMemo({ [names.memo.batch]: batch });
      }
      progress = await startLines(batch);
      tell();
      progress = await countEnds(batch, progress);
    });
  } catch (error) {
    const { cause } = error as ActivityFailure;
    if (asked.stop === undefined) {
      const { type, message } = cause as ApplicationFailure;
      tell({ error: { code: type ?? 'internal', message } });
      throw error;
    }
    // A stop of a batch whose service is gone ends with the timeout of the heartbeat.
    progress = (cause as { readonly lastHeartbeatDetails?: BatchProgress } | undefined)?.lastHeartbeatDetails ?? progress;
  }
  const cancels = asked.stop?.cancels;
  if (cancels !== undefined) await CancellationScope.nonCancellable(() => cancelRuns(batch, cancels, progress));
  tell();
}
