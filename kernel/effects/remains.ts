import type { Json } from '../../contract/messages/messages';
import type { ChildUsage } from '../../contract/usage';
import type { JournalEffect } from './journal';

/** A frame that an error left, as it stood. */
export interface LeftFrame {
  readonly effects: readonly JournalEffect[];
  /** Whose code it was. Undefined of frames of the kernel. */
  readonly label?: string;
  readonly notes?: Readonly<Record<string, Json>>;
}

/** An isolated agent that failed, with what it had used by then. */
export interface FailedChild {
  readonly id: string;
  readonly usage: ChildUsage;
}

/**
 * What errors left behind on their way out, until code goes on behind them. When nobody catches an error, the run is entered again from here
 * when it is tried again. A kernel that waits for calls beside a failed one has not gone on; code of users that asks for something else has.
 */
export class Remains {
  private readonly left = new Map<string, LeftFrame>();
  private readonly lost = new Map<string, string>();
  private readonly cut = new Map<string, FailedChild>();
  /** Errors that code of users was given, and that it has not gone on behind. */
  private readonly fresh = new Map<string, Set<number>>();

  /** Frames that were left, by address. */
  get frames(): ReadonlyMap<string, LeftFrame> {
    return this.left;
  }

  has(address: string): boolean {
    return this.left.has(address);
  }

  take(address: string, frame: LeftFrame): void {
    this.left.set(address, frame);
  }

  /** What was inside of this frame cannot be entered again. */
  lose(address: string, why: string): void {
    this.lost.set(address, why);
  }

  /** The isolated agent of this frame goes on where it failed. */
  cutOff(address: string, child: FailedChild): void {
    this.cut.set(address, child);
  }

  get failedChildren(): readonly FailedChild[] {
    return [...this.cut.values()];
  }

  /** Why nothing can be entered again. Undefined: it can. */
  get whyLost(): string | undefined {
    return this.lost.values().next().value;
  }

  /** Frames that a continue-as-new loses: it takes only along what is open. */
  get addresses(): readonly string[] {
    return [...new Set([...this.left.keys(), ...this.lost.keys(), ...this.cut.keys()])];
  }

  failed(address: string, n: number): void {
    const errors = this.fresh.get(address);
    if (errors === undefined) this.fresh.set(address, new Set([n]));
    else errors.add(n);
  }

  /** Whether an error is the last that this code heard. */
  isFresh(address: string, n: number): boolean {
    return this.fresh.get(address)?.has(n) === true;
  }

  /** Code asks for something else. Whatever failed inside of it before is no matter any more, unless it only looks on. */
  goesOn(address: string, label: string | undefined): void {
    if (label === undefined || looksOn(label)) return;
    this.fresh.delete(address);
    this.forgetInside(address);
  }

  /** The frame has ended. */
  forget(address: string): void {
    if (this.isEmpty) return;
    for (const map of this.maps) map.delete(address);
    this.forgetInside(address);
  }

  forgetInside(address: string): void {
    if (this.isEmpty) return;
    const inside = `${address}/`;
    for (const map of this.maps) for (const key of map.keys()) if (key.startsWith(inside)) map.delete(key);
  }

  get isEmpty(): boolean {
    return this.maps.every(({ size }) => size === 0);
  }

  private get maps(): readonly Map<string, unknown>[] {
    return [this.left, this.lost, this.cut, this.fresh];
  }
}

/** Observers are told of an error, and change nothing about it. */
export function looksOn(label: string): boolean {
  return label.startsWith('observer of ');
}
