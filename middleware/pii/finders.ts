import { cardReach, cardsIn, isCardUnit, isGap, undecidedIn } from './cards';
import type { RunDetector } from './detectors';
import type { Span } from './spans';

/** Looks for one thing in a text that comes in pieces. What it finds does not depend on how the text is cut. */
export interface Finder {
  feed(text: string): void;
  /** Nothing more comes. */
  end(): void;
  /** What is found for sure, by places in the whole text. */
  readonly spans: readonly Span[];
  /** From where on the text may still become part of a match. */
  readonly held: number;
  /** What ends before this place is asked for no more. */
  forget(before: number): void;
  /** One that has seen the same, to go another way. */
  fork(): Finder;
}

/** For what lies inside of a run of some signs: each run is looked at once, when it is over. */
export class RunFinder implements Finder {
  spans: Span[] = [];
  private run = '';

  constructor(
    private readonly detector: RunDetector,
    private position: number,
  ) {}

  get held(): number {
    return this.position - this.run.length;
  }

  feed(text: string): void {
    const start = this.position;
    let from = 0;
    for (let at = 0; at < text.length; at++) {
      if (this.detector.isPart(text.charCodeAt(at))) continue;
      if (at > from || this.run !== '') this.close(this.run + text.slice(from, at), start + at);
      from = at + 1;
    }
    this.run += text.slice(from);
    this.position = start + text.length;
  }

  end(): void {
    this.close(this.run, this.position);
  }

  forget(before: number): void {
    this.spans = withoutPast(this.spans, before);
  }

  fork(): Finder {
    const other = new RunFinder(this.detector, this.position);
    other.run = this.run;
    return other;
  }

  private close(run: string, end: number): void {
    this.run = '';
    addMoved(this.spans, this.detector.find(run, ''), end - run.length);
  }
}

/** For numbers of cards: a run of digits and gaps is looked at when it is over, a long one also before. */
export class CardFinder implements Finder {
  spans: Span[] = [];
  private run = '';
  private before = '';
  private nextLook = 4 * cardReach;

  constructor(private position: number) {}

  get held(): number {
    return this.position - this.run.length;
  }

  feed(text: string): void {
    const start = this.position;
    let from = 0;
    for (let at = 0; at < text.length; at++) {
      if (isCardUnit(text.charCodeAt(at))) continue;
      if (at > from || this.run !== '') this.close(this.run + text.slice(from, at), start + at);
      from = at + 1;
    }
    this.position = start + text.length;
    this.keep(this.run + text.slice(from));
    if (this.run.length >= this.nextLook) this.look();
  }

  end(): void {
    this.close(this.run, this.position);
  }

  forget(before: number): void {
    this.spans = withoutPast(this.spans, before);
  }

  fork(): Finder {
    const other = new CardFinder(this.position);
    other.keep(this.run);
    other.before = this.before;
    return other;
  }

  private keep(run: string): void {
    let start = 0;
    while (start < run.length && isGap(run.charCodeAt(start))) start += 1;
    if (start > 0) this.before = '';
    this.run = run.slice(start);
  }

  private close(run: string, end: number): void {
    addMoved(this.spans, cardsIn(run, this.before), end - run.length);
    this.run = '';
    this.before = '';
    this.nextLook = 4 * cardReach;
  }

  /** Lets go of what is decided. */
  private look(): void {
    const undecided = undecidedIn(this.run);
    const found = cardsIn(this.run, this.before).filter(({ start }) => start < undecided);
    const cut = Math.max(undecided, found.at(-1)?.end ?? 0);
    addMoved(this.spans, found, this.held);
    if (cut > 0) this.before = this.run[cut - 1] ?? '';
    this.keep(this.run.slice(cut));
    this.nextLook = Math.max(4 * cardReach, 2 * this.run.length);
  }
}

function addMoved(spans: Span[], found: readonly Span[], by: number): void {
  for (const { start, end } of found) spans.push({ start: start + by, end: end + by });
}

export function withoutPast(spans: Span[], before: number): Span[] {
  return spans.length === 0 ? spans : spans.filter(({ end }) => end > before);
}
