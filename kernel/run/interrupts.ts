import { HoldfastError } from '../../contract/errors';
import type { Answer, Interrupt } from '../../contract/interrupts';
import { answeredBefore, expired, latenessOf, refusalOf, withdrawn } from '../../contract/interrupts';
import { jsonSize, limits } from '../../contract/limits';
import type { Failure, Json } from '../../contract/messages/messages';
import type { InterruptEnd, Told } from './given-answers';
import { GivenAnswers } from './given-answers';
import type { Ports, Timer } from './ports';
import type { PendingInterrupt, RunState } from './state';

const keptAnswers = 1000;
/** The second way of an answer takes seconds. */
const keptDeliveries = 200;

interface WaitingCode {
  readonly resolve: (answer: Json, whole: Answer) => void;
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
  ) {}

  /**
   * Waits for the answer. An interrupt that went over a continue-as-new under the same id waits on. One that does not fit beside those that are open
   * is shown when one of them has its answer.
   */
  open(pending: PendingInterrupt): Promise<Json> {
    const { id } = pending.shown;
    const { [id]: early, ...others } = this.state.early ?? {};
    if (early !== undefined) {
      this.state.early = others;
      return Promise.resolve(early.answer);
    }
    const known = this.state.interrupts.find((interrupt) => interrupt.shown.id === id);
    const interrupt = known ?? pending;
    if (this.closed !== undefined) return Promise.reject(this.closed);
    if (known === undefined) {
      if (!this.hasRoom(pending.shown)) return this.openLater(pending);
      this.list(pending);
    }
    return this.wait(interrupt);
  }

  /** People have as long for it as they would have had at once. */
  private openLater(pending: PendingInterrupt): Promise<Json> {
    const { shown } = pending;
    const asked = this.ports.now();
    return new Promise((resolve, refuse) => {
      const show = (): void => {
        const late =
          shown.deadline === undefined || pending.isLimited
            ? pending
            : { ...pending, shown: { ...shown, deadline: shown.deadline + this.ports.now() - asked } };
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

  private wait({ shown, isLimited }: PendingInterrupt): Promise<Json> {
    const { id, deadline } = shown;
    return new Promise((resolve, reject) => {
      const timer = deadline === undefined || isLimited ? undefined : this.ports.timer(deadline);
      timer?.fired.then(
        () => this.expire(id),
        () => undefined,
      );
      this.waiting.set(id, { resolve, reject, timer });
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
    this.waiting.set(id, { resolve: (_, whole) => forward(whole), reject: () => undefined, timer: undefined, isApart: true });
  }

  /** It has ended there: by an answer that came another way, by its deadline, or with that run. */
  withdraw(id: string, end: InterruptEnd): void {
    this.later.delete(id);
    if (!this.waiting.has(id)) return;
    const isGiven = this.given.has(id);
    this.remove(id);
    if (end.reason === 'deadline') this.keepExpired(id);
    if (end.reason === 'cancel') this.keepWithdrawn(id);
    this.ports.emit({ type: 'interrupt-end', interruptId: id, ...end });
    if (isGiven) this.given.end(id, end, this.whyNotOpen(id));
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

  get size(): number {
    return this.waiting.size;
  }

  /** Why an answer would be refused that the server took at this time, or nothing. */
  refusalOf(answer: Answer, at = this.ports.now()): Failure | undefined {
    // The same one may come again, by another way or after a continue-as-new: whoever gave it hears that it was taken.
    if (this.wasDelivered(answer)) return undefined;
    const interrupt = this.state.interrupts.find(({ shown }) => shown.id === answer.interruptId)?.shown;
    if (interrupt === undefined) return this.whyNotOpen(answer.interruptId);
    if (this.given.has(answer.interruptId)) return answeredBefore(answer.interruptId);
    return latenessOf(interrupt, at) ?? refusalOf(interrupt, answer);
  }

  private whyNotOpen(id: string): Failure {
    const { answered, expired: late = [], withdrawn: left = [] } = this.state;
    if (late.includes(id)) return expired(id);
    if (this.closed !== undefined) return { code: 'run-ended', message: 'The run was cancelled, and takes no answer any more.' };
    if (left.includes(id)) return withdrawn(id);
    return answered.includes(id)
      ? answeredBefore(id)
      : { code: 'interrupt-unknown', message: `This run waits for no interrupt "${id}".${this.pendingText()}` };
  }

  /**
   * Takes an answer that fits and returns its number; another one only leaves an event, and the same one nothing. One to an isolated agent
   * counts when the agent says so: `told` hears of it then, and of any other at once.
   */
  answer(answer: Answer, at = this.ports.now(), told?: Told): number {
    if (this.wasDelivered(answer)) return (told?.(), this.state.sequence);
    const refused = this.refusalOf(answer, at);
    if (refused !== undefined) {
      this.emitIgnored(answer, refused);
      return (told?.(refused), this.state.sequence);
    }
    const waiting = this.waiting.get(answer.interruptId);
    if (waiting?.isApart === true && this.ports.isolatedDecide()) return this.give(answer, at, told, waiting);
    if (waiting === undefined || this.held !== undefined) this.keepEarly(answer);
    this.remove(answer.interruptId);
    this.keepDelivery(answer);
    this.ports.emit({ type: 'interrupt-end', interruptId: answer.interruptId, answer: answer.answer, reason: 'answer', ...byOf(answer) });
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
    this.keepDelivery(answer);
    this.ports.hideInterrupt(answer.interruptId);
    this.ports.afterHandlers(() => waiting.resolve(answer.answer, { ...answer, at }));
    return ++this.state.sequence;
  }

  private keepDelivery({ delivery }: Answer): void {
    if (delivery !== undefined) this.state.delivered = [...(this.state.delivered ?? []), delivery].slice(-keptDeliveries);
  }

  private wasDelivered({ delivery }: Answer): boolean {
    return delivery !== undefined && this.state.delivered?.includes(delivery) === true;
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

  private keepEarly({ interruptId, answer }: Answer): void {
    this.state.early = { ...this.state.early, [interruptId]: { answer } };
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
    this.given.refuseAll((id) => this.whyNotOpen(id));
    for (const { refuse } of this.later.values()) refuse(error);
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
    this.remove(id);
    this.keepExpired(id);
    this.ports.emit({ type: 'interrupt-end', interruptId: id, answer: pending.onDeadline ?? null, reason: 'deadline' });
    this.ports.hideInterrupt(id);
    this.showNext();
    if (pending.onDeadline !== undefined) waiting.resolve(pending.onDeadline, { interruptId: id, answer: pending.onDeadline });
    else waiting.reject(new HoldfastError('interrupt-expired', `Nobody answered "${id}" in time, and it has no default.`));
  }

  private remove(id: string): void {
    this.ended += 1;
    this.waiting.delete(id);
    this.state.interrupts = this.state.interrupts.filter(({ shown }) => shown.id !== id);
    this.state.answered = [...this.state.answered, id].slice(-keptAnswers);
  }

  private keepExpired(id: string): void {
    this.state.expired = [...(this.state.expired ?? []), id].slice(-keptAnswers);
  }

  private keepWithdrawn(id: string): void {
    this.state.withdrawn = [...(this.state.withdrawn ?? []), id].slice(-keptAnswers);
  }

  private pendingText(): string {
    const ids = this.state.interrupts.map(({ shown }) => shown.id);
    return ids.length === 0 ? ' It waits for nothing.' : ` It waits for: ${ids.join(', ')}.`;
  }
}

function byOf(answer: Answer): { by?: string } {
  return answer.by === undefined ? {} : { by: answer.by };
}
