import { authorOf, authorWithRoles } from '../../../contract/author';
import { HoldfastError } from '../../../contract/errors';
import type { Answer, Interrupt } from '../../../contract/interrupts';
import { answeredBefore, latenessOf, refusalOf, withdrawn } from '../../../contract/interrupts';
import type { Failure, Json } from '../../../contract/messages/messages';
import { people } from '../../../contract/people';
import { EarlyAnswers } from './early-answers';
import type { InterruptEnd, Told } from './given-answers';
import { GivenAnswers } from './given-answers';
import { HeldActs } from './held-acts';
import type { AskedApart } from './interrupt-line';
import { InterruptLine } from './interrupt-line';
import type { InterruptStepEvent } from './interrupt-steps';
import { InterruptSteps, shifted } from './interrupt-steps';
import { PastInterrupts } from './past-interrupts';
import type { Ports, Timer } from '../ports';
import type { PendingInterrupt, RunState } from '../state';
import { endOfAsking, policyIn, timeOf, toldOf } from './told-of-answer';

interface WaitingCode {
  readonly resolve: (answer: Json, whole: Answer | undefined) => void;
  readonly reject: (error: unknown) => void;
  readonly timer: Timer | undefined;
  readonly apart?: AskedApart;
}

/** Answers come by id, in any order; the first answer counts. */
export class OpenInterrupts {
  private readonly waiting = new Map<string, WaitingCode>();
  private readonly line: InterruptLine;
  private readonly steps: InterruptSteps;
  private readonly past: PastInterrupts;
  private readonly early: EarlyAnswers;
  private readonly given = new GivenAnswers((answer, refused) => this.emitIgnored(answer, refused));
  /** Set after a cancel or stop: later questions are refused. */
  private closed: unknown;
  ended = 0;
  private readonly held = new HeldActs();

  constructor(
    private readonly state: RunState,
    private readonly ports: Ports,
    private readonly isTurnStopped = (): boolean => false,
  ) {
    this.line = new InterruptLine(state, ports);
    this.past = new PastInterrupts(state);
    this.early = new EarlyAnswers(state, ports);
    this.steps = new InterruptSteps(state, ports, (act) => this.held.act(act));
  }

  /** Without room the interrupt is shown after another has its answer. */
  open(pending: PendingInterrupt): Promise<Json> {
    const { id } = pending.shown;
    const early = this.early.ask(id);
    if (early !== undefined) return early.then((given) => toldOf(pending, given.answer, given));
    const known = this.state.interrupts.find((interrupt) => interrupt.shown.id === id);
    if (this.closed !== undefined) return Promise.reject(this.tellDoubt(pending.shown, this.closed));
    if (this.isTurnStopped()) return this.refuseStopped(pending.shown);
    if (known === undefined) {
      if (!this.line.hasRoom(pending.shown)) return this.openLater(pending);
      this.list(pending);
    }
    return this.wait(known ?? pending);
  }

  /** An ending run asks no people, but the log must report a call in doubt. */
  private tellDoubt(shown: Interrupt, error: unknown): unknown {
    if (shown.kind !== 'in-doubt') return error;
    this.list({ shown });
    this.takeBack(shown.id);
    return error;
  }

  private takeBack(id: string): void {
    this.end(id);
    if (!this.isClosed) this.past.withdrawn(id);
    this.ports.hideInterrupt(id);
  }

  private openLater(pending: PendingInterrupt): Promise<Json> {
    const { shown } = pending;
    const asked = this.ports.now();
    return new Promise((resolve, refuse) => {
      const show = (): void => {
        const late = pending.isLimited ? pending : { ...pending, shown: shifted(shown, this.ports.now() - asked) };
        this.list(late);
        this.wait(late).then(resolve, refuse);
      };
      this.line.add({ shown, show, refuse });
    });
  }

  private list(pending: PendingInterrupt): void {
    this.state.interrupts.push({ ...pending, since: this.ports.now() });
    this.ports.emit({ type: 'interrupt-start', interrupt: pending.shown });
    this.ports.showInterrupt(pending.shown);
  }

  private wait(pending: PendingInterrupt): Promise<Json> {
    const { shown, isLimited } = pending;
    const { id, deadline } = shown;
    return new Promise((resolved, reject) => {
      const resolve: WaitingCode['resolve'] = (answer, whole) => resolved(toldOf(pending, answer, whole));
      const timer = deadline === undefined || isLimited ? undefined : this.ports.timer(shown.address.join('/'), deadline);
      timer?.fired.then(
        () => this.expire(id),
        () => undefined,
      );
      this.waiting.set(id, { resolve, reject, timer });
      this.steps.follow(id);
    });
  }

