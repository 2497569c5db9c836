import type { AgentPath } from '../../contract/record/agent-paths';
import { isConversation } from '../../contract/record/agent-paths';

export interface StoppableCall {
  readonly asked: Promise<void>;
  isAsked: boolean;
}

export class MemoryModelStops {
  private readonly open = new Map<StoppableCall, () => void>();

  begin(path: AgentPath): StoppableCall {
    let resolve: () => void = () => undefined;
    const call: StoppableCall = { asked: new Promise<void>((ask) => (resolve = ask)), isAsked: false };
    if (isConversation(path)) this.open.set(call, resolve);
    return call;
  }

  end(call: StoppableCall): void {
    this.open.delete(call);
  }

  stop(): void {
    for (const [call, resolve] of this.open) {
      call.isAsked = true;
      resolve();
    }
  }
}
