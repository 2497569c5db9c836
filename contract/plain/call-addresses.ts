import type { EventBody } from './events';
import type { CallModelInput, CallToolInput } from './wire';

/** Stands at the end of the path of a model call that a hook made, and is no agent. */
export const hiddenModelCall = 'ctx.model';

/** Whose call it is. */
export function agentOfPath(path: readonly string[]): string {
  return path.at(path.at(-1) === hiddenModelCall ? -2 : -1) ?? '';
}

interface OpenTool {
  readonly address: string;
  /** Its activity has come back; the event that ends it may come now. */
  back: boolean;
}

/** Which call an event at the end of one belongs to: the history says it by its order, and readers need not find out. */
export class CallAddresses {
  private readonly models = new Map<string, string>();
  private readonly tools = new Map<string, OpenTool[]>();

  /** Of several calls for one message the last one made it. */
  model({ path, turn }: CallModelInput, address: string): void {
    this.models.set(`${path.join('/')} ${turn}`, address);
  }

  cameBack({ path, tool, callId }: CallToolInput, activityId: string): void {
    // A tool that is entered again has the address of its first call with a number behind it.
    const open = this.tools
      .get(toolKey(path, tool, callId))
      ?.find(({ address }) => activityId === address || activityId.startsWith(`${address}.`));
    if (open !== undefined) open.back = true;
  }

  /** Takes a start, and tells the address for an end. */
  of(event: EventBody): string | undefined {
    switch (event.type) {
      case 'tool-start': {
        const key = toolKey(event.runPath, event.tool, event.callId);
        this.tools.set(key, [...(this.tools.get(key) ?? []), { address: event.address, back: false }]);
        return event.address;
      }
      case 'model-end': {
        const key = `${event.runPath.join('/')} ${event.turn}`;
        const address = this.models.get(key);
        this.models.delete(key);
        return address;
      }
      case 'tool-end': {
        const key = toolKey(event.runPath, event.tool, event.callId);
        const open = this.tools.get(key) ?? [];
        // A provider may give two calls of one message the same id: then the one that has come back is meant.
        const ended = open.find(({ back }) => back) ?? open[0];
        this.tools.set(
          key,
          open.filter((one) => one !== ended),
        );
        return ended?.address;
      }
      default:
        return undefined;
    }
  }
}

function toolKey(path: readonly string[], tool: string, callId: string): string {
  return `${path.join('/')} ${tool} ${callId}`;
}
