import type { Finder } from './finders';
import { isWordUnit } from './signs';
import type { Span } from './spans';

type Step =
  | { readonly type: 'unit'; readonly has: (unit: number) => boolean; next: number }
  | { readonly type: 'split'; next: number; other: number }
  | { readonly type: 'boundary'; next: number }
  | { readonly type: 'done' };

type Build = (next: number) => number;

const mostSteps = 2000;
const token = /\\(?:x[\da-fA-F]{2}|u[\da-fA-F]{4}|[^])|\[(?:\\[^]|[^\]\\])*\]|\((?:\?[^]?)?|[^]/y;
const quantifier = /([*+?])|\{(\d+)(,?)(\d*)\}/y;

/** Searches from all places at once: a unit of text visits each step at most once. */
export class Pattern {
  private readonly steps: Step[] = [{ type: 'done' }];
  private readonly begin: number;
  private at = 0;

  constructor(
    private readonly text: string,
    private readonly ignoreCase: boolean,
  ) {
    new RegExp(text);
    this.begin = this.choice()(0);
    if (this.canEndFrom(this.begin)) throw new Error('it is found everywhere, also where there is nothing; let it take at least one sign');
  }

  finder(position: number): Finder {
    return new PatternFinder(this.steps, this.begin, position);
  }

  private choice(): Build {
    const options = [this.sequence()];
    while (this.text[this.at] === '|') {
      this.at += 1;
      options.push(this.sequence());
    }
    return (next) =>
      options.map((option) => option(next)).reduceRight((other, option) => this.push({ type: 'split', next: option, other }));
  }

  private sequence(): Build {
    const items: Build[] = [];
    while (this.at < this.text.length && !'|)'.includes(this.text[this.at] as string)) items.push(this.repeated(this.atom()));
    return (next) => items.reduceRight((after, item) => item(after), next);
  }

  private repeated(item: Build): Build {
    const [all, sign, low, comma, high] = this.taken(quantifier);
    if (all === undefined) return item;
    if (this.text[this.at] === '?') throw new Error('"?" behind a repetition is not known here');
    const least = sign === undefined ? Number(low) : sign === '+' ? 1 : 0;
    const most = sign === '?' ? 1 : comma === '' ? least : high ? Number(high) : Infinity;
    return (next) => {
      let at = next;
      if (most === Infinity) {
        const loop: Step = { type: 'split', next: 0, other: next };
        at = this.push(loop);
        loop.next = item(at);
      } else for (let times = least; times < most; times++) at = this.push({ type: 'split', next: item(at), other: next });
      for (let times = 0; times < least; times++) at = item(at);
      return at;
    };
  }

  private atom(): Build {
    const [sign = ''] = this.taken(token);
    if (sign === '(' || sign === '(?:') {
      const inner = this.choice();
      this.at += 1;
      return inner;
    }
    if (sign.startsWith('(')) throw new Error('it looks around, or names a group; only (…) and (?:…) are known here');
    if (sign === '^' || sign === '$')
      throw new Error(`"${sign}" is not known here: a pattern is looked for anywhere in a text. For the sign itself write \\${sign}`);
    if (sign === '\\b') return (next) => this.push({ type: 'boundary', next });
    if (/^\\[^\W_dDwWsStnrfv]$/.test(sign)) throw new Error(`${sign} is not known here`);
    const one = new RegExp(`^${sign}$`, this.ignoreCase ? 'i' : '');
    return (next) => this.push({ type: 'unit', has: (unit) => one.test(String.fromCharCode(unit)), next });
  }

  private taken(pattern: RegExp): readonly (string | undefined)[] {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text) ?? [];
    this.at += found[0]?.length ?? 0;
    return found;
  }

  private push(step: Step): number {
    if (this.steps.length >= mostSteps) throw new Error(`it has more than ${mostSteps} steps; let it repeat less`);
    return this.steps.push(step) - 1;
  }

  private canEndFrom(at: number, seen = new Set<number>()): boolean {
    const step = this.steps[at] as Step;
    if (step.type === 'done') return true;
    if (step.type === 'unit' || seen.has(at)) return false;
    seen.add(at);
    return this.canEndFrom(step.next, seen) || (step.type === 'split' && this.canEndFrom(step.other, seen));
  }
}

class PatternFinder implements Finder {
  spans: Span[] = [];
  private steps: readonly number[] = [];
  private starts: readonly number[] = [];
  private previous = -1;
  private readonly visited: Int32Array;
  private readonly open: number[] = [];

  constructor(
    private readonly all: readonly Step[],
    private readonly begin: number,
    private position: number,
  ) {
    this.visited = new Int32Array(all.length).fill(-1);
  }

  get held(): number {
    return this.starts[0] ?? this.position;
  }

  feed(text: string): void {
    for (let at = 0; at < text.length; at++) this.take(text.charCodeAt(at));
  }

  spansAtEnd(): readonly Span[] {
    const other = new PatternFinder(this.all, this.begin, this.position);
    [other.spans, other.steps, other.starts, other.previous] = [[...this.spans], this.steps, this.starts, this.previous];
    other.take(-1);
    return other.spans;
  }

  private take(unit: number): void {
    const { all, visited, open, position, steps, starts } = this;
    const isBorder = isWordUnit(this.previous) !== isWordUnit(unit);
    const nextSteps: number[] = [];
    const nextStarts: number[] = [];
    let matchedFrom = position;
    for (let way = 0; way <= steps.length; way++) {
      const start = starts[way] ?? position;
      open.push(steps[way] ?? this.begin);
      for (let at = open.pop(); at !== undefined; at = open.pop()) {
        if (visited[at] === position) continue;
        visited[at] = position;
        const step = all[at] as Step;
        if (step.type === 'done') matchedFrom = Math.min(matchedFrom, start);
        else if (step.type === 'split') open.push(step.other, step.next);
        else if (step.type === 'boundary') {
          if (isBorder) open.push(step.next);
        } else if (unit >= 0 && step.has(unit)) {
          nextSteps.push(step.next);
          nextStarts.push(start);
        }
      }
    }
    if (matchedFrom < position) addSpan(this.spans, matchedFrom, position);
    [this.steps, this.starts, this.previous] = [nextSteps, nextStarts, unit];
    this.position += 1;
  }
}

function addSpan(spans: Span[], start: number, end: number): void {
  let from = start;
  for (let last = spans.at(-1); last !== undefined && from < last.end; last = spans.at(-1)) {
    from = Math.min(from, last.start);
    spans.pop();
  }
  spans.push({ start: from, end });
}
