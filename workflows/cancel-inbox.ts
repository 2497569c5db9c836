import { CancellationScope, condition } from '@temporalio/workflow';
import { cancelRequestIn } from '../contract/cancel';
import { givenTime } from '../contract/given-time';
import type { AgentRun } from '../kernel/engine/run';
import { activation } from './interceptors';

/** What is asked of the run besides. */
interface RunAtWork {
  isDone(): boolean;
  /** Whether nothing of it is under way: it waits for people, or for the time. */
  waits(): boolean;
}

/** Requests that the run stops, as signals bring them. All waits here begin with such a signal: runs without one have none. */
export class CancelInbox {
  constructor(
    private readonly run: AgentRun,
    private readonly work: RunAtWork,
  ) {}

  /** Takes a signal, with whatever is in it. */
  take(given: unknown): void {
    const request = cancelRequestIn(given);
    this.run.askToCancel(request);
    // A worker may look at the signal late.
    if (request.withinMs !== undefined) this.run.cancels.limit(givenTime(request.at, Date.now()) + request.withinMs);
    void this.stopWaiting();
  }

  /** A cancel takes effect where the run waits for people and for nothing else. */
  private async stopWaiting(): Promise<void> {
    const mayStop = (): boolean => this.run.cancels.mayStopWaiting && this.run.waitingFor > 0 && this.work.waits();
    await CancellationScope.nonCancellable(() => condition(() => activation.settled && (this.work.isDone() || mayStop())));
    if (!this.work.isDone()) this.run.stopWaiting();
  }
}
