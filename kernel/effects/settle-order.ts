import { defined } from '../../contract/defined';

/** Where an effect stands among those that were on their way at the same time in one piece of code. */
export interface Turn {
  /** The position of its end among all ends of the run. */
  readonly at: number;
  /** How many microtasks after the end before it. Absent: more than code takes to act on an end. */
  readonly gap?: number;
}

interface DueTurn extends Turn {
  readonly address: string;
  readonly n: number;
  /** Hands it out. Absent: nobody has asked for it yet. */
  hand?: () => void;
}

interface Line {
  due: DueTurn[];
  /** Microtasks since something was asked for or handed out, and since the last one was handed out. */
  quiet: number;
  since: number;
  runs: boolean;
}

/** In so many microtasks code has acted on what it was given, however many functions hand that on. */
const mostTurns = 100;

const soon = Promise.resolve();

/**
 * Keeps the order in which effects end that one piece of code waits for at the same time. Entered again, the code is given them in that
 * order, each when it has acted on the one before. What it does not ask for any more holds up nothing.
 */
export class SettleOrder {
  private readonly lines = new Map<string, Line>();
  private readonly clocks = new Map<string, { ticks: number }>();
  private count = 0;

  constructor(private readonly isRecorded: (address: string, n: number) => boolean) {}

  /** An end from before the continue-as-new. */
  restore(address: string, n: number, { at, gap }: Turn): void {
    this.count = Math.max(this.count, at + 1);
    const due: DueTurn = { address, n, at, ...defined({ gap }) };
    const line = this.lines.get(lineOf(address));
    if (line === undefined) this.lines.set(lineOf(address), { due: [due], quiet: 0, since: mostTurns, runs: false });
    else line.due.push(due);
  }

  restored(): void {
    for (const { due } of this.lines.values()) due.sort((one, other) => one.at - other.at);
  }

  /** The turn of an effect that ends now. */
  next(address: string): Turn {
    const name = lineOf(address);
    const before = this.clocks.get(name);
    const clock = { ticks: 0 };
    this.clocks.set(name, clock);
    const tick = (): void => {
      if (this.clocks.get(name) !== clock) return;
      if (++clock.ticks < mostTurns) void soon.then(tick);
      else this.clocks.delete(name);
    };
    void soon.then(tick);
    return { at: this.count++, ...(before === undefined ? {} : { gap: before.ticks }) };
  }

  /** Whether something of this code is still to be handed out. */
  isBehind(address: string): boolean {
    return this.lines.size > 0 && this.lines.has(lineOf(address));
  }

  /** Hands out a recorded end at its turn. False: it has none, or that is over. */
  handOut(address: string, n: number, hand: () => void): boolean {
    const line = this.lines.get(lineOf(address));
    const due = line?.due.find((one) => one.n === n && one.address === address);
    if (line === undefined || due === undefined) return false;
    due.hand = hand;
    this.asked(lineOf(address), line);
    return true;
  }

  /** Settles when everything from before the continue-as-new has been handed out. */
  caughtUp(address: string): Promise<void> {
    const line = this.lines.get(lineOf(address));
    if (line === undefined) return soon;
    return new Promise((hand) => {
      line.due.push({ address, n: -1, at: Infinity, hand });
      this.asked(lineOf(address), line);
    });
  }

  private asked(name: string, line: Line): void {
    line.quiet = 0;
    if (line.runs) return;
    line.runs = true;
    const tick = (): void => {
      line.quiet += 1;
      line.since += 1;
      this.turn(line);
      if (line.due.length === 0) this.lines.delete(name);
      else if (line.due.some(({ hand }) => hand !== undefined)) return void soon.then(tick);
      line.runs = false;
    };
    void soon.then(tick);
  }

  private turn(line: Line): void {
    for (;;) {
      const [first] = line.due;
      if (first === undefined) return;
      if (first.hand === undefined) {
        // Its frame is over, or its code is another: the others go on without it.
        if (line.quiet < mostTurns && this.isRecorded(first.address, first.n)) return;
      } else if (first.gap === undefined ? line.quiet < mostTurns : line.since < first.gap) return;
      line.due.shift();
      if (first.hand === undefined) continue;
      line.quiet = 0;
      line.since = 0;
      first.hand();
    }
  }
}

/** Branches of a race are one piece of code with what is around them. */
function lineOf(address: string): string {
  const position = address.indexOf('/race');
  return position < 0 || !isInRace(address) ? address : address.slice(0, address.search(race));
}

const race = /\/race\d+\//u;

export function isInRace(address: string): boolean {
  return address.includes('/race') && race.test(address);
}
