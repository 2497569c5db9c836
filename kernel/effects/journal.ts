import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import type { Json } from '../../contract/messages/messages';
import type { JournalEffect } from './journal-effect';
import { Remains } from './remains';
import { SettleOrder, isInRace } from './settle-order';

interface OpenedEffect {
  readonly end: (error: unknown) => void;
  /** With an error: waiting code gets the error. */
  dropped?: { readonly error?: HoldfastError };
}

type OnTheirWay = Map<string, Map<number, string>>;

export type Notes = Readonly<Record<string, Readonly<Record<string, Json>>>>;

interface JournaledRun {
  /** `refusals`: the requests of this code that ended with a cancellation. */
  readonly halts: (refusals: number) => boolean;
  /** Called if a frame ends before code asks again for an effect from before the continue-as-new. */
  readonly leftOver: (address: string, n: number, kind: string) => void;
  readonly atRest: (act: () => void) => void;
}

export class Journal {
  private readonly frames = new Map<string, Map<number, JournalEffect>>();
  private readonly labels = new Map<string, string>();
  private readonly started: OnTheirWay = new Map();
  /** Open at the continue-as-new, and not asked for again. */
  private readonly awaited: OnTheirWay = new Map();
  private readonly beside = new Map<string, Set<number>>();
  readonly order: SettleOrder;
  private readonly notes = new Map<string, Map<string, Json>>();
  private readonly opened = new Map<string, Map<number, OpenedEffect>>();
  readonly remains = new Remains();
  private mismatch: HoldfastError | undefined;
  private branch: string | undefined;
  /** Frames that ended before their inner code. */
  private readonly left = new Set<string>();

  constructor(
    saved: Readonly<Record<string, readonly JournalEffect[]>> = {},
    notes: Notes = {},
    readonly run: JournaledRun,
  ) {
    this.order = new SettleOrder((address, n) => this.find(address, n) !== undefined, run.atRest);
    for (const [address, named] of Object.entries(notes)) this.notes.set(address, new Map(Object.entries(named)));
    for (const [address, effects] of Object.entries(saved)) {
      for (const effect of effects) {
        if ('open' in effect) {
          put(this.awaited, address, effect.n, effect.kind);
          if (effect.beside === true) this.mark(address, effect.n);
          continue;
        }
        this.keep(address, effect);
        if (effect.at !== undefined) this.order.restore(address, effect.n, { at: effect.at });
      }
    }
  }

  find(address: string, n: number): JournalEffect | undefined {
    return this.frames.get(address)?.get(n);
  }

  hasRace(address: string): boolean {
    return [...(this.frames.get(address)?.values() ?? [])].some(({ kind }) => kind === 'race');
  }

  /** Marks only the synchronous beginning of a branch; code after its first wait has no mark. */
  beginBranch<T>(address: string, begin: () => T): T {
    const around = this.branch;
    this.branch = address;
    try {
      return begin();
    } finally {
      this.branch = around;
    }
  }

  /** The branch whose code acts in the frame around the race, instead of through its `ctx`. */
  branchIn(address: string): string | undefined {
    return this.branch?.startsWith(`${address}/race`) === true ? this.branch : undefined;
  }

  leave(address: string): void {
    this.left.add(address);
  }

  isLeft(address: string): boolean {
    if (this.left.size === 0) return false;
    for (let end = address.length; end > 0; end = address.lastIndexOf('/', end - 1)) if (this.left.has(address.slice(0, end))) return true;
    return false;
  }

  open(address: string, n: number, end: (error: unknown) => void): void {
    put(this.opened, address, n, { end });
  }

  openedAt(address: string, n: number): OpenedEffect | undefined {
    return this.opened.get(address)?.get(n);
  }

  drop(address: string, error?: HoldfastError): void {
    this.dropAwaited((key) => key === address || key.startsWith(`${address}/`));
    if (this.opened.size === 0) return;
    for (const [key, effects] of [...this.opened]) {
      if (key !== address && !key.startsWith(`${address}/`)) continue;
      this.opened.delete(key);
      for (const opened of effects.values()) {
        opened.dropped = error === undefined ? {} : { error };
        opened.end(error);
      }
    }
  }

  private dropAwaited(isMeant: (key: string) => boolean): void {
    for (const [key, kinds] of this.awaited) if (isMeant(key)) for (const [n, kind] of kinds) this.run.leftOver(key, n, kind);
  }

  awaitedKind(address: string, n: number): string | undefined {
    return this.awaited.get(address)?.get(n);
  }

  asksForLess(address: string, count: number): boolean {
    return this.find(address, count) !== undefined || (this.awaited.get(address)?.size ?? 0) > 0;
  }

  /** Kept even if code caught the error. */
  get changed(): HoldfastError | undefined {
    return this.mismatch;
  }

  change(message: string): HoldfastError {
    const error = new HoldfastError('frame-changed', message);
    this.mismatch ??= error;
    return error;
  }

