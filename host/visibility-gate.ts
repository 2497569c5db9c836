import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { HoldfastError } from '../contract/errors';

const grpcResourceExhausted = 8;
const mostAtOnce = 4;
const keptMs = 1000;
const freshMs = 3000;
const patienceMs = 20_000;
const shortestPauseMs = 50;
const longestPauseMs = 200;

interface GateTime {
  now(): number;
  wait(milliseconds: number): Promise<unknown>;
}

interface Waiting {
  readonly until: number;
  readonly ask: () => Promise<unknown>;
  readonly done: (answer: Promise<unknown>) => void;
  readonly refused: (error: unknown) => void;
}

interface KeptAnswer {
  readonly answer: Promise<unknown>;
  until?: number;
}

/** A shared request has no caller's deadline. */
const outside: <T>(run: () => T) => T = AsyncLocalStorage.snapshot();

/**
 * Lists and counts of a namespace, of which an untuned server answers 10 a second: equal questions share an answer for a second, callers
 * take turns, and a refusal for the rate repeats.
 */
export class VisibilityGate {
  private readonly lines = new Map<object, Waiting[]>();
  private kept = new Map<string, KeptAnswer>();
  private freshUntil = -Infinity;
  private atWork = 0;
  private pauseMs = 0;
  private isPaused = false;

  constructor(private readonly time: GateTime = { now: () => performance.now(), wait: (milliseconds) => delay(milliseconds) }) {}

  /** Throws 'server-busy' after 20 s in line. */
  ask<T>(caller: object, key: string, ask: () => Promise<T>): Promise<T> {
    const now = this.time.now();
    for (const [known, { until }] of this.kept) if (until !== undefined && until <= now) this.kept.delete(known);
    const before = this.kept.get(key);
    if (before !== undefined) return before.answer as Promise<T>;
    const answer = new Promise<unknown>((resolve, refused) => {
      const line = this.lines.get(caller) ?? [];
      line.push({ until: now + patienceMs, ask, done: resolve, refused });
      this.lines.set(caller, line);
    });
    const kept: KeptAnswer = { answer };
    this.kept.set(key, kept);
    answer.then(
      () => {
        kept.until = this.time.now() + keptMs;
        // A list shows a change after a moment.
        if (this.time.now() < this.freshUntil && this.kept.get(key) === kept) this.kept.delete(key);
      },
      () => this.kept.get(key) === kept && this.kept.delete(key),
    );
    outside(() => this.next());
    return answer as Promise<T>;
  }

  /** Call after a change from this process. */
  forget(): void {
    this.kept = new Map();
    this.freshUntil = this.time.now() + freshMs;
  }

  private next(): void {
    while (!this.isPaused && this.atWork < (this.pauseMs === 0 ? mostAtOnce : 1)) {
      const taken = this.take();
      if (taken === undefined) return;
      void this.serve(taken.caller, taken.waiting);
    }
  }

  /** Takes from the caller with the longest wait, and moves the caller to the end. */
  private take(): { readonly caller: object; readonly waiting: Waiting } | undefined {
    for (const [caller, line] of this.lines) {
      const waiting = line.shift();
      this.lines.delete(caller);
      if (line.length > 0) this.lines.set(caller, line);
      if (waiting !== undefined) return { caller, waiting };
    }
    return undefined;
  }

  private async serve(caller: object, waiting: Waiting): Promise<void> {
    if (this.time.now() > waiting.until) {
      waiting.refused(busy());
      return this.next();
    }
    this.atWork += 1;
    try {
      const answer = await waiting.ask();
      this.pauseMs = 0;
      waiting.done(Promise.resolve(answer));
    } catch (error) {
      if (isRefusedForRate(error)) await this.pause(caller, waiting);
      else waiting.refused(error);
    } finally {
      this.atWork -= 1;
      this.next();
    }
  }

  private async pause(caller: object, waiting: Waiting): Promise<void> {
    const others = [...this.lines].filter(([other]) => other !== caller);
    const line = [waiting, ...(this.lines.get(caller) ?? [])];
    this.lines.clear();
    for (const [one, its] of [[caller, line] as const, ...others]) this.lines.set(one, its);
    if (this.isPaused) return;
    this.isPaused = true;
    this.pauseMs = Math.min(longestPauseMs, Math.max(shortestPauseMs, this.pauseMs * 2));
    await this.time.wait(this.pauseMs);
    this.isPaused = false;
  }
}

const gates = new Map<string, VisibilityGate>();

/** Clients and workers of a process share a namespace's rate. */
export function visibilityGate(address: string, namespace: string): VisibilityGate {
  const key = `${address}/${namespace}`;
  const gate = gates.get(key) ?? new VisibilityGate();
  gates.set(key, gate);
  return gate;
}

function busy(): HoldfastError {
  return new HoldfastError(
    'server-busy',
    `The Temporal server answers only so many lists and counts of this namespace in a second (frontend.namespaceRPS.visibility, 10 by default); this one waited ${patienceMs / 1000} s for its turn.`,
  );
}

function isRefusedForRate(error: unknown): boolean {
  for (let cause = error; typeof cause === 'object' && cause !== null; cause = (cause as { cause?: unknown }).cause)
    if ((cause as { code?: unknown }).code === grpcResourceExhausted) return true;
  return false;
}
