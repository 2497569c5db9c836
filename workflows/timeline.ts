import { CancellationScope, sleep } from '@temporalio/workflow';
import type { Timer } from '../kernel/run/ports';
import { activation, anew } from './interceptors';
import type { AskForCommand } from './ports-owner';

interface OpenTimer {
  readonly at: number;
  /** The server has fired the timer, or the time has passed. */
  isOver: boolean;
  end(): void;
}

export interface WaitingAnswer {
  readonly at: number;
  /** Undefined: this task has room. */
  room(): Promise<void> | undefined;
  take(): void;
}

/**
 * Timers end in the order of their times, even if a worker is late. Answers are taken in
 * order of arrival, and before timers that end later.
 */
export class Timeline {
  private readonly open = new Set<OpenTimer>();
  private readonly answers: WaitingAnswer[] = [];
  private holds = 0;
  private past: { readonly at: number; readonly activation: number } | undefined;

  constructor(
    private readonly ask: AskForCommand,
    /** Limits from before the continue-as-new, until re-entered code makes their timers. */
    private restored: readonly number[] = [],
  ) {}

  /** The time for code: of the task, or of a late event. */
  get now(): number {
    return this.past?.activation === activation.count ? this.past.at : Date.now();
  }

  get isBusy(): boolean {
    return this.holds > 0 || this.answers.length > 0 || this.firstOver !== undefined;
  }

  get isBehind(): boolean {
    return this.isBusy || this.isBehindNow;
  }

  /** When the entered code rests, all restored timers are made. */
  entering<T>(prepared: Promise<T>): Promise<T> {
    const rests = (): Promise<void> => anew(() => activation.settled);
    if (this.restored.length > 0)
      prepared.then(rests).then(
        () => (this.restored = []),
        () => undefined,
      );
    return prepared;
  }

  /** `last` may find answers from before the end of the timer. */
  timer(place: string, at: number, last?: () => Promise<void> | undefined): Timer {
    const scope = new CancellationScope();
    let end: () => void = () => undefined;
    let fail: (error: unknown) => void = () => undefined;
    const fired = new Promise<void>((resolve, reject) => ([end, fail] = [resolve, reject]));
    fired.catch(() => undefined);
    const timer: OpenTimer = { at, isOver: false, end };
    const over = (): void => {
      timer.isOver = true;
      const asked = last?.();
      if (asked !== undefined) this.holdFor(asked);
    };
    const failed = (error: unknown): void => {
      this.open.delete(timer);
      fail(error);
    };
    const begin = (): Promise<void> => {
      this.open.add(timer);
      // An event of the server could come after other events.
      return at < Date.now() ? Promise.resolve() : sleep(Math.max(1, at - Date.now()));
    };
    scope.run(() => this.ask(place, begin)).then(over, failed);
    scope.cancelRequested.catch(failed);
    return { fired, cancel: () => scope.cancel() };
  }

  wait(answer: WaitingAnswer): void {
    this.answers.push(answer);
  }

  /** Before the next timer or answer, all woken code has run, and `isDone` agrees. */
  async follow(isDone: () => boolean): Promise<never> {
    for (;;) {
      // A signal beside the end of a timer may have come first in the history. An update enters the history only when the run accepts it,
      // and core may deliver it apart from other events of its task, so an update beside the end of a timer is late.
      await anew(
        () =>
          activation.settled &&
          activation.hasSignals &&
          isDone() &&
          this.holds === 0 &&
          (this.hasTurn || this.past?.activation === activation.count),
      );
      this.past = undefined;
      if (!this.hasTurn) continue;
      const [answer] = this.answers;
      const timer = this.firstOver;
      if (timer !== undefined && timer.at <= this.firstGiven) {
        this.open.delete(timer);
        this.goBackTo(timer.at);
        timer.end();
      } else if (answer !== undefined) {
        const room = answer.room();
        if (room !== undefined) {
          await room;
          continue;
        }
        this.answers.shift();
        // The code's time must not pass a timer that has yet to end.
        if (this.isBehindNow) this.goBackTo(answer.at);
        answer.take();
      }
    }
  }

  private goBackTo(at: number): void {
    this.past = { at, activation: activation.count };
  }

  private holdFor(asked: Promise<void>): void {
    this.holds += 1;
    void asked.then(() => void (this.holds -= 1));
  }

  /** A timer or answer is due, and no earlier timer is open or still to be made. */
  private get hasTurn(): boolean {
    const [over, given] = [this.firstOver?.at ?? Infinity, this.firstGiven];
    if (over <= given) return over < Infinity && !this.isBehindTimer((at) => at < over, isNotOver);
    return !this.isBehindTimer((at) => at <= given, isNotOver);
  }

  private isBehindTimer(isBefore: (at: number) => boolean, counts: (timer: OpenTimer) => boolean = () => true): boolean {
    return [...this.open].some((timer) => isBefore(timer.at) && counts(timer)) || this.restored.some(isBefore);
  }

  private get isBehindNow(): boolean {
    const now = Date.now();
    return this.isBehindTimer((at) => at <= now);
  }

  /** A later arrival must not make an answer late. */
  private get firstGiven(): number {
    return this.answers.reduce((first, { at }) => Math.min(first, at), Infinity);
  }

  private get firstOver(): OpenTimer | undefined {
    let first: OpenTimer | undefined;
    for (const timer of this.open) if (timer.isOver && (first === undefined || timer.at < first.at)) first = timer;
    return first;
  }
}

const isNotOver = ({ isOver }: OpenTimer): boolean => !isOver;
