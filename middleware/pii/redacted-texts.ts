import type { Replacer, RuleFinder } from './replacer';
import type { Rule } from './rules';
import type { Span } from './spans';

export interface Piece {
  readonly of: number;
  readonly text: string;
}

/** Searches pieces as one text and each text alone. Possible parts of a match are held back. */
export class RedactedTexts {
  readonly changed = new Set<number>();
  private readonly joined: readonly RuleFinder[];
  private alone: readonly RuleFinder[] | undefined;
  private found: readonly Found[] = [];
  private readonly starts = [0];
  private of = 0;
  private base = 0;
  private raw = '';

  constructor(
    private readonly replacer: Replacer,
    context = '',
  ) {
    this.joined = replacer.finders(0);
    this.feed(context);
    this.base = context.length;
    this.raw = '';
  }

  push(text: string): readonly Piece[] {
    this.feed(text);
    return this.take(false);
  }

  next(): string {
    const finders = this.alone ?? this.joined;
    const held = Math.max(this.base, this.starts.at(-1) ?? 0, Math.min(this.position, ...finders.map(({ finder }) => finder.held)));
    this.found = [...this.found, ...foundBy(finders, true)];
    this.alone = this.replacer.finders(this.position);
    this.starts.push(this.position);
    return this.raw.slice(held - this.base);
  }

  end(): readonly Piece[] {
    return this.take(true);
  }

  private get position(): number {
    return this.base + this.raw.length;
  }

  private feed(text: string): void {
    this.raw += text;
    for (const { finder } of this.joined) finder.feed(text);
    for (const { finder } of this.alone ?? []) finder.feed(text);
  }

  private take(isWhole: boolean): readonly Piece[] {
    const finders = [...this.joined, ...(this.alone ?? [])];
    let end = isWhole ? this.position : this.beforePair(Math.min(this.position, ...finders.map(({ finder }) => finder.held)));
    if (end <= this.base) return [];
    const found = withoutOverlap([...this.found, ...foundBy(finders, isWhole)].map((one) => this.widened(one)));
    for (const span of found) if (span.start < end && span.end > end) end = span.start;
    if (end <= this.base) return [];
    const pieces = this.replaced(found, end);
    this.raw = this.raw.slice(end - this.base);
    this.base = end;
    this.found = this.found.filter((span) => span.end > end);
    for (const { finder } of finders) finder.spans = finder.spans.filter((span) => span.end > end);
    return pieces;
  }

  private replaced(found: readonly Found[], until: number): readonly Piece[] {
    const pieces: Piece[] = [];
    let at = this.base;
    const plain = (end: number): void => {
      while (at < end) {
        const next = Math.min(end, this.starts[this.goTo(at) + 1] ?? end);
        pieces.push({ of: this.of, text: this.between(at, next) });
        at = next;
      }
    };
    for (const { start, end, rule } of found) {
      if (end > until) break;
      plain(start);
      pieces.push({ of: this.goTo(start), text: this.replacer.instead(this.between(start, end), rule) });
      for (let of = this.of; (this.starts[of] ?? end) < end; of++) this.changed.add(of);
      at = end;
    }
    plain(until);
    return pieces;
  }

  private between(start: number, end: number): string {
    return this.raw.slice(start - this.base, end - this.base);
  }

  private goTo(place: number): number {
    while ((this.starts[this.of + 1] ?? Infinity) <= place) this.of += 1;
    return this.of;
  }

  private beforePair(end: number): number {
    return isHigh(this.raw.charCodeAt(end - 1 - this.base)) ? end - 1 : end;
  }

  private widened<One extends Span>(span: One): One {
    const start = Math.max(span.start, this.base);
    const first = start - this.base;
    const last = span.end - this.base;
    const isCutBefore = isLow(this.raw.charCodeAt(first)) && isHigh(this.raw.charCodeAt(first - 1));
    const isCutBehind = isHigh(this.raw.charCodeAt(last - 1)) && isLow(this.raw.charCodeAt(last));
    return { ...span, start: isCutBefore ? start - 1 : start, end: isCutBehind ? span.end + 1 : span.end };
  }
}

function foundBy(finders: readonly RuleFinder[], isWhole: boolean): readonly Found[] {
  return finders.flatMap(({ rule, finder }) => (isWhole ? finder.spansAtEnd() : finder.spans).map((span) => ({ ...span, rule })));
}

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

interface Found extends Span {
  readonly rule: Rule;
}

function withoutOverlap(found: readonly Found[]): readonly Found[] {
  const ordered = [...found].sort((one, other) => one.start - other.start || other.end - one.end);
  const apart: Found[] = [];
  for (const span of ordered) {
    const last = apart.at(-1);
    if (last === undefined || span.start >= last.end) apart.push(span);
    else if (span.end > last.end) apart[apart.length - 1] = { ...last, end: span.end };
  }
  return apart;
}
