import { HoldfastError } from '../../contract/errors';
import { abortOf } from '../calls/abort';
import type { LimitUse } from '../../contract/service-facts';
import { Bucket, rateOf } from './bucket';
import type { Limit } from './limit';
import { MinuteSum } from './minute-sum';

export interface Asker {
  readonly id: string;
  readonly run: string;
  /** When the run asked for the call. Attempts keep the time, and with the time their place. */
  readonly since: number;
  readonly signal: AbortSignal;
  /** The server repeats a call that leaves. Other calls wait in place. */
  readonly mayLeave: boolean;
  readonly inPlaceMs: number;
  readonly tokens: number;
}

export interface GateTurn {
  /** Default: the expected tokens. */
  end(tokens?: number): void;
  giveBack(): void;
}

/** Turns of a limit that several workers share. Methods never throw: without an answer each worker keeps the limit alone. */
export interface SharedTurns {
  /** 0: the call has its turn. Otherwise milliseconds until the next request. */
  ask(asker: Asker): Promise<number>;
  end(asker: Asker, tokens: number): void;
  giveBack(asker: Asker): void;
  forget(id: string): void;
}

interface Seat {
  readonly asker: Asker;
  readonly timer: NodeJS.Timeout | undefined;
  settle(turn: GateTurn | Error): void;
}

const least = 200;
const longest = 30_000;
/** Calls that wait in place take some of a worker's 100 activity slots. */
export const seats = { least: 4, most: 20 };

/**
 * The turns of one limit on this worker. A few calls wait in place; further calls fail their attempt, hold no slot, and return near their
 * turn. The next turn goes to the run with the fewest calls at work, and within the run to the oldest call.
 */
export class Gate {
  private readonly waiting = new Set<Seat>();
  private readonly atWork = new Set<Asker>();
  private readonly away = new Map<string, { readonly since: number; readonly until: number }>();
  private readonly requests: Bucket | undefined;
  private readonly tokens: Bucket | undefined;
  private readonly room: number;
  private readonly begun: MinuteSum;
  private readonly spent: MinuteSum;
  private grants: readonly number[] = [];
  private wake: NodeJS.Timeout | undefined;
  private serving = false;
  private named: Asker | undefined;

  constructor(
    private readonly what: string,
    private readonly limit: Limit,
    private readonly shared?: SharedTurns,
    private readonly now: () => number = Date.now,
  ) {
    this.requests = limit.perMinute === undefined ? undefined : new Bucket(rateOf(limit.perMinute), now);
    this.tokens = limit.tokensPerMinute === undefined ? undefined : new Bucket(rateOf(limit.tokensPerMinute), now);
    this.begun = new MinuteSum(now);
    this.spent = new MinuteSum(now);
    this.room = Math.min(seats.most, Math.max(seats.least, 2 * (limit.concurrent ?? seats.least)));
  }

  take(asker: Asker): Promise<GateTurn> {
    return new Promise((resolve, reject) => {
      this.away.delete(asker.id);
      if (asker.signal.aborted) return reject(abortOf(asker.signal));
      const stop = (): void => seat.settle(abortOf(asker.signal));
      const timer = asker.mayLeave ? setTimeout(() => this.sendAway(seat), asker.inPlaceMs) : undefined;
      const seat: Seat = {
        asker,
        timer,
        settle: (end) => {
          clearTimeout(timer);
          asker.signal.removeEventListener('abort', stop);
          this.waiting.delete(seat);
          if (!('end' in end)) this.forget(asker);
          if ('end' in end) resolve(end);
          else reject(end);
        },
      };
      asker.signal.addEventListener('abort', stop, { once: true });
      this.waiting.add(seat);
      this.serve();
      this.makeRoom();
    });
  }

  get use(): LimitUse {
    this.forgetGone();
    const { atWork, waiting, away, begun, spent } = this;
    return { atWork: atWork.size, waiting: waiting.size + away.size, lastMinute: begun.sum, tokensLastMinute: spent.sum };
  }

  private makeRoom(): void {
    if (this.waiting.size <= this.room) return;
    const last = this.inOrder()
      .filter(({ asker }) => asker.mayLeave)
      .at(-1);
    if (last !== undefined) this.sendAway(last);
  }

