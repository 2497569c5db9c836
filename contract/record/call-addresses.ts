import type { EventBody } from '../events';
import type { CallModelInput, CallToolInput } from './wire';

interface OpenTool {
  readonly address: string;
  /** The first start. Repeated calls add an ordinal. */
  readonly first: string;
  /** The activity has ended, so the end event may follow. */
  back: boolean;
}

/** Finds the call of an end event by the order of the history. */
export class CallAddresses {
  private readonly models = new Map<string, string>();
  private readonly tools = new Map<string, OpenTool[]>();

  /** The last call for a message made the message. */
  model({ path, turn }: CallModelInput, address: string): void {
    this.models.set(`${path.join('/')} ${turn}`, address);
  }

  cameBack({ path, tool, callId }: CallToolInput, activityId: string): void {
    const open = this.tools.get(toolKey(path, tool, callId))?.find((one) => isCallOf(one, activityId));
    if (open !== undefined) open.back = true;
  }

  isAgain({ path, tool, callId }: Pick<CallToolInput, 'path' | 'tool' | 'callId'>, activityId: string): boolean {
    if (firstOf(activityId, tool) !== activityId) return true;
    return this.tools.get(toolKey(path, tool, callId))?.some((one) => isCallOf(one, activityId)) === true;
  }

  of(event: EventBody): string | undefined {
    switch (event.type) {
      case 'tool-start': {
        const key = toolKey(event.runPath, event.tool, event.callId);
        const open = this.tools.get(key) ?? [];
        const again = open.find((one) => isCallOf(one, event.address));
        const started = { address: event.address, first: firstOf(event.address, event.tool), back: false };
        this.tools.set(key, again === undefined ? [...open, started] : open.map((one) => (one === again ? started : one)));
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
        // A provider may give two calls one id: the finished call is meant.
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

/** After continue-as-new, readers may begin with a later call. */
function firstOf(address: string, tool: string): string {
  const place = address.slice(address.lastIndexOf('/') + 1);
  const [, ordinal] = place.startsWith(`${tool}.`) ? place.slice(tool.length + 1).split('.') : [];
  return ordinal === undefined ? address : address.slice(0, -ordinal.length - 1);
}

function isCallOf({ first }: OpenTool, address: string): boolean {
  return address === first || address.startsWith(`${first}.`);
}

function toolKey(path: readonly string[], tool: string, callId: string): string {
  return `${path.join('/')} ${tool} ${callId}`;
}
