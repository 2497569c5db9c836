import { CancellationScope, CancelledFailure, isCancellation } from '@temporalio/workflow';
import type { AgentPath } from '../contract/record/agent-paths';
import { isConversation } from '../contract/record/agent-paths';

export class ModelStops {
  private readonly open = new Set<CancellationScope>();

  /** Calls for a tool go on, because tools are awaited. */
  async run<Result>(path: AgentPath, call: () => Promise<Result>): Promise<Result> {
    if (!isConversation(path)) return call();
    const scope = new CancellationScope();
    this.open.add(scope);
    try {
      return await scope.run(call);
    } catch (error) {
      // The worker was lost after the stop, so another attempt is not needed.
      throw scope.consideredCancelled && !isCancellation(error) ? new CancelledFailure('The turn was stopped.') : error;
    } finally {
      this.open.delete(scope);
    }
  }

  stop(): void {
    for (const scope of this.open) scope.cancel();
  }
}
