import type { Json } from '../../contract/messages/messages';
import type { ChildUsage } from '../../contract/usage';
import type { JournalEffect } from './journal-effect';

export interface LeftFrame {
  readonly effects: readonly JournalEffect[];
  /** Undefined: the kernel's code. */
  readonly label?: string;
  readonly notes?: Readonly<Record<string, Json>>;
}

export interface FailedChild {
  readonly id: string;
  readonly usage: ChildUsage;
}

/**
 * Records that errors left, until code goes on; a retry of the run begins from them. A kernel that waits for parallel calls has not gone
 * on; user code that asks for another effect has.
 */
export class Remains {
  private readonly left = new Map<string, LeftFrame>();
  private readonly lost = new Map<string, string>();
  private readonly cut = new Map<string, FailedChild>();
  /** Errors that user code got, without going on since. */
  private readonly fresh = new Map<string, Set<number>>();

  get frames(): ReadonlyMap<string, LeftFrame> {
    return this.left;
  }

  has(address: string): boolean {
    return this.left.has(address);
  }

  take(address: string, frame: LeftFrame): void {
    this.left.set(address, frame);
  }

  lose(address: string, why: string): void {
    this.lost.set(address, why);
  }

  cutOff(address: string, child: FailedChild): void {
    this.cut.set(address, child);
  }

  get failedChildren(): readonly FailedChild[] {
    return [...this.cut.values()];
  }

  get whyLost(): string | undefined {
    return this.lost.values().next().value;
  }

  get addresses(): readonly string[] {
    return [...new Set([...this.left.keys(), ...this.lost.keys(), ...this.cut.keys()])];
  }

  failed(address: string, n: number): void {
    const errors = this.fresh.get(address);
    if (errors === undefined) this.fresh.set(address, new Set([n]));
    else errors.add(n);
  }

  isFresh(address: string, n: number): boolean {
    return this.fresh.get(address)?.has(n) === true;
  }

  /** Observers do not count as going on. */
  goesOn(address: string, label: string | undefined): void {
    if (label === undefined || looksOn(label)) return;
    this.fresh.delete(address);
    this.forgetInside(address);
  }

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

export function looksOn(label: string): boolean {
  return label.startsWith('observer of ');
}
