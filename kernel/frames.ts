import { HoldfastError, codeOf, messageOf } from '../contract/plain/errors';
import { limits } from '../contract/plain/limits';
import type { Failure, Json } from '../contract/plain/messages';
import { notJson } from '../contract/plain/messages';
import { isCancellation } from './ports';

/** An effect of an open frame: settled, or on its way. Numbered in the order in which the frame asked for them. */
export type Effect = { readonly n: number; readonly kind: string } & (
  { readonly value?: unknown } | { readonly error: RecordedFailure } | { readonly open: true }
);

/** What a frame that is entered again is thrown at with. */
type RecordedFailure = Failure & { readonly details?: unknown };

/** A value, or the promise of one. */
export type Soon<T> = T | Promise<T>;

export function isPromise<T>(value: Soon<T>): value is Promise<T> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}

/** What whoever asked for an effect makes of its end, before anybody else hears of it. */
export interface Ending<T> {
  settled(value: T): T;
  /** The error instead. */
  refused(error: unknown): unknown;
}

const asItIs: Ending<never> = { settled: (value) => value, refused: (error) => error };

type OnTheirWay = Map<string, Map<number, string>>;

/** The effects of the frames that are open. A closed frame is its result, which stands in its parent's journal. */
export class Journal {
  private readonly frames = new Map<string, Effect[]>();
  private readonly open = new Map<string, string>();
  private readonly started: OnTheirWay = new Map();
  /** On their way when the run went over a border, and not asked for again since. */
  private readonly awaited: OnTheirWay = new Map();
  private mismatch: HoldfastError | undefined;

  constructor(saved: Readonly<Record<string, readonly Effect[]>> = {}) {
    for (const [address, effects] of Object.entries(saved)) {
      this.frames.set(
        address,
        effects.filter((effect) => !('open' in effect)),
      );
      for (const effect of effects) if ('open' in effect) put(this.awaited, address, effect.n, effect.kind);
    }
  }

  find(address: string, n: number): Effect | undefined {
    return this.frames.get(address)?.find((effect) => effect.n === n);
  }

  /** What the code asked for here before the border, when that has not settled. */
  awaitedKind(address: string, n: number): string | undefined {
    return this.awaited.get(address)?.get(n);
  }

  /** Whether the code asked before the border for something that it does not ask for now. */
  asksForLess(address: string, count: number): boolean {
    return this.find(address, count) !== undefined || (this.awaited.get(address)?.size ?? 0) > 0;
  }

  /** The first place where the code turned out to be another than before the border, also when something caught the error. */
  get changed(): HoldfastError | undefined {
    return this.mismatch;
  }

  /** The error for code that is not what it was before the border. */
  change(message: string): HoldfastError {
    const error = new HoldfastError('frame-changed', message);
    this.mismatch ??= error;
    return error;
  }

  /** Something that was on its way at the border in this frame or inside it, or anywhere, and that nobody asked for again. */
  forgotten(address?: string): HoldfastError | undefined {
    for (const [key, kinds] of this.awaited) {
      if (address !== undefined && key !== address && !key.startsWith(`${address}/`)) continue;
      for (const [n, kind] of kinds) return this.change(`The code at ${key} changed: effect ${n}, "${kind}", is not asked for any more.`);
    }
    return undefined;
  }

  start(address: string, n: number, kind: string): void {
    this.awaited.get(address)?.delete(n);
    put(this.started, address, n, kind);
  }

  /** What settles after its frame has closed is nobody's any more. */
  settle(address: string, effect: Effect): void {
    if (this.started.get(address)?.delete(effect.n) === true) this.keep(address, effect);
  }

  keep(address: string, effect: Effect): void {
    const effects = this.frames.get(address);
    if (effects === undefined) this.frames.set(address, [effect]);
    else effects.push(effect);
  }

  enter(address: string, label: string): void {
    this.open.set(address, label);
  }

  /** Forgets a frame and all frames inside it. */
  close(address: string): void {
    const inside = `${address}/`;
    for (const map of [this.frames, this.open, this.started, this.awaited]) {
      map.delete(address);
      for (const key of map.keys()) if (key.startsWith(inside)) map.delete(key);
    }
  }

  /** The innermost user code that is still open, for the message of a stalled run. */
  get openLabels(): readonly string[] {
    return [...this.open.values()];
  }

  toJSON(): Record<string, readonly Effect[]> {
    const saved: Record<string, readonly Effect[]> = {};
    for (const [address, effects] of this.frames) if (effects.length > 0) saved[address] = effects;
    for (const map of [this.started, this.awaited]) {
      for (const [address, kinds] of map) {
        const open = [...kinds].map(([n, kind]) => ({ n, kind, open: true as const }));
        if (open.length > 0) saved[address] = [...(saved[address] ?? []), ...open];
      }
    }
    return saved;
  }
}

function put(map: OnTheirWay, address: string, n: number, kind: string): void {
  const kinds = map.get(address);
  if (kinds === undefined) map.set(address, new Map([[n, kind]]));
  else kinds.set(n, kind);
}

/** Calls of one message, by the names that the agent has for their tools. */
export interface CallsBeside {
  readonly position: number;
  readonly tools: readonly string[];
}