  private sendAway(seat: Seat): void {
    const { id, since } = seat.asker;
    const before = this.before(since);
    const wait = Math.round(Math.min(longest, Math.max(least, (0.7 * before) / this.pace())) * (0.9 + Math.random() * 0.2));
    this.away.set(id, { since, until: this.now() + wait });
    seat.settle(
      new HoldfastError('waiting-for-turn', `${this.what}. ${before === 1 ? '1 call is' : `${before} calls are`} before this one.`, {
        details: { retryable: true, retryAfterMs: wait },
      }),
    );
  }

  private before(since: number): number {
    this.forgetGone();
    const older = [...this.away.values()].filter((one) => one.since < since).length;
    return older + [...this.waiting].filter(({ asker }) => asker.since < since).length;
  }

  private forgetGone(): void {
    const forgotten = this.now() - longest;
    for (const [id, { until }] of this.away) if (until < forgotten) this.away.delete(id);
  }

  private pace(): number {
    const [first] = this.grants;
    const assumed = (this.limit.concurrent ?? (this.limit.perMinute ?? 60) / 60) / 1000;
    if (first === undefined || this.grants.length < 5) return assumed;
    return this.grants.length / Math.max(1, this.now() - first);
  }

  private inOrder(): readonly Seat[] {
    const atWork = new Map<string, number>();
    const add = (run: string): number => {
      const count = atWork.get(run) ?? 0;
      atWork.set(run, count + 1);
      return count;
    };
    for (const { run } of this.atWork) add(run);
    const byAge = [...this.waiting].sort((one, other) => one.asker.since - other.asker.since);
    const ranked = byAge.map((seat) => ({ seat, load: add(seat.asker.run) }));
    return ranked.sort((one, other) => one.load - other.load).map(({ seat }) => seat);
  }

  private serve(): void {
    clearTimeout(this.wake);
    while (!this.serving) {
      const [seat] = this.waiting.size === 0 ? [] : this.inOrder();
      if (seat === undefined || this.atWork.size >= (this.limit.concurrent ?? Infinity)) return;
      const wait = Math.max(this.requests?.waitFor(1) ?? 0, this.tokens?.waitFor(1) ?? 0);
      if (wait > 0) return this.serveIn(wait);
      if (this.shared === undefined) this.grant(seat);
      else this.ask(seat, this.shared);
    }
  }

  private serveIn(ms: number): void {
    clearTimeout(this.wake);
    this.wake = setTimeout(() => this.serve(), ms);
  }

  private ask(seat: Seat, shared: SharedTurns): void {
    this.serving = true;
    // A named call that gets no turn now would delay other workers.
    if (this.named !== seat.asker) this.forget(this.named);
    this.named = seat.asker;
    void shared.ask(seat.asker).then((wait) => {
      this.serving = false;
      if (wait > 0) return this.serveIn(wait);
      if (this.waiting.has(seat)) this.grant(seat);
      else shared.giveBack(seat.asker);
      this.serve();
    });
  }

  private forget(asker: Asker | undefined): void {
    if (asker === undefined || asker !== this.named) return;
    this.named = undefined;
    this.shared?.forget(asker.id);
  }

  private grant(seat: Seat): void {
    const { asker } = seat;
    if (this.named === asker) this.named = undefined;
    this.atWork.add(asker);
    this.grants = [...this.grants, this.now()].slice(-30);
    this.requests?.take(1);
    this.tokens?.take(asker.tokens);
    this.begun.add(1);
    this.spent.add(asker.tokens);
    let ended = false;
    const end = (tokens: number, made: boolean): void => {
      if (ended) return;
      ended = true;
      this.atWork.delete(asker);
      this.tokens?.take(tokens - asker.tokens);
      this.spent.add(tokens - asker.tokens);
      if (!made) this.requests?.take(-1);
      if (!made) this.begun.add(-1);
      if (made) this.shared?.end(asker, tokens);
      else this.shared?.giveBack(asker);
      this.serve();
    };
    seat.settle({ end: (tokens = asker.tokens) => end(tokens, true), giveBack: () => end(0, false) });
  }
}
