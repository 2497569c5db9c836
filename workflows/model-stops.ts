import { CancellationScope } from '@temporalio/workflow';
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
    } finally {
      this.open.delete(scope);
    }
  }

  /** Cancels the present calls, and no later calls. */
  stopper(): () => void {
    const scopes = [...this.open];
    return () => scopes.forEach((scope) => scope.cancel());
  }
}