/** What belongs to one tool call: arguments that a human agreed to, which no layer behind the one that asked may change, and its action. */
export interface ToolDecision {
  /** The frame of the layer that asked; what it hands on is what was decided. */
  by?: string;
  /** It has handed them on, and they are parsed next. */
  handedOn?: boolean;
  hash?: string;
  /** The options that the tool is to run with, as text: a layer behind may not change them either. */
  options?: string;
  /** Says what the event of the call is to carry. */
  readonly act?: (action: Json) => void;
  /** The calls of its message that the run makes, by tool, and which of them it is. */
  readonly beside?: () => CallsBeside;
}

/**
 * A call into code that can wait. Its effects are numbered; entered again after a border it gets the settled ones by number,
 * and an effect of another kind at a number is `frame-changed`.
 */
export class Frame {
  private count = 0;

  constructor(
    private readonly journal: Journal,
    readonly address: readonly string[],
    label?: string,
    /** What a human decided about the tool call that this frame belongs to. */
    readonly decision?: ToolDecision,
    /** The address as a text. */
    readonly key = address.join('/'),
  ) {
    if (label !== undefined) journal.enter(this.key, label);
  }

  child(name: string, label?: string, decision = this.decision): Frame {
    return new Frame(this.journal, [...this.address, name], label, decision, `${this.key}/${name}`);
  }

  /** The number that the next effect will have. */
  get next(): number {
    return this.count;
  }

  /**
   * An effect that waits. `run` is called once in the life of the frame, however often the frame is entered. Code may drop the promise
   * without bringing down the workflow task.
   */
  effect<T>(kind: string, run: (n: number) => Promise<T>, ending: Ending<T> = asItIs): Promise<T> {
    let value: Soon<T>;
    try {
      value = this.soon(kind, run, ending);
      return isPromise(value) ? Promise.resolve(value) : Promise.resolve(ending.settled(value));
    } catch (error) {
      // What is refused at once is refused by the promise too.
      const refused = Promise.reject<T>(ending.refused(error));
      handle(refused);
      return refused;
    }
  }

  /** An effect that may wait. What is there at once comes back as it is, and costs no promise. `ending` is asked about what comes later. */
  soon<T>(kind: string, run: (n: number) => Soon<T>, ending: Ending<T> = asItIs): Soon<T> {
    const n = this.count++;
    const settled = this.journal.find(this.key, n);
    if (settled !== undefined) return this.recalled<T>(settled, kind);
    this.checkAwaited(n, kind);
    this.journal.start(this.key, n, kind);
    const settle = (value: T): T => {
      this.journal.settle(this.key, { n, kind, value });
      return value;
    };
    const refuse = (error: unknown): unknown => {
      if (!isCancellation(error)) this.journal.settle(this.key, { n, kind, error: recordedFailure(error) });
      return error;
    };
    let value: Soon<T>;
    try {
      value = run(n);
    } catch (error) {
      throw refuse(error);
    }
    if (!isPromise(value)) return settle(value);
    const waiting: Promise<T> = value.then(
      (result) => ending.settled(settle(result)),
      (error: unknown) => {
        // Only here: a promise that is made for each effect, in case it fails, costs as much as the effect.
        handle(waiting);
        throw ending.refused(refuse(error));
      },
    );
    return waiting;
  }

  /** An effect that does not wait, such as an event or a value that is set. */
  once<T>(kind: string, run: () => T): T {
    const n = this.count++;
    const settled = this.journal.find(this.key, n);
    if (settled !== undefined) return this.recalled<T>(settled, kind);
    this.checkAwaited(n, kind);
    const value = run();
    this.journal.keep(this.key, { n, kind, value });
    return value;
  }

  close(): void {
    if (this.journal.asksForLess(this.key, this.count)) {
      throw this.journal.change(`The code at ${this.key} changed: it asked for ${this.count} effects, and more are recorded.`);
    }
    this.journal.forgotten(this.key);
    this.journal.close(this.key);
  }

  /** Leaves the frame after an error: what is recorded there no longer matters. */
  abandon(): void {
    this.journal.forgotten(this.key);
    this.journal.close(this.key);
  }

  private recalled<T>(settled: Effect, kind: string): T {
    if (settled.kind !== kind) throw this.changed(settled.n, settled.kind, kind);
    if ('error' in settled) throw errorOf(settled.error);
    return (settled as { value?: unknown }).value as T;
  }

  private checkAwaited(n: number, kind: string): void {
    const awaited = this.journal.awaitedKind(this.key, n);
    if (awaited !== undefined && awaited !== kind) throw this.changed(n, awaited, kind);
  }

  private changed(n: number, was: string, is: string): HoldfastError {
    return this.journal.change(`The code at ${this.key} changed: effect ${n} was "${was}" and is now "${is}".`);
  }
}

function handle(promise: Promise<unknown>): void {
  promise.catch(() => undefined);
}

export function failureOf(error: unknown): Failure {
  return { code: codeOf(error) ?? 'run-failed', message: messageOf(error).slice(0, limits.errorMessage) };
}

export function errorOf(failure: RecordedFailure): HoldfastError {
  const { details } = failure;
  return new HoldfastError(codeOf(failure) ?? 'run-failed', failure.message, details === undefined ? {} : { details });
}

function recordedFailure(error: unknown): RecordedFailure {
  const { details } = (codeOf(error) === undefined ? {} : error) as { details?: unknown };
  return details === undefined || notJson(details) !== undefined ? failureOf(error) : { ...failureOf(error), details };
}