  /** The isolated agent's own run waits for the answer and the deadline. */
  show(shown: Interrupt, apart: AskedApart): void {
    const { id } = shown;
    if (this.closed !== undefined || this.waiting.has(id)) return;
    if (this.isTurnStopped()) return apart.stop();
    if (!this.line.hasRoom(shown)) {
      this.line.add({ shown, show: () => this.show(shown, apart), refuse: () => undefined, apart });
      return;
    }
    this.list({ shown });
    this.waiting.set(id, { resolve: (_, whole) => whole && apart.answer(whole), reject: () => undefined, timer: undefined, apart });
  }

  /** Isolated agents are stopped, and report the end of their questions. */
  stopAsking(): void {
    if (this.waiting.size + this.line.size === 0) return;
    if (this.held.isOn) return this.held.act(() => this.stopAsking());
    for (const { shown, apart, refuse } of this.line.removeAll()) {
      if (apart === undefined) refuse(this.tellDoubt(shown, turnStopped(shown)));
      else apart.stop();
    }
    for (const { shown } of [...this.state.interrupts]) {
      const waiting = this.waiting.get(shown.id);
      if (waiting === undefined) continue;
      if (waiting.apart !== undefined) {
        waiting.apart.stop();
        continue;
      }
      this.withdraw(shown.id, { answer: null, reason: 'cancel' });
      waiting.timer?.cancel();
      // The caller who stopped the turn gets the reply first.
      this.ports.atRest(() => waiting.reject(turnStopped(shown)));
    }
  }

  /** Re-entered code may ask a withdrawn question again. */
  private refuseStopped(shown: Interrupt): Promise<never> {
    if (this.state.interrupts.some((interrupt) => interrupt.shown.id === shown.id)) this.takeBack(shown.id);
    else this.tellDoubt(shown, undefined);
    return Promise.reject(turnStopped(shown));
  }

  withdraw(id: string, end: InterruptEnd): void {
    this.line.remove(id);
    if (!this.waiting.has(id) && !this.isLeftOver(id)) return;
    const isGiven = this.given.has(id);
    this.tellEnd(id, end);
    if (isGiven) this.given.end(id, end, this.past.whyNotOpen(id, this.isClosed));
    else this.ports.hideInterrupt(id);
    this.line.showNext();
  }

  /** The question is from before a continue-as-new. In a trial its end means changed code. */
  private isLeftOver(id: string): boolean {
    return this.state.interrupts.some(({ shown }) => shown.id === id) && this.ports.isTrial !== true;
  }

  /** The parent run emits the event for answers that it handed on. */
  private emitIgnored(answer: Answer, { code }: Failure): void {
    if (answer.handedOn === true && this.state.parent !== undefined) return;
    this.ports.emit({ type: 'resume-ignored', interruptId: answer.interruptId, code, ...authorOf(answer) });
  }

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

  refusalOf(answer: Answer): Failure | undefined {
    // An answer may arrive twice, by two ways or after a continue-as-new.
    if (this.past.wasDelivered(answer)) return undefined;
    const interrupt = this.state.interrupts.find(({ shown }) => shown.id === answer.interruptId)?.shown;
    if (interrupt === undefined) return this.past.whyNotOpen(answer.interruptId, this.isClosed);
    if (this.given.has(answer.interruptId)) return answeredBefore(answer.interruptId);
    // After a continue-as-new the turn may be stopped before its code asks again.
    if (!this.waiting.has(answer.interruptId) && this.isTurnStopped()) return withdrawn(answer.interruptId);
    const at = timeOf(answer, this.state, this.ports.now());
    return latenessOf(interrupt, at) ?? refusalOf(interrupt, answer, at, people);
  }

  /** An answer to an isolated agent counts when the agent accepts it: `told` is called then, and at once for other answers. */
  answer(answer: Answer, told?: Told): number {
    if (this.past.wasDelivered(answer)) return (told?.(), this.state.sequence);
    const refused = this.refusalOf(answer);
    if (refused !== undefined) {
      this.emitIgnored(answer, refused);
      return (told?.(refused), this.state.sequence);
    }
    const whole: Answer = { ...answer, at: timeOf(answer, this.state, this.ports.now()) };
    const waiting = this.waiting.get(answer.interruptId);
    if (waiting?.apart !== undefined) return this.give(whole, told, waiting);
    if (waiting === undefined || this.held.isOn) this.early.keep(answer);
    this.tellEnd(answer.interruptId, { answer: answer.answer, reason: 'answer', ...authorWithRoles(answer) });
    this.past.delivered(answer);
    this.ports.hideInterrupt(answer.interruptId);
    waiting?.timer?.cancel();
    this.line.showNext();
    // The caller gets the reply before the run goes on.
    if (waiting !== undefined && this.held.isOn) this.held.act(() => this.handOn(whole, waiting));
    else if (waiting !== undefined) this.ports.atRest(() => waiting.resolve(answer.answer, whole));
    this.state.sequence += 1;
    told?.();
    return this.state.sequence;
  }

