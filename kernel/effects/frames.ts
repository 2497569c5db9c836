import type { MaybePromise } from '../../contract/maybe-promise';
import { HoldfastError } from '../../contract/errors';
import type { Json } from '../../contract/messages/messages';
import { canonicalJson } from '../../contract/messages/messages';
import type { Journal } from './journal';
import type { JournalEffect } from './journal-effect';
import { errorOf, isCancellation, recordedFailure } from './errors';
import type { ToolDecision } from './tool-decision';
import { UserCode } from './user-code';

export function isPromise<T>(value: MaybePromise<T>): value is Promise<T> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}

type Seen = { readonly upTo: number; readonly value: Json };

export interface EffectEnding<T> {
  settled(value: T): T;
  refused(error: unknown): unknown;
}

const asItIs: EffectEnding<never> = { settled: (value) => value, refused: (error) => error };

const mostRefusals = 100;

interface FrameTraits {
  /** Of code that users wrote. */
  readonly label?: string;
  readonly decision?: ToolDecision | undefined;
  /** Questions of the frame are withdrawn at this time. Undefined: never. */
  readonly limit?: number | undefined;
  readonly code?: UserCode;
}

/**
 * Code that can wait, with numbered effects. After a continue-as-new the frame gets settled effects by number; an effect of another kind is
 * `frame-changed`.
 */
export class Frame {
  private count = 0;
  private ended = false;
  refusals = 0;
  readonly key: string;
  private readonly label: string | undefined;
  readonly decision: ToolDecision | undefined;
  readonly limit: number | undefined;
  readonly code: UserCode;
  private looks: Map<string, number> | undefined;

  constructor(
    private readonly journal: Journal,
    readonly address: readonly string[],
    { label, decision, limit, code = new UserCode() }: FrameTraits = {},
  ) {
    this.key = address.join('/');
    this.label = label;
    this.decision = decision;
    this.limit = limit;
    this.code = code;
    if (label !== undefined) journal.enter(this.key, label);
  }

  child(name: string, traits: FrameTraits = {}): Frame {
    return new Frame(this.journal, [...this.address, name], { decision: this.decision, limit: this.limit, ...traits });
  }

  get next(): number {
    return this.count;
  }

  /**
   * `run` is called once, even if the frame is re-entered. A promise that code drops must not fail the workflow task. `misfit`: why a
   * recorded end does not fit the present question.
   */
  effect<T>(
    kind: string,
    run: (n: number) => Promise<T>,
    ending: EffectEnding<T> = asItIs,
    misfit?: (n: number) => HoldfastError | undefined,
  ): Promise<T> {
    if (this.isDeaf) return new Promise(() => undefined);
    let value: MaybePromise<T>;
    try {
      this.checkIsOutsideBranches();
      const problem = misfit?.(this.count);
      if (problem !== undefined) throw problem;
      const inTurn = this.inTurn(kind, ending);
      if (inTurn !== undefined) return inTurn;
      value = this.soon(kind, this.journal.order.isBehind(this.key) ? (n) => this.behind(run(n)) : run, ending);
      return isPromise(value) ? Promise.resolve(value) : Promise.resolve(ending.settled(value));
    } catch (error) {
      if (this.halts(error)) return this.code.halt(error);
      const refused = Promise.reject<T>(ending.refused(error));
      handle(refused);
      return refused;
    }
  }

  private halts(error: unknown): boolean {
    return this.label !== undefined && isCancellation(error) && this.journal.run.halts(this.code.refuse());
  }

  /** A recorded effect that ran beside others settles after effects that ended earlier. */
  private inTurn<T>(kind: string, ending: EffectEnding<T>): Promise<T> | undefined {
    const { order } = this.journal;
    const n = this.count;
    const settled = order.isBehind(this.key) ? this.journal.find(this.key, n) : undefined;
    if (settled?.kind !== kind) return undefined;
    let hand = (): void => undefined;
    const promise = new Promise<T>((resolve, reject) => {
      hand = () => {
        try {
          resolve(ending.settled(this.recalled<T>(settled, kind)));
        } catch (error) {
          reject(ending.refused(error));
        }
      };
    });
    if (!order.handOut(this.key, n, hand)) return undefined;
    this.count += 1;
    handle(promise);
    return promise;
  }