  /** An effect from before the continue-as-new that code has not asked for again. */
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
    const started = this.started.get(address);
    if (started !== undefined && started.size > 1) {
      this.mark(address, n);
      // With more than two, the earlier effects are marked already.
      if (started.size === 2) for (const one of started.keys()) this.mark(address, one);
    } else if (isInRace(address)) this.mark(address, n);
  }

  private mark(address: string, n: number): void {
    const marked = this.beside.get(address);
    if (marked === undefined) this.beside.set(address, new Set([n]));
    else marked.add(n);
  }

  /** Settles when code may get the end of an effect that ran beside others. Undefined: now. */
  turn(address: string, n: number): Promise<void> | undefined {
    return this.beside.get(address)?.has(n) === true ? this.order.turn(address, n) : undefined;
  }

  /** A result after the end of the frame is dropped. `wasAwaited`: code did not get the result at once. */
  settle(address: string, effect: JournalEffect, wasAwaited: boolean): void {
    this.ended(address, effect.n);
    if (this.started.get(address)?.delete(effect.n) !== true) return;
    if ('error' in effect) this.remains.failed(address, effect.n);
    const isBeside = this.beside.get(address)?.delete(effect.n) === true;
    this.keep(address, isBeside && wasAwaited ? { ...effect, ...this.order.next() } : effect);
  }

  ended(address: string, n: number): void {
    const effects = this.opened.get(address);
    if (effects?.delete(n) === true && effects.size === 0) this.opened.delete(address);
  }

  goesOn(address: string): void {
    if (!this.remains.isEmpty) this.remains.goesOn(address, this.labels.get(address));
  }

  keep(address: string, effect: JournalEffect): void {
    put(this.frames, address, effect.n, effect);
  }

  noteOf(address: string, name: string): Json | undefined {
    return this.notes.get(address)?.get(name);
  }

  note(address: string, name: string, value: Json): void {
    put(this.notes, address, name, value);
  }

  enter(address: string, label: string): void {
    this.labels.set(address, label);
  }

  close(address: string): void {
    this.remains.forget(address);
    this.leaveFrame(address);
  }

  closeInside(address: string): void {
    this.remains.forgetInside(address);
    this.deleteInside(address);
  }

  unwind(address: string): void {
    this.keepRemains(address);
    // Other notes may belong to a frame without effects.
    if (!this.remains.has(address)) this.remains.take(address, { effects: [] });
    this.leaveFrame(address);
  }

  unwindInside(address: string): void {
    this.keepRemains(`${address}/`);
    if (!this.remains.has(address)) this.remains.take(address, { effects: [] });
    this.deleteInside(address);
  }

  private keepRemains(from: string): void {
    const inside = from.endsWith('/') ? from : `${from}/`;
    const open = this.openEffects();
    for (const address of new Set([...this.frames.keys(), ...Object.keys(open)])) {
      if (address !== from && !address.startsWith(inside)) continue;
      const effects = [...(this.frames.get(address)?.values() ?? []), ...(open[address] ?? [])];
      const notes = this.notes.get(address);
      this.remains.take(address, {
        effects,
        ...defined({ label: this.labels.get(address), notes: notes === undefined ? undefined : Object.fromEntries(notes) }),
      });
    }
  }

  labelOf(address: string): string | undefined {
    return this.labels.get(address);
  }

  private leaveFrame(address: string): void {
    this.drop(address);
    for (const map of this.maps) map.delete(address);
    this.deleteInside(address);
  }

  private deleteInside(address: string): void {
    const inside = `${address}/`;
    this.dropAwaited((key) => key.startsWith(inside));
    for (const map of this.maps) {
      for (const key of map.keys()) if (key.startsWith(inside)) map.delete(key);
    }
  }

  private get maps(): readonly Map<string, unknown>[] {
    return [this.frames, this.labels, this.started, this.awaited, this.beside, this.notes];
  }

  get openLabels(): readonly string[] {
    return [...this.labels.values()];
  }

  toJSON(): Record<string, readonly JournalEffect[]> {
    const saved: Record<string, readonly JournalEffect[]> = {};
    for (const [address, effects] of this.frames) if (effects.size > 0) saved[address] = [...effects.values()];
    for (const [address, open] of Object.entries(this.openEffects())) saved[address] = [...(saved[address] ?? []), ...open];
    return saved;
  }

  private openEffects(): Record<string, readonly JournalEffect[]> {
    const effects: Record<string, readonly JournalEffect[]> = {};
    for (const map of [this.started, this.awaited]) {
      for (const [address, kinds] of map) {
        const beside = this.beside.get(address);
        const open = [...kinds].map(([n, kind]) => ({
          n,
          kind,
          open: true as const,
          ...(beside?.has(n) === true ? { beside: true as const } : {}),
        }));
        if (open.length > 0) effects[address] = [...(effects[address] ?? []), ...open];
      }
    }
    return effects;
  }

  get savedNotes(): Notes | undefined {
    if (this.notes.size === 0) return undefined;
    return Object.fromEntries([...this.notes].map(([address, named]) => [address, Object.fromEntries(named)]));
  }
}

function put<Key, Value>(map: Map<string, Map<Key, Value>>, address: string, key: Key, value: Value): void {
  const values = map.get(address);
  if (values === undefined) map.set(address, new Map([[key, value]]));
  else values.set(key, value);
}
