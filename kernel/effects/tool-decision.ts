import { defined } from '../../contract/defined';
import type { Json, ToolCall } from '../../contract/messages/messages';
import type { Asked, AskedInTime } from '../../contract/who-may-answer';

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

/** A call as its layers see it, and the arguments as they are handed on: a schema may read what it has read as something else. */
export interface HeldCall {
  readonly call: ToolCall;
  readonly raw: Json;
}

/** What people say about a call: it runs with these arguments, or has a result without running. */
export type Pass = { readonly runs: true; readonly held: HeldCall } | { readonly runs: false; readonly output: Json };

/** Asks the people of a layer about other arguments than those that it let pass. */
export type AskAgain = (held: HeldCall) => Promise<Pass>;

/** A call of `next`. */
interface Place {
  readonly layer: string;
  /** A person was asked before it. Otherwise the layer only would have asked about other arguments. */
  readonly isAsked: boolean;
  /** None: the arguments are not parsed yet. */
  readonly agreedTo: Decided[];
}

/** The layers that have told the model of an edit. */
type Noted = 'told-of-edit';

/** Whom a question asks. `escalate`: these as well, after a time. */
interface Question extends Asked {
  readonly notBy?: readonly string[];
  readonly escalate?: Asked;
}

/** What is kept as long as the call. */
export interface DecisionNotes {
  read(name: Noted | 'deciders'): Json | undefined;
  keep(name: Noted | 'deciders', value: Json): void;
}

/**
 * What belongs to one tool call: the arguments that people agreed to, its action, and the calls beside it. Layers that asked a person are known
 * by the addresses of their frames. What such a layer hands on binds everything inside of that call of `next`, and nothing outside.
 */
export class ToolDecision {
  private readonly asked = new Set<string>();
  private readonly holding = new Map<string, AskAgain>();
  /** Nobody answered what was asked about the call: it may not begin any more, whatever a layer makes of that. */
  isWithdrawn = false;
  /** By the address of the call of `next`, outermost first. */
  private readonly handedOn = new Map<string, Place>();

  constructor(
    /** Sets what the event of the call is to carry. */
    readonly act: (action: Json) => void,
    /** The calls of its message that the run makes, by tool, and which of them it is. */
    readonly beside: () => CallsBeside,
    private readonly notes: DecisionNotes,
  ) {}

  /** A person has agreed to what this layer showed. */
  agreed(layer: string): void {
    this.asked.add(layer);
  }

  /** A question about the call has its answer. */
  decided({ by, roles, notBy, escalate }: Question): void {
    const before = this.deciders;
    const later = by === undefined && roles === undefined ? undefined : escalate;
    const deciders = {
      by: joined(before?.by, by, later?.by),
      roles: joined(before?.roles, roles, later?.roles),
      notBy: before === undefined ? notBy : before.notBy?.filter((name) => notBy?.includes(name)),
    };
    this.notes.keep('deciders', defined(deciders));
  }

  /** The people of all questions about the call so far. Only who was excluded from each question is excluded here. */
  get deciders(): Pick<AskedInTime, 'by' | 'roles' | 'notBy'> | undefined {
    return this.notes.read('deciders') as object | undefined;
  }

  /** This layer can ask again. */
  holds(layer: string, ask: AskAgain): void {
    this.holding.set(layer, ask);
  }

  /** The layer calls `next`, with this number. What arrives there is what the person agreed to, if one was asked. */
  handsOn(layer: string, n: number): void {
    const isAsked = this.asked.has(layer);
    if (isAsked || this.holding.has(layer)) this.handedOn.set(`${layer}/next${n}`, { layer, isAsked, agreedTo: [] });
  }

  /** The call has been parsed at this address. The first one inside of a call of `next` has what was handed on. */
  arrives(address: string, decided: () => Decided): void {
    for (const [at, { agreedTo }] of this.handedOn) if (agreedTo.length === 0 && isInside(address, at)) agreedTo.push(decided());
  }

  /** What the people agreed to who were asked on the way to this address, those who were asked last first. */
  boundAt(address: string): readonly (readonly Decided[])[] {
    const around = [...this.handedOn].filter(([at, { isAsked }]) => isAsked && isInside(address, at));
    return around.sort(([one], [other]) => other.length - one.length).map(([, { agreedTo }]) => agreedTo);
  }

  /** Whether somebody around this layer would have to be asked about a call. Without one: about any other call than they agreed to. */
  isHeldAround(layer: string, call?: Decided): boolean {
    return this.around(layer).some(({ agreedTo }) => call === undefined || !agreesTo(agreedTo, call));
  }

  /** Asks all around a layer who have not agreed to the call, until they, and the layer itself, agree to the same. */
  async askAround(layer: string, held: HeldCall, ask: AskAgain, decidedOf: (call: ToolCall) => Decided): Promise<Pass> {
    const own: Decided[] = [decidedOf(held.call)];
    const all = [...this.around(layer), { agreedTo: own, ask }];
    let last = held;
    for (;;) {
      const next = all.find(({ agreedTo }) => !agreesTo(agreedTo, decidedOf(last.call)));
      if (next === undefined) return { runs: true, held: last };
      const pass = await next.ask(last);
      if (!pass.runs) return pass;
      last = pass.held;
      next.agreedTo.push(decidedOf(last.call));
    }
  }

  note(name: Noted, layer: string): void {
    const before = this.noted(name);
    if (!before.includes(layer)) this.notes.keep(name, [...before, layer]);
  }

  /** The layers of a note, also of before a continue-as-new. */
  noted(name: Noted): readonly string[] {
    return (this.notes.read(name) ?? []) as readonly string[];
  }

  private around(layer: string): readonly { readonly agreedTo: Decided[]; readonly ask: AskAgain }[] {
    return [...this.handedOn].flatMap(([at, { layer: of, agreedTo }]) => {
      const ask = isInside(layer, at) ? this.holding.get(of) : undefined;
      return ask === undefined ? [] : [{ agreedTo, ask }];
    });
  }
}

function joined(...lists: readonly (readonly string[] | undefined)[]): readonly string[] | undefined {
  const all = new Set(lists.flatMap((list) => list ?? []));
  return all.size === 0 ? undefined : [...all];
}

export function agreesTo(agreedTo: readonly Decided[], { hash, options }: Decided): boolean {
  return agreedTo.some((one) => one.hash === undefined || (one.hash === hash && one.options === options));
}

function isInside(address: string, place: string): boolean {
  return address === place || address.startsWith(`${place}/`);
}