  /** An immediate new result for re-entered code settles after all recorded results. */
  private async behind<T>(value: Promise<T>): Promise<T> {
    try {
      return await value;
    } finally {
      await this.journal.order.caughtUp(this.key);
    }
  }

  /** An immediate result costs no promise. `ending` handles later results only. */
  soon<T>(kind: string, run: (n: number) => MaybePromise<T>, ending: EffectEnding<T> = asItIs): MaybePromise<T> {
    const n = this.count++;
    const settled = this.journal.find(this.key, n);
    if (settled !== undefined) return this.recalled<T>(settled, kind);
    this.checkIsOpen();
    this.checkAwaited(n, kind);
    this.journal.goesOn(this.key);
    this.journal.start(this.key, n, kind);
    let wasAwaited = false;
    const settle = (value: T): T => {
      this.journal.settle(this.key, { n, kind, value }, wasAwaited);
      return value;
    };
    const refuse = (error: unknown): unknown => {
      if (isCancellation(error)) this.journal.ended(this.key, n);
      else this.journal.settle(this.key, { n, kind, error: recordedFailure(error) }, wasAwaited);
      return error;
    };
    let value: MaybePromise<T>;
    try {
      value = run(n);
    } catch (error) {
      throw refuse(error);
    }
    if (!isPromise(value)) return settle(value);
    wasAwaited = true;
    const opened = this.journal.openedAt(this.key, n);
    // Questions and sleeps of halted code end with the run.
    const isCall = opened === undefined;
    if (isCall) this.code.callWaits();
    const succeed = (result: T): MaybePromise<T> => {
      if (isCall) this.code.callEnded();
      return opened?.dropped === undefined ? ending.settled(settle(result)) : leftAlone(waiting, opened.dropped.error);
    };
    const fail = (error: unknown): Promise<T> => {
      if (isCall) this.code.callEnded();
      if (opened?.dropped !== undefined) return leftAlone(waiting, opened.dropped.error);
      const refused = ending.refused(refuse(error));
      if (this.halts(error)) return this.code.halt(error);
      throw refused;
    };
    const waiting: Promise<T> = value.then(
      (result) => this.journal.turn(this.key, n)?.then(() => succeed(result)) ?? succeed(result),
      (error: unknown) => {
        // Only a waiting effect gets a handler, because a handler costs as much as an effect.
        handle(waiting);
        return (isCancellation(error) ? undefined : this.journal.turn(this.key, n))?.then(() => fail(error)) ?? fail(error);
      },
    );
    return waiting;
  }

  /** `inVain`: the result after too many refusals. */
  once<T>(kind: string, run: () => T, inVain?: () => T): T {
    if (inVain !== undefined && this.refusals >= mostRefusals) return inVain();
    this.checkIsOutsideBranches();
    const n = this.count++;
    const settled = this.journal.find(this.key, n);
    if (settled !== undefined) return this.recalled<T>(settled, kind);
    this.checkIsOpen();
    this.checkAwaited(n, kind);
    this.journal.goesOn(this.key);
    const value = run();
    this.journal.keep(this.key, { n, kind, value });
    return value;
  }

  /** A look without a numbered effect. Re-entered code sees the recorded value, or with old journals the present value. */
  seen<T>(kind: string, look: () => T): T {
    this.checkIsOutsideBranches();
    if (this.ended || this.journal.isLeft(this.key)) return look();
    this.looks ??= new Map<string, number>();
    const position = this.looks.get(kind) ?? 0;
    this.looks.set(kind, position + 1);
    const seen = (this.noteOf(kind) ?? []) as readonly Seen[];
    const before = seen.find(({ upTo }) => position < upTo);
    if (before !== undefined) return before.value as T;
    const value = look();
    const last = seen.at(-1);
    const kept = last !== undefined && canonicalJson(last.value) === canonicalJson(value) ? seen.slice(0, -1) : seen;
    this.note(kind, [...kept, { upTo: position + 1, value: value as Json }]);
    return value;
  }

  hasFailed(address: string, n: number): boolean {
    const effect = this.journal.find(address, n);
    return effect !== undefined && 'error' in effect;
  }

