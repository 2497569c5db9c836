import { CancellationScope, condition } from '@temporalio/workflow';
import { cancelRequestIn } from '../contract/cancel';
import { givenTime } from '../contract/given-time';
import type { AgentRun } from '../kernel/engine/run';
import { activation } from './interceptors';

interface RunAtWork {
  isDone(): boolean;
  /** Whether nothing is open but people or time. */
  waits(): boolean;
}

/** Requests to stop by signals. All waits here begin with such a signal, so runs without a request have none. */
export class CancelInbox {
  constructor(
    private readonly run: AgentRun,
    private readonly work: RunAtWork,
  ) {}

  /** Takes a signal with any content. */
  take(given: unknown): void {
    const request = cancelRequestIn(given);
    this.run.cancels.ask(request);
    // A worker may see the signal late.
    if (request.withinMs !== undefined) this.run.cancels.limit(givenTime(request.at, Date.now()) + request.withinMs);
    void this.stopWaiting();
  }

  /** A cancel takes effect where the run waits only for people. */
  private async stopWaiting(): Promise<void> {
    const mayStop = (): boolean => this.run.cancels.mayStopWaiting && this.run.waitingFor > 0 && this.work.waits();
    await CancellationScope.nonCancellable(() => condition(() => activation.settled && (this.work.isDone() || mayStop())));
    if (!this.work.isDone()) this.run.stopWaiting();
  }
}
