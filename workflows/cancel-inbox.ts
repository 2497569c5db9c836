import { CancellationScope, condition } from '@temporalio/workflow';
import { cancelRequestIn } from '../contract/cancel';
import type { AgentRun } from '../kernel/engine/run';
import type { AnswerTimes } from './answer-times';
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
    private readonly times: AnswerTimes,
    private readonly work: RunAtWork,
  ) {}

  /** Takes a signal, with whatever is in it. */
  take(given: unknown, event: number): void {
    const request = cancelRequestIn(given);
    this.run.askToCancel(request);
    if (request.withinMs !== undefined) void this.limit(event, request.withinMs);
    void this.stopWaiting();
  }

  /** Safe points are waited for as long as that, from when the server took the signal: a worker may look at it late. */
  private async limit(event: number, withinMs: number): Promise<void> {
    this.run.cancels.limit((await this.times.timeOfSignal(event)) + withinMs);
  }

  /** A cancel takes effect where the run waits for people and for nothing else. */
  private async stopWaiting(): Promise<void> {
    const mayStop = (): boolean => this.run.cancels.mayStopWaiting && this.run.waitingFor > 0 && this.work.waits();
    await CancellationScope.nonCancellable(() => condition(() => activation.settled && (this.work.isDone() || mayStop())));
    if (!this.work.isDone()) this.run.stopWaiting();
  }
}