  /** Whether code asked for the next effect before a continue-as-new. */
  get isKnownNext(): boolean {
    return this.journal.find(this.key, this.count) !== undefined || this.journal.awaitedKind(this.key, this.count) !== undefined;
  }

  noteOf(name: string): Json | undefined {
    return this.journal.noteOf(this.key, name);
  }

  note(name: string, value: Json): void {
    if (!this.ended) this.journal.note(this.key, name, value);
  }

  close(): void {
    this.ended = true;
    if (this.journal.asksForLess(this.key, this.count)) {
      throw this.journal.change(`The code at ${this.key} changed: it asked for ${this.count} effects, and more are recorded.`);
    }
    this.journal.forgotten(this.key);
    this.journal.close(this.key);
  }

  abandon(): void {
    this.ended = true;
    this.journal.forgotten(this.key);
    this.journal.close(this.key);
  }

  /** Keeps the records for a retry until code goes on after the error. `lost`: why the frame cannot be re-entered. */
  unwind(lost?: string): void {
    this.ended = true;
    this.journal.forgotten(this.key);
    this.journal.unwind(this.key);
    if (lost !== undefined) this.journal.remains.lose(this.key, lost);
  }

  unwindInside(): void {
    this.journal.unwindInside(this.key);
  }

  forget(): void {
    this.ended = true;
    this.journal.close(this.key);
  }

  forgetFailed(): void {
    this.ended = true;
    this.journal.unwind(this.key);
  }

  closeInside(): void {
    this.journal.closeInside(this.key);
  }

  /** The end of the frame ends the effect, which then never settles. */
  opened(n: number, end: (error: unknown) => void): void {
    this.journal.open(this.key, n, end);
  }

  leave(error: HoldfastError): void {
    this.ended = true;
    this.journal.leave(this.key);
    this.journal.drop(this.key, error);
  }

  /** Code that catches every refusal would loop for ever in one workflow task, so after enough refusals its requests never settle. */
  get isDeaf(): boolean {
    return this.refusals >= mostRefusals;
  }

  checkIsOpen(): void {
    if (!this.journal.isLeft(this.key)) return;
    this.refusals += 1;
    throw new HoldfastError('next-left-running', `The code at ${this.key} is still at work, and what it is part of has ended.`);
  }

  beginBranch<T>(begin: () => T): T {
    return this.journal.beginBranch(this.key, begin);
  }

  /** Re-entered code does not repeat a branch's effects in the frame around a decided race, so a branch may not act there. */
  get refusalInBranch(): HoldfastError | undefined {
    const branch = this.journal.branchIn(this.key);
    if (branch === undefined) return undefined;
    return new HoldfastError(
      'hook-failed',
      `The branch at ${branch} acts outside of it. A branch acts through the ctx that it gets. Begin next and ctx.runAgent before the race, and await their promise in the branch.`,
    );
  }

  private checkIsOutsideBranches(): void {
    const refusal = this.refusalInBranch;
    if (refusal !== undefined) throw refusal;
  }

  private recalled<T>(settled: JournalEffect, kind: string): T {
    if (settled.kind !== kind) throw this.changed(settled.n, settled.kind, kind);
    if ('error' in settled) throw errorOf(settled.error);
    return (settled as { value?: unknown }).value as T;
  }

  private checkAwaited(n: number, kind: string): void {
    const awaited = this.journal.awaitedKind(this.key, n);
    if (awaited !== undefined && awaited !== kind) throw this.changed(n, awaited, kind);
  }

  private changed(n: number, was: string, is: string): HoldfastError {
    const hint = this.journal.hasRace(this.key) ? ' Or a branch of a race acted through another ctx than the one that it gets.' : '';
    return this.journal.change(`The code at ${this.key} changed: effect ${n} was "${was}" and is now "${is}".${hint}`);
  }
}

/** Code in the background waits for ever, because its error would have no handler. */
function leftAlone<T>(waiting: Promise<T>, error: HoldfastError | undefined): Promise<T> {
  handle(waiting);
  return error === undefined ? new Promise<T>(() => undefined) : Promise.reject<T>(error);
}

function handle(promise: Promise<unknown>): void {
  promise.catch(() => undefined);
}
