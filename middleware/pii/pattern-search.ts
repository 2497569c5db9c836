import type { Finder } from './finders';
import { withoutPast } from './finders';
import type { Node, UnitSet } from './pattern-syntax';
import { PatternProblem, canBeEmpty, parsePattern } from './pattern-syntax';
import { isWordUnit } from './signs';
import type { Span } from './spans';

/** One step of a pattern that was made into steps: take a unit, go two ways, look for a border of a word, or be done. */
type Step =
  | { readonly type: 'unit'; readonly has: (unit: number) => boolean; next: number }
  | { readonly type: 'split'; next: number; other: number }
  | { readonly type: 'boundary'; next: number }
  | { readonly type: 'done' };

const mostSteps = 2000;

/**
 * A pattern of one's own, looked for in all places at once: a text is read a single time, and each unit costs at most one visit of each
 * step, whatever the text is. What any match covers is found; matches that overlap are one.
 */
export class Pattern {
  private readonly steps: Step[] = [{ type: 'done' }];
  private readonly begin: number;

  constructor(text: string, ignoreCase: boolean) {
    const node = parsePattern(text);
    if (canBeEmpty(node)) throw new PatternProblem('it is found everywhere, also where there is nothing; let it take at least one sign');
    this.begin = this.add(node, 0, ignoreCase);
  }

  /** Looks for the pattern in a text that begins at that place. */
  finder(position: number): Finder {
    return new PatternFinder(this.steps, this.begin, position);
  }

  /** The step at which a node begins that goes on with `next`. */
  private add(node: Node, next: number, ignoreCase: boolean): number {
    switch (node.type) {
      case 'unit':
        return this.push({ type: 'unit', has: memberOf(node.set, ignoreCase), next });
      case 'boundary':
        return this.push({ type: 'boundary', next });
      case 'sequence':
        return node.items.reduceRight((after, item) => this.add(item, after, ignoreCase), next);
      case 'choice':
        return node.options
          .map((option) => this.add(option, next, ignoreCase))
          .reduceRight((other, option) => this.push({ type: 'split', next: option, other }));
      case 'repeat':
        return this.addRepeat(node, next, ignoreCase);
    }
  }

  private addRepeat({ item, least, most }: Node & { type: 'repeat' }, next: number, ignoreCase: boolean): number {
    let at = next;
    if (most === Infinity) {
      const loop: Step = { type: 'split', next: 0, other: next };
      at = this.push(loop);
      loop.next = this.add(item, at, ignoreCase);
    } else
      for (let times = least; times < most; times++) at = this.push({ type: 'split', next: this.add(item, at, ignoreCase), other: next });
    for (let times = 0; times < least; times++) at = this.add(item, at, ignoreCase);
    return at;
  }

  private push(step: Step): number {
    if (this.steps.length >= mostSteps) throw new PatternProblem(`it has more than ${mostSteps} steps; let it repeat less`);
    return this.steps.push(step) - 1;
  }
}

/** One way through the steps at a time for each of them, all side by side. */
class PatternFinder implements Finder {
  spans: Span[] = [];
  private steps: readonly number[] = [];
  /** Where each way began. They stand in that order: the first one is the earliest. */
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

  end(): void {
    this.take(-1);
  }

  forget(before: number): void {
    this.spans = withoutPast(this.spans, before);
  }

  fork(): Finder {
    const other = new PatternFinder(this.all, this.begin, this.position);
    [other.steps, other.starts, other.previous] = [this.steps, this.starts, this.previous];
    return other;
  }

  /** The next unit; -1 at the end, where nothing can be taken but a pattern may be done. */
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

/** Ends come in order; a match that begins inside of the last ones makes one of them all. */
function addSpan(spans: Span[], start: number, end: number): void {
  let from = start;
  for (let last = spans.at(-1); last !== undefined && from < last.end; last = spans.at(-1)) {
    from = Math.min(from, last.start);
    spans.pop();
  }
  spans.push({ start: from, end });
}

function memberOf({ ranges, isNegated }: UnitSet, ignoreCase: boolean): (unit: number) => boolean {
  const inRanges = (unit: number): boolean => ranges.some(([first, last]) => unit >= first && unit <= last);
  if (!ignoreCase) return (unit) => inRanges(unit) !== isNegated;
  return (unit) => {
    const sign = String.fromCharCode(unit);
    return (inRanges(sign.toLowerCase().charCodeAt(0)) || inRanges(sign.toUpperCase().charCodeAt(0))) !== isNegated;
  };
}
