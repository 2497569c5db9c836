import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import type { Answer, Interrupt } from '../../contract/interrupts';
import { answeredBefore, latenessOf, refusalOf } from '../../contract/interrupts';
import { jsonSize, limits } from '../../contract/limits';
import type { Failure, Json } from '../../contract/messages/messages';
import type { InterruptEnd, Told } from './given-answers';
import { GivenAnswers } from './given-answers';
import type { InterruptStepEvent } from './interrupt-steps';
import { InterruptSteps, shifted } from './interrupt-steps';
import { PastInterrupts } from './past-interrupts';
import type { Ports, Timer } from './ports';
import type { PendingInterrupt, RunState } from './state';
import { byOf, policyIn, toldOf } from './told-of-answer';

interface WaitingCode {
  /** Without an answer of somebody the deadline has passed. */
  readonly resolve: (answer: Json, whole: Answer | undefined) => void;
  readonly reject: (error: unknown) => void;
  readonly timer: Timer | undefined;
  /** It is asked by an isolated agent. */
  readonly isApart?: true;
}

/** An interrupt that nobody was shown yet. */
interface Later {
  readonly shown: Interrupt;
  show(): void;
  refuse(error: unknown): void;
}

/** The one list of what a run waits for. Answers come by id, in any order; the first one counts. */
export class OpenInterrupts {
  private readonly waiting = new Map<string, WaitingCode>();
  /** Those that there was no room for, first asked first. */
  private readonly later = new Map<string, Later>();
  private readonly steps: InterruptSteps;
  private readonly past: PastInterrupts;
  private readonly given = new GivenAnswers((answer, refused) => this.emitIgnored(answer, refused));
  /** Set once the run is cancelled or stopped: then nothing is asked any more. */
  private closed: unknown;
  /** The task is full: what is asked is shown in the next one. */
  private awaitsRoom = false;
  /** How many interrupts have ended so far. */
  ended = 0;
  /** What answers and deadlines are to do once they count. Absent: they count at once. */
  private held: (() => void)[] | undefined;

  constructor(
    private readonly state: RunState,
    private readonly ports: Ports,
  ) {
    this.past = new PastInterrupts(state);
    this.steps = new InterruptSteps(state, ports, (act) => (this.held === undefined ? act() : void this.held.push(act)));
  }

  /**
   * Waits for the answer. An interrupt that went over a continue-as-new under the same id waits on. One that does not fit beside those that are open
   * is shown when one of them has its answer.
   */
  open(pending: PendingInterrupt): Promise<Json> {
    const { id } = pending.shown;
    const { [id]: early, ...others } = this.state.early ?? {};
    if (early !== undefined) {
      this.state.early = others;
      return Promise.resolve(toldOf(pending, early.answer, early));
    }
    const known = this.state.interrupts.find((interrupt) => interrupt.shown.id === id);
    const interrupt = known ?? pending;
    if (this.closed !== undefined) return Promise.reject(this.tellDoubt(pending.shown, this.closed));
    if (known === undefined) {
      if (!this.hasRoom(pending.shown)) return this.openLater(pending);
      this.list(pending);
    }
    return this.wait(interrupt);
  }

  /** In a run that ends, a call that may have happened stands in the log, where nobody is asked about it any more. */
  private tellDoubt(shown: Interrupt, error: unknown): unknown {
    if (shown.kind !== 'in-doubt' || !this.ports.tellsOnce()) return error;
    this.list({ shown });
    this.remove(shown.id);
    this.ports.emit({ type: 'interrupt-end', interruptId: shown.id, answer: null, reason: 'cancel' });
    this.ports.hideInterrupt(shown.id);
    return error;
  }

  /** People have as long for it as they would have had at once. */
  private openLater(pending: PendingInterrupt): Promise<Json> {
    const { shown } = pending;
    const asked = this.ports.now();
    return new Promise((resolve, refuse) => {
      const show = (): void => {
        const late = pending.isLimited ? pending : { ...pending, shown: shifted(shown, this.ports.now() - asked) };
        this.list(late);
        this.wait(late).then(resolve, refuse);
      };
      this.later.set(shown.id, { shown, show, refuse });
    });
  }

  private list(pending: PendingInterrupt): void {
    this.state.interrupts.push(pending);
    this.ports.emit({ type: 'interrupt-start', interrupt: pending.shown });
    this.ports.showInterrupt(pending.shown);
  }

  private wait(pending: PendingInterrupt): Promise<Json> {
    const { shown, isLimited } = pending;
    const { id, deadline } = shown;
    return new Promise((resolved, reject) => {
      const resolve: WaitingCode['resolve'] = (answer, whole) => resolved(toldOf(pending, answer, whole));
      const timer = deadline === undefined || isLimited ? undefined : this.ports.timer(deadline);
      timer?.fired.then(
        () => this.expire(id),
        () => undefined,
      );
      this.waiting.set(id, { resolve, reject, timer });
      this.steps.follow(id);
    });
  }

