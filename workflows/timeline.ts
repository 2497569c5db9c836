import { CancellationScope, condition, sleep } from '@temporalio/workflow';
import type { Timer } from '../kernel/run/ports';
import { activation, anew } from './interceptors';

interface DueMoment {
  readonly at: number;
  readonly order: number;
  /** It is of this very moment: what comes in now comes behind it without being asked when. */
  readonly isNow: boolean;
  run(): void;
}

/** A timer that has not been dealt with. */
interface OpenMoment {
  readonly at: number;
  /** It is over, and its turn comes. */
  isOver: boolean;
}

/**
 * What comes to a run from the time: the ends of its timers, and answers that came while one of them was over. They happen in the order in
 * which the server had them, however late a worker looks, and the code that one of them wakes has the time at which it happened.
 */
export class Timeline {
  private readonly open = new Set<OpenMoment>();
  private readonly due: DueMoment[] = [];
  private order = 0;
  /** What may have to happen before all that is due. */
  private holds = 0;
  private past: { readonly at: number; readonly activation: number } | undefined;

  constructor(
    /** The ends of limits that were open when the run continued as new. Code that is entered again makes their timers. */
    private restored: readonly number[] = [],
  ) {}

  /** The time, for code: that of the task, or of what is being made up for. */
  get now(): number {
    return this.past?.activation === activation.count ? this.past.at : Date.now();
  }

  /** Something is about to happen that came in before. */
  get isBusy(): boolean {
    return this.holds > 0 || this.due.length > 0;
  }

  /** Whether something that comes in now comes behind what has yet to happen. */
  get isBehind(): boolean {
    if (this.holds > 0 || this.due.some(({ isNow }) => !isNow)) return true;
    const now = Date.now();
    return [...this.open].some(({ at }) => at <= now) || this.restored.some((at) => at <= now);
  }

  /** Code is entered, or entered again, with what this brings. When it rests, all of its timers are made. */
  entering<T>(prepared: Promise<T>): Promise<T> {
    const rests = (): Promise<void> => whenSettledAnew(() => true);
    if (this.restored.length > 0)
      prepared.then(rests).then(
        () => (this.restored = []),
        () => undefined,
      );
    return prepared;
  }

  /** `last` may find something that is to happen before the timer ends. */
  timer(at: number, last?: () => Promise<void> | undefined): Timer {
    const scope = new CancellationScope();
    const entry: OpenMoment = { at, isOver: false };
    this.open.add(entry);
    let cancelled = false;
    const fired = new Promise<void>((resolve, reject) => {
      const end = (): void => {
        this.open.delete(entry);
        if (!cancelled) resolve();
      };
      const over = (): void => {
        entry.isOver = true;
        this.at(at, end);
        const asked = last?.();
        if (asked !== undefined) this.holdFor(asked);
      };
      const fail = (error: unknown): void => {
        this.open.delete(entry);
        reject(error);
      };
      // What the server would tell later may come behind what it has told.
      if (at < Date.now()) {
        scope.cancelRequested.catch(fail);
        over();
      } else scope.run(() => sleep(Math.max(1, at - Date.now()))).then(over, fail);
    });
    fired.catch(() => undefined);
    return {
      fired,
      cancel: () => {
        cancelled = true;
        this.open.delete(entry);
        scope.cancel();
      },
    };
  }

  /** Lets something happen in its turn. */
  at(time: number, run: () => void): void {
    this.due.push({ at: time, order: ++this.order, isNow: false, run });
  }

  /** Lets something happen now, when all code has run as far as it can. */
  next(run: () => void): void {
    this.due.push({ at: this.now, order: ++this.order, isNow: true, run });
  }

  /** Nothing happens before this, and all that it brings in has its turn. What it throws fails the task. */
  holdFor(asked: Promise<void>): void {
    this.holds += 1;
    void asked.then(() => void (this.holds -= 1));
  }

  /** One thing after another: all code that it wakes has run before the next, which `isDone` may deny. */
  async follow(isDone: () => boolean): Promise<never> {
    for (;;) {
      await anew(
        () => activation.isOver && isDone() && this.holds === 0 && (this.due.length > 0 || this.past?.activation === activation.count),
      );
      if (this.isBehindTimer) {
        await condition(() => !this.isBehindTimer);
        continue;
      }
      const next = this.takeEarliest();
      this.past = next === undefined ? undefined : { at: next.at, activation: activation.count };
      next?.run();
    }
  }

  /** A timer is over that the server has not told of, or that is not made again yet, and that ended before what is due. */
  private get isBehindTimer(): boolean {
    const next = this.earliest;
    if (next === undefined) return false;
    return [...this.open].some(({ at, isOver }) => !isOver && at <= next.at) || this.restored.some((at) => at <= next.at);
  }

  private get earliest(): DueMoment | undefined {
    const [first, ...others] = this.due;
    if (first === undefined) return undefined;
    return others.reduce((least, due) => (due.at < least.at || (due.at === least.at && due.order < least.order) ? due : least), first);
  }

  private takeEarliest(): DueMoment | undefined {
    const { earliest } = this;
    if (earliest !== undefined) this.due.splice(this.due.indexOf(earliest), 1);
    return earliest;
  }
}

function whenSettledAnew(holds: () => boolean): Promise<void> {
  return anew(() => activation.settled && holds());
}
