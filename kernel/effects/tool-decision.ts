import type { Json } from '../../contract/messages/messages';

/** Calls of one message, by the names that the agent has for their tools. */
export interface CallsBeside {
  /** Which of them is the call that is wrapped. */
  readonly position: number;
  readonly tools: readonly string[];
}

/** What a person agreed to: the hash of the arguments, and the options as text. */
export interface Decided {
  readonly hash: string | undefined;
  readonly options: string;
}

/**
 * What belongs to one tool call: the arguments that people agreed to, its action, and the calls beside it. Layers that asked a person are known
 * by the addresses of their frames. What such a layer hands on binds everything inside of that call of `next`, and nothing outside.
 */
export class ToolDecision {
  private readonly asked = new Set<string>();
  /** By the address of the call of `next`. Undefined: the arguments are not parsed yet. */
  private readonly handedOn = new Map<string, Decided | undefined>();

  constructor(
    /** Sets what the event of the call is to carry. */
    readonly act: (action: Json) => void,
    /** The calls of its message that the run makes, by tool, and which of them it is. */
    readonly beside: () => CallsBeside,
  ) {}

  /** A person has agreed to what this layer showed. */
  agreed(layer: string): void {
    this.asked.add(layer);
  }

  /** The layer calls `next`, with this number. What arrives there is what the person agreed to, if one was asked. */
  handsOn(layer: string, n: number): void {
    if (this.asked.has(layer)) this.handedOn.set(`${layer}/next${n}`, undefined);
  }

  /** The call has been parsed at this address. The first one inside of a call of `next` has what was handed on. */
  arrives(address: string, decided: () => Decided): void {
    for (const [place, before] of this.handedOn) if (before === undefined && isInside(address, place)) this.handedOn.set(place, decided());
  }

  /** What the person agreed to who was asked last on the way to this address. */
  boundAt(address: string): Decided | undefined {
    let innermost = '';
    for (const place of this.handedOn.keys()) if (isInside(address, place) && place.length > innermost.length) innermost = place;
    return this.handedOn.get(innermost);
  }
}

function isInside(address: string, place: string): boolean {
  return address === place || address.startsWith(`${place}/`);
}