  /**
   * Shows an interrupt of an isolated agent, which is a run of its own: that one waits for the answer, and for the deadline. What does not
   * fit beside those that are open is shown when one of them has its answer.
   */
  show(shown: Interrupt, forward: (answer: Answer) => void): void {
    const { id } = shown;
    if (this.closed !== undefined || this.waiting.has(id)) return;
    if (!this.hasRoom(shown)) {
      this.later.set(id, { shown, show: () => this.show(shown, forward), refuse: () => undefined });
      return;
    }
    this.list({ shown });
    this.waiting.set(id, { resolve: (_, whole) => whole && forward(whole), reject: () => undefined, timer: undefined, isApart: true });
  }

  /** It has ended there: by an answer that came another way, by its deadline, or with that run. */
  withdraw(id: string, end: InterruptEnd): void {
    this.later.delete(id);
    if (!this.waiting.has(id)) return;
    const isGiven = this.given.has(id);
    const asked = policyIn(this.state, id);
    this.remove(id);
    if (end.reason === 'deadline') this.past.expired(id);
    if (end.reason === 'cancel') this.past.withdrawn(id);
    this.ports.emit({ type: 'interrupt-end', interruptId: id, ...end, ...asked });
    if (isGiven) this.given.end(id, end, this.past.whyNotOpen(id, this.isClosed));
    else this.ports.hideInterrupt(id);
    this.showNext();
  }

  /** What was handed on is told of in the run that somebody gave it to. */
  private emitIgnored(answer: Answer, { code }: Failure): void {
    if (answer.at !== undefined && this.state.parent !== undefined && this.ports.isolatedDecide()) return;
    this.ports.emit({ type: 'resume-ignored', interruptId: answer.interruptId, code, ...byOf(answer) });
  }

  private showNext(): void {
    for (const [id, { shown, show }] of this.later) {
      if (!this.hasRoom(shown)) return;
      this.later.delete(id);
      show();
    }
  }

  /** What is open stands in the memo of the run, which has its bounds, as a task of it has. */
  private hasRoom(shown: Interrupt): boolean {
    const { interrupts } = this.state;
    const bytes = interrupts.reduce((sum, { shown: open }) => sum + jsonSize(open), jsonSize(shown));
    if (interrupts.length >= limits.openInterrupts || bytes > limits.interruptsTogether) return false;
    if (this.awaitsRoom) return false;
    const room = this.ports.roomToShow(shown);
    if (room === undefined) return true;
    this.awaitsRoom = true;
    const next = (): void => {
      this.awaitsRoom = false;
      this.showNext();
    };
    // A run that is cancelled shows nothing any more.
    room.then(next, () => undefined);
    return false;
  }

  /** An interrupt that went over a continue-as-new, and that no code waits for any more. */
  forgotten(change: (message: string) => HoldfastError): HoldfastError | undefined {
    const one = this.state.interrupts.find(({ shown }) => !this.waiting.has(shown.id));
    return one && change(`The code at ${one.shown.address.join('/')} changed: it does not wait for "${one.shown.id}" any more.`);
  }

  private get isClosed(): boolean {
    return this.closed !== undefined;
  }

  get size(): number {
    return this.waiting.size;
  }

  /** Why an answer would be refused that the server took at this time, or nothing. */
  refusalOf(answer: Answer, at = this.ports.now()): Failure | undefined {
    // The same one may come again, by another way or after a continue-as-new: whoever gave it hears that it was taken.
    if (this.past.wasDelivered(answer)) return undefined;
    const interrupt = this.state.interrupts.find(({ shown }) => shown.id === answer.interruptId)?.shown;
    if (interrupt === undefined) return this.past.whyNotOpen(answer.interruptId, this.isClosed);
    if (this.given.has(answer.interruptId)) return answeredBefore(answer.interruptId);
    return latenessOf(interrupt, at) ?? refusalOf(interrupt, answer, at);
  }

  /**
   * Takes an answer that fits and returns its number; another one only leaves an event, and the same one nothing. One to an isolated agent
   * counts when the agent says so: `told` hears of it then, and of any other at once.
   */
  answer(answer: Answer, at = this.ports.now(), told?: Told): number {
    if (this.past.wasDelivered(answer)) return (told?.(), this.state.sequence);
    const refused = this.refusalOf(answer, at);
    if (refused !== undefined) {
      this.emitIgnored(answer, refused);
      return (told?.(refused), this.state.sequence);
    }
    const waiting = this.waiting.get(answer.interruptId);
    if (waiting?.isApart === true && this.ports.isolatedDecide()) return this.give(answer, at, told, waiting);
    if (waiting === undefined || this.held !== undefined) this.keepEarly(answer);
    const asked = policyIn(this.state, answer.interruptId);
    this.remove(answer.interruptId);
    this.past.delivered(answer);
    const end: InterruptEnd = { answer: answer.answer, reason: 'answer', ...byOf(answer), ...asked };
    this.ports.emit({ type: 'interrupt-end', interruptId: answer.interruptId, ...end });
    this.ports.hideInterrupt(answer.interruptId);
    waiting?.timer?.cancel();
    this.showNext();
    // The handler's own answer to its caller comes first, however many steps the run then takes until its next command.
    const whole: Answer = { ...answer, at };
    if (waiting !== undefined && this.held !== undefined) this.held.push(() => this.handOn(whole, waiting));
    else if (waiting !== undefined) this.ports.afterHandlers(() => waiting.resolve(answer.answer, whole));
    this.state.sequence += 1;
    told?.();
    return this.state.sequence;
  }

