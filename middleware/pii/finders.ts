import { cardReach, isGap, undecidedIn } from './cards';
import type { RunDetector } from './detectors';
import type { Span } from './spans';

/** The result does not depend on the cuts of the text. */
export interface Finder {
  feed(text: string): void;
  /** Places in the whole text that no later piece changes. */
  spans: Span[];
  spansAtEnd(): readonly Span[];
  /** From here on the text may become part of a match. */
  readonly held: number;
}

export class RunFinder implements Finder {
  spans: Span[] = [];
  protected run = '';
  protected before = '';

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
    this.position = start + text.length;
    this.keep(this.run + text.slice(from));
  }

  spansAtEnd(): readonly Span[] {
    return [...this.spans, ...this.found(this.run, this.held)];
  }

  protected found(run: string, at: number): readonly Span[] {
    return this.detector.find(run, this.before).map(({ start, end }) => ({ start: start + at, end: end + at }));
  }

  protected keep(run: string): void {
    this.run = run;
  }

  protected close(run: string, end: number): void {
    for (const span of this.found(run, end - run.length)) this.spans.push(span);
    this.run = '';
    this.before = '';
  }
}

export class CardFinder extends RunFinder {
  private nextLook = 4 * cardReach;

  override feed(text: string): void {
    super.feed(text);
    if (this.run.length >= this.nextLook) this.look();
  }

  protected override keep(run: string): void {
    let start = 0;
    while (start < run.length && isGap(run.charCodeAt(start))) start += 1;
    if (start > 0) this.before = '';
    this.run = run.slice(start);
  }

  protected override close(run: string, end: number): void {
    super.close(run, end);
    this.nextLook = 4 * cardReach;
  }

  private look(): void {
    const { held } = this;
    const undecided = held + undecidedIn(this.run);
    const found = this.found(this.run, held).filter(({ start }) => start < undecided);
    const cut = Math.max(undecided, found.at(-1)?.end ?? 0) - held;
    for (const span of found) this.spans.push(span);
    if (cut > 0) this.before = this.run[cut - 1] ?? '';
    this.keep(this.run.slice(cut));
    this.nextLook = Math.max(4 * cardReach, 2 * this.run.length);
  }
}