  /** The agent decides whether the answer counts, because its code may have gone on. */
  private give(answer: Answer, told: Told | undefined, waiting: WaitingCode): number {
    this.given.add(answer, told);
    this.past.delivered(answer);
    this.ports.hideInterrupt(answer.interruptId);
    this.ports.atRest(() => waiting.resolve(answer.answer, answer));
    return ++this.state.sequence;
  }

  /** Answers wake no code, because the run may continue as new with the answers in its state. */
  hold(): void {
    this.held.hold();
  }

  goOn(): void {
    this.held.goOn();
  }

  private handOn(answer: Answer, waiting: WaitingCode): void {
    this.early.remove(answer.interruptId);
    if (this.closed === undefined) waiting.resolve(answer.answer, answer);
    else waiting.reject(this.closed);
  }

  cancelAll(error: unknown): void {
    this.closed = error;
    for (const [id, waiting] of this.waiting) {
      this.end(id);
      waiting.timer?.cancel();
      waiting.reject(error);
    }
    this.endAll();
    this.given.refuseAll((id) => this.past.whyNotOpen(id, this.isClosed));
    for (const { shown, refuse } of this.line.removeAll()) refuse(this.tellDoubt(shown, error));
    this.goOn();
  }

  endAll(): void {
    if (this.ports.isTrial === true) return;
    for (const { shown } of [...this.state.interrupts]) this.end(shown.id);
  }

  private end(id: string): void {
    this.remove(id);
    this.ports.emit({ type: 'interrupt-end', interruptId: id, answer: null, reason: 'cancel' });
  }

  leave(address: readonly string[], error: unknown): void {
    const isInside = (shown: Interrupt): boolean => address.every((segment, position) => shown.address[position] === segment);
    for (const { refuse } of this.line.removeAll(isInside)) refuse(error);
    for (const { shown } of this.state.interrupts.filter((interrupt) => isInside(interrupt.shown))) {
      const waiting = this.waiting.get(shown.id);
      this.withdraw(shown.id, endOfAsking(this.state, this.ports, shown.id));
      waiting?.timer?.cancel();
      waiting?.reject(error);
    }
  }

  drop(id: string, error?: unknown): void {
    const waiting = this.waiting.get(id);
    const later = this.line.remove(id);
    this.withdraw(id, endOfAsking(this.state, this.ports, id));
    waiting?.timer?.cancel();
    waiting?.reject(error);
    later?.refuse(error);
  }

  private expire(id: string): void {
    const waiting = this.waiting.get(id);
    const pending = this.state.interrupts.find(({ shown }) => shown.id === id);
    if (waiting === undefined || pending === undefined) return;
    if (this.held.isOn) return this.held.act(() => this.expire(id));
    this.tellEnd(id, { answer: pending.onDeadline ?? null, reason: 'deadline' });
    this.ports.hideInterrupt(id);
    this.line.showNext();
    if (pending.onDeadline !== undefined) waiting.resolve(pending.onDeadline, undefined);
    else waiting.reject(new HoldfastError('interrupt-expired', `Nobody answered "${id}" in time, and it has no default.`));
  }

  tellStep(event: InterruptStepEvent): void {
    if (this.waiting.has(event.interruptId)) this.ports.emit(event);
  }

  private tellEnd(id: string, end: InterruptEnd): void {
    const asked = policyIn(this.state, id);
    this.remove(id);
    if (end.reason === 'deadline') this.past.expired(id);
    if (end.reason === 'cancel') this.past.withdrawn(id);
    this.ports.emit({ type: 'interrupt-end', interruptId: id, ...end, ...asked });
  }

  private remove(id: string): void {
    this.ended += 1;
    this.steps.end(id);
    this.waiting.delete(id);
    this.state.interrupts = this.state.interrupts.filter(({ shown }) => shown.id !== id);
    this.past.answered(id);
  }
}

function turnStopped(asked: Pick<Interrupt, 'kind'>): HoldfastError {
  const what =
    asked.kind === 'in-doubt'
      ? 'Nobody knows whether this call took effect: the turn was stopped'
      : 'The turn was stopped before somebody answered';
  return new HoldfastError('cancelled', `${what}.`);
}
