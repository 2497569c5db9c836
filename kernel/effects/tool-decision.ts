import { defined } from '../../contract/defined';
import type { Json, ToolCall } from '../../contract/messages/messages';
import type { Asked, AskedInTime } from '../../contract/who-may-answer';

export interface CallsBeside {
  readonly position: number;
  readonly tools: readonly string[];
}

export interface Decided {
  readonly hash: string | undefined;
  readonly options: string;
}

/** Keeps raw arguments, because a schema may parse parsed arguments differently. */
export interface HeldCall {
  readonly call: ToolCall;
  readonly raw: Json;
}

export type Pass = { readonly runs: true; readonly held: HeldCall } | { readonly runs: false; readonly output: Json };

export type AskAgain = (held: HeldCall) => Promise<Pass>;

interface Place {
  readonly layer: string;
  /** False: the layer asks only about changed arguments. */
  readonly isAsked: boolean;
  /** Empty: the arguments are not parsed yet. */
  readonly agreedTo: Decided[];
}

type Noted = 'told-of-edit';

interface Question extends Asked {
  readonly notBy?: readonly string[];
  readonly escalate?: Asked;
}

export interface DecisionNotes {
  read(name: Noted | 'deciders'): Json | undefined;
  keep(name: Noted | 'deciders', value: Json): void;
}

/** An approval binds everything inside the asking layer's call of `next`, and nothing outside. */
export class ToolDecision {
  private readonly asked = new Set<string>();
  private readonly holding = new Map<string, AskAgain>();
  isWithdrawn = false;
  /** By the address of `next`, outermost first. */
  private readonly handedOn = new Map<string, Place>();

  constructor(
    readonly act: (action: Json) => void,
    readonly beside: () => CallsBeside,
    private readonly notes: DecisionNotes,
  ) {}

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

  /** A person is excluded only if every question excludes the person. */
  get deciders(): Pick<AskedInTime, 'by' | 'roles' | 'notBy'> | undefined {
    return this.notes.read('deciders') as object | undefined;
  }

  holds(layer: string, ask: AskAgain): void {
    this.holding.set(layer, ask);
  }

  handsOn(layer: string, n: number): void {
    const isAsked = this.asked.has(layer);
    if (isAsked || this.holding.has(layer)) this.handedOn.set(`${layer}/next${n}`, { layer, isAsked, agreedTo: [] });
  }

  /** The first parsed call inside of `next` is the call that was handed on. */
  arrives(address: string, decided: () => Decided): void {
    for (const [at, { agreedTo }] of this.handedOn) if (agreedTo.length === 0 && isInside(address, at)) agreedTo.push(decided());
  }

  /** Innermost first. */
  boundAt(address: string): readonly (readonly Decided[])[] {
    const around = [...this.handedOn].filter(([at, { isAsked }]) => isAsked && isInside(address, at));
    return around.sort(([one], [other]) => other.length - one.length).map(([, { agreedTo }]) => agreedTo);
  }

  /** Without a call: about any other call. */
  isHeldAround(layer: string, call?: Decided): boolean {
    return this.around(layer).some(({ agreedTo }) => call === undefined || !agreesTo(agreedTo, call));
  }

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
