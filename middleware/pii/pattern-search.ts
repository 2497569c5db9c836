import type { Node, UnitSet } from './pattern-syntax';
import { PatternProblem, canBeEmpty, parsePattern } from './pattern-syntax';
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

  /** Matches, and from where on the text may still become part of one when more of it comes. `before`: the sign before the text. */
  search(text: string, before: string, isWhole: boolean): { readonly spans: readonly Span[]; readonly held: number } {
    const spans: Span[] = [];
    let steps: readonly number[] = [];
    let starts: readonly number[] = [];
    const visited = new Int32Array(this.steps.length).fill(-1);
    for (let position = 0; ; position++) {
      const atEnd = position === text.length;
      // Threads stand in the order in which they began: the first one is the earliest.
      if (atEnd && !isWhole) return { spans, held: starts[0] ?? text.length };
      const unit = atEnd ? -1 : text.charCodeAt(position);
      const previous = position > 0 ? text.charCodeAt(position - 1) : before === '' ? -1 : before.charCodeAt(before.length - 1);
      const isBorder = isWord(previous) !== isWord(unit);
      const nextSteps: number[] = [];
      const nextStarts: number[] = [];
      let matchedFrom = -1;
      const follow = (from: number, start: number): void => {
        const open = [from];
        for (let at = open.pop(); at !== undefined; at = open.pop()) {
          if (visited[at] === position) continue;
          visited[at] = position;
          const step = this.steps[at] as Step;
          if (step.type === 'done') {
            if (matchedFrom < 0 || start < matchedFrom) matchedFrom = start;
          } else if (step.type === 'split') open.push(step.other, step.next);
          else if (step.type === 'boundary') {
            if (isBorder) open.push(step.next);
          } else if (!atEnd && step.has(unit)) {
            nextSteps.push(step.next);
            nextStarts.push(start);
          }
        }
      };
      steps.forEach((step, index) => follow(step, starts[index] ?? position));
      follow(this.begin, position);
      if (matchedFrom >= 0 && matchedFrom < position) addSpan(spans, matchedFrom, position);
      if (atEnd) return { spans, held: text.length };
      steps = nextSteps;
      starts = nextStarts;
    }
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

function isWord(unit: number): boolean {
  return (unit >= 48 && unit <= 57) || (unit >= 65 && unit <= 90) || unit === 95 || (unit >= 97 && unit <= 122);
}