  /** Nobody else need answer it. How it ends is what the agent says: it may not wait for it any more. */
  private give(answer: Answer, at: number, told: Told | undefined, waiting: WaitingCode): number {
    this.given.add(answer, told);
    this.past.delivered(answer);
    this.ports.hideInterrupt(answer.interruptId);
    this.ports.afterHandlers(() => waiting.resolve(answer.answer, { ...answer, at }));
    return ++this.state.sequence;
  }

  /** From now on answers are taken, and wake nobody: the run may go on elsewhere, where they are found. */
  hold(): void {
    this.held ??= [];
  }

  /** The run goes on here: what came meanwhile counts now. */
  goOn(): void {
    const { held = [] } = this;
    this.held = undefined;
    for (const act of held) act();
  }

  private keepEarly({ interruptId, answer, by }: Answer): void {
    this.state.early = { ...this.state.early, [interruptId]: { answer, ...defined({ by }) } };
  }

  private handOn(answer: Answer, waiting: WaitingCode): void {
    const { [answer.interruptId]: _, ...others } = this.state.early ?? {};
    this.state.early = others;
    if (this.closed === undefined) waiting.resolve(answer.answer, answer);
    else waiting.reject(this.closed);
  }

  cancelAll(error: unknown): void {
    this.closed = error;
    for (const [id, waiting] of this.waiting) {
      this.remove(id);
      this.ports.emit({ type: 'interrupt-end', interruptId: id, answer: null, reason: 'cancel' });
      waiting.timer?.cancel();
      waiting.reject(error);
    }
    this.given.refuseAll((id) => this.past.whyNotOpen(id, this.isClosed));
    for (const { shown, refuse } of this.later.values()) refuse(this.tellDoubt(shown, error));
    this.later.clear();
    this.goOn();
  }

  /** Ends what is asked inside of a place that has ended: nobody waits there any more. */
  leave(address: readonly string[], error: unknown): void {
    const isInside = (shown: Interrupt): boolean => address.every((segment, position) => shown.address[position] === segment);
    for (const [id, { shown, refuse }] of this.later) {
      if (!isInside(shown)) continue;
      this.later.delete(id);
      refuse(error);
    }
    for (const { shown } of this.state.interrupts.filter((interrupt) => isInside(interrupt.shown))) {
      const waiting = this.waiting.get(shown.id);
      this.withdraw(shown.id, this.endOfAsking(shown.id));
      waiting?.timer?.cancel();
      waiting?.reject(error);
    }
  }

  /** Nobody waits for it any more: whoever asked has ended, or goes on without the answer. */
  drop(id: string, error: unknown): void {
    const waiting = this.waiting.get(id);
    const later = this.later.get(id);
    this.withdraw(id, this.endOfAsking(id));
    waiting?.timer?.cancel();
    waiting?.reject(error);
    later?.refuse(error);
  }

  /** Of a question whose code has ended: because its time was up, or for another reason. */
  private endOfAsking(id: string): InterruptEnd {
    const pending = this.state.interrupts.find(({ shown }) => shown.id === id);
    const isOver = pending?.isLimited === true && (pending.shown.deadline ?? Infinity) <= this.ports.now();
    return { answer: null, reason: isOver ? 'deadline' : 'cancel' };
  }

  private expire(id: string): void {
    const waiting = this.waiting.get(id);
    const pending = this.state.interrupts.find(({ shown }) => shown.id === id);
    if (waiting === undefined || pending === undefined) return;
    if (this.held !== undefined) return void this.held.push(() => this.expire(id));
    const asked = policyIn(this.state, id);
    this.remove(id);
    this.past.expired(id);
    this.ports.emit({ type: 'interrupt-end', interruptId: id, answer: pending.onDeadline ?? null, reason: 'deadline', ...asked });
    this.ports.hideInterrupt(id);
    this.showNext();
    if (pending.onDeadline !== undefined) waiting.resolve(pending.onDeadline, undefined);
    else waiting.reject(new HoldfastError('interrupt-expired', `Nobody answered "${id}" in time, and it has no default.`));
  }

  /** A step of an interrupt that an isolated agent asks. */
  tellStep(event: InterruptStepEvent): void {
    if (this.waiting.has(event.interruptId)) this.ports.emit(event);
  }

  private remove(id: string): void {
    this.ended += 1;
    this.steps.end(id);
    this.waiting.delete(id);
    this.state.interrupts = this.state.interrupts.filter(({ shown }) => shown.id !== id);
    this.past.answered(id);
  }
}
