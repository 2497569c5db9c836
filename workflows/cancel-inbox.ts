import { CancellationScope, condition } from '@temporalio/workflow';
import { cancelRequestIn } from '../contract/cancel';
import { givenTime } from '../contract/given-time';
import type { AgentRun } from '../kernel/engine/run';
import { activation } from './interceptors';

interface RunAtWork {
  isDone(): boolean;
  waits(): boolean;
}

/** A run without such a signal must have no additional conditions. */
export class CancelInbox {
  constructor(
    private readonly run: AgentRun,
    private readonly work: RunAtWork,
  ) {}

  /** The signal may have any content. */
  take(given: unknown): void {
    const request = cancelRequestIn(given);
    this.run.cancels.ask(request);
    // A worker may get the signal late.
    if (request.withinMs !== undefined) this.run.cancels.limit(givenTime(request.at, Date.now()) + request.withinMs);
    void this.stopWaiting();
  }

  private async stopWaiting(): Promise<void> {
    const mayStop = (): boolean => this.run.cancels.mayStopWaiting && this.run.waitingFor > 0 && this.work.waits();
    await CancellationScope.nonCancellable(() => condition(() => activation.settled && (this.work.isDone() || mayStop())));
    if (!this.work.isDone()) this.run.stopWaiting();
  }
}
