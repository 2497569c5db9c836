import { defined } from '../../contract/defined';
import type { Json, ToolCall } from '../../contract/messages/messages';
import type { Asked, AskedInTime } from '../../contract/who-may-answer';

export interface CallsBeside {
  readonly position: number;
  readonly tools: readonly string[];
}

/** What a person agreed to: the hash of the arguments, and the options as text. */
export interface Decided {
  readonly hash: string | undefined;
  readonly options: string;
}

/** A call as its layers see it, and its raw arguments, because a schema may parse parsed arguments differently. */
export interface HeldCall {
  readonly call: ToolCall;
  readonly raw: Json;
}

/** The word of people about a call: run the call with these arguments, or give this result. */
export type Pass = { readonly runs: true; readonly held: HeldCall } | { readonly runs: false; readonly output: Json };

/** Asks the people of a layer about changed arguments. */
export type AskAgain = (held: HeldCall) => Promise<Pass>;

/** A call of `next`. */
interface Place {
  readonly layer: string;
  /** A person was asked before. False: the layer asks only about changed arguments. */
  readonly isAsked: boolean;
  /** Empty: the arguments are not parsed yet. */
  readonly agreedTo: Decided[];
}

type Noted = 'told-of-edit';

/** The people of a question. `escalate`: additional people, later. */
interface Question extends Asked {
  readonly notBy?: readonly string[];
  readonly escalate?: Asked;
}

export interface DecisionNotes {
  read(name: Noted | 'deciders'): Json | undefined;
  keep(name: Noted | 'deciders', value: Json): void;
}

/**
 * State of one tool call: what people agreed to, its action, and parallel calls. Layers that asked a person are known by the address of their frame.
 * Such a layer binds everything inside of its call of `next`, and nothing outside.
 */
export class ToolDecision {
  private readonly asked = new Set<string>();
  private readonly holding = new Map<string, AskAgain>();
  /** Nobody answered the question about the call, so the call may not begin. */
  isWithdrawn = false;
  /** By the address of the call of `next`, outermost first. */
  private readonly handedOn = new Map<string, Place>();

  constructor(
    readonly act: (action: Json) => void,
    readonly beside: () => CallsBeside,
    private readonly notes: DecisionNotes,
  ) {}

  /** A person agreed to what this layer showed. */
  agreed(layer: string): void {
    this.asked.add(layer);
  }

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

  /** The people of all questions about the call. Only people excluded from every question are excluded. */
  get deciders(): Pick<AskedInTime, 'by' | 'roles' | 'notBy'> | undefined {
    return this.notes.read('deciders') as object | undefined;
  }

  holds(layer: string, ask: AskAgain): void {
    this.holding.set(layer, ask);
  }

  /** The layer calls `next` number n. */
  handsOn(layer: string, n: number): void {
    const isAsked = this.asked.has(layer);
    if (isAsked || this.holding.has(layer)) this.handedOn.set(`${layer}/next${n}`, { layer, isAsked, agreedTo: [] });
  }

  /** The call was parsed at this address. The first parsed call inside of a `next` is what was handed on. */
  arrives(address: string, decided: () => Decided): void {
    for (const [at, { agreedTo }] of this.handedOn) if (agreedTo.length === 0 && isInside(address, at)) agreedTo.push(decided());
  }

  /** What people agreed to on the way to this address, the last agreement first. */
  boundAt(address: string): readonly (readonly Decided[])[] {
    const around = [...this.handedOn].filter(([at, { isAsked }]) => isAsked && isInside(address, at));
    return around.sort(([one], [other]) => other.length - one.length).map(([, { agreedTo }]) => agreedTo);
  }

  /** Whether an outer layer has to be asked about a call. Without a call: about any other call. */
  isHeldAround(layer: string, call?: Decided): boolean {
    return this.around(layer).some(({ agreedTo }) => call === undefined || !agreesTo(agreedTo, call));
  }

  /** Asks outer layers until they and this layer agree to the same call. */
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

  /** The layers of a note, also from before a continue-as-new. */
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
