/** Random choices that follow from a text. */
export class Random {
  private state: number;

  constructor(seed: string) {
    // FNV-1a over the text, then mulberry32.
    let hash = 0x811c9dc5;
    for (const character of seed) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
    this.state = hash >>> 0;
  }

  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  below(bound: number): number {
    return Math.floor(this.next() * bound);
  }

  of<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new Error('There is nothing to choose from.');
    return item;
  }

  weighted<T>(items: readonly (readonly [number, T])[]): T {
    let left = this.next() * items.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, item] of items) {
      left -= weight;
      if (left < 0) return item;
    }
    return this.of(items.map(([, item]) => item));
  }

  list<T>(length: number, make: (position: number) => T): readonly T[] {
    return Array.from({ length }, (_, position) => make(position));
  }
}
