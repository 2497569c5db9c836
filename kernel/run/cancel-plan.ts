import { authorOf } from '../../contract/author';
import { defined } from '../../contract/defined';
import type { CancelFacts, CancelMode, CancelRequest } from '../../contract/cancel';
import { HoldfastError } from '../../contract/errors';
import type { Ports, Timer } from './ports';
import type { CancelState, RunState } from './state';

/** `between`: an agent has ended, and the next agent has not begun. */
export type SafePoint = 'after-model' | 'after-tools' | 'between';

export class CancelPlan {
  private timer: Timer | undefined;
  private torn = false;
  private facts: CancelFacts | undefined;
  private below = 0;

  constructor(
    private readonly state: RunState,
    private readonly ports: Ports,
    private readonly tearDown: (error: HoldfastError) => void,
  ) {}

  get isAsked(): boolean {
    return this.state.cancel !== undefined;
  }

  get isHeard(): boolean {
    return this.facts !== undefined || this.ports.cancelled;
  }

  get isRecursive(): boolean {
    return this.state.cancel?.recursive === true;
  }

  /** `now` overrides other modes, modes accumulate, and `recursive` stays. */
  ask(request: CancelRequest): void {
    if (this.torn) return;
    const { modes, recursive, withinMs, reason } = request;
    this.ports.emit({ type: 'cancel-request', modes, recursive, ...defined({ withinMs, reason }), ...authorOf(request) });
    const { cancel } = this.state;
    const said = cancel === undefined || modes.includes('now') || (cancel.reason === undefined && cancel.by === undefined);
    this.state.cancel = {
      modes: [...new Set([...(cancel?.modes ?? []), ...modes])],
      recursive: cancel?.recursive === true || recursive,
      ...defined({ deadline: cancel?.deadline }),
      ...defined({ reason: said ? (reason ?? cancel?.reason) : cancel.reason }),
      ...authorOf(said && request.by !== undefined ? request : (cancel ?? {})),
    };
    if (this.isRecursive) this.ports.cancelChildren(request);
    this.look();
  }

  limit(deadline: number): void {
    const { cancel } = this.state;
    if (cancel === undefined || this.torn || deadline >= (cancel.deadline ?? Infinity)) return;
    this.state.cancel = { ...cancel, deadline };
    this.waitUntil(deadline);
  }

  restore(): void {
    const deadline = this.state.cancel?.deadline;
    if (deadline !== undefined) this.waitUntil(deadline);
  }

  /** Throws if a cancel takes effect at this safe point. */
  at(point: SafePoint, { path }: { readonly path: readonly string[] }): void {
    const { cancel } = this.state;
    if (cancel === undefined || (path.length > 1 && !cancel.recursive)) return;
    const isMeant = point === 'between' || cancel.modes.includes(point) || cancel.modes.includes('now');
    if (!isMeant) return;
    this.take(modeAt(cancel, point));
    throw cancelled();
  }

  endedBelow(): void {
    const { cancel } = this.state;
    if (cancel !== undefined) this.take(modeAt(cancel, 'between'));
  }

  /** Waiting only for people is a safe point. */
  stopWaiting(): boolean {
    const { cancel } = this.state;
    if (cancel === undefined || !this.mayStopWaiting) return false;
    this.stop(modeAt(cancel, 'between'));
    return true;
  }

  get mayStopWaiting(): boolean {
    return !this.torn && this.isAsked && (this.isRecursive || this.below === 0);
  }

  enters(): () => void {
    this.below += 1;
    return () => {
      this.below -= 1;
      if (this.below === 0) this.look();
    };
  }

  stoppedFromOutside(): void {
    if (this.state.cancel !== undefined && !this.torn) this.take('now');
    this.torn = true;
    this.timer?.cancel();
  }

  private look(): void {
    const { cancel } = this.state;
    if (cancel?.modes.includes('now') === true && (cancel.recursive || this.below === 0)) this.stop('now');
  }

  private waitUntil(deadline: number): void {
    this.timer?.cancel();
    const timer = this.ports.timer('', deadline);
    this.timer = timer;
    timer.fired.then(
      () => {
        if (this.timer === timer) this.stop('now', true);
      },
      () => undefined,
    );
  }

  private stop(mode: CancelMode, escalated = false): void {
    if (this.torn) return;
    this.torn = true;
    this.timer?.cancel();
    this.take(mode, escalated);
    this.tearDown(cancelled());
  }

  private take(mode: CancelMode, escalated = false): void {
    if (this.facts !== undefined && this.facts.mode === mode && !escalated) return;
    // The time may be up after some agents stopped at safe points.
    if (this.facts !== undefined && mode !== 'now') return;
    const { cancel = {} }: { readonly cancel?: Partial<CancelState> } = this.state;
    this.facts = { mode, ...(escalated ? { escalated } : {}), ...defined({ reason: cancel.reason }), ...authorOf(cancel) };
    this.ports.emit({ type: 'cancel-start', ...this.facts });
  }
}

export function cancelled(): HoldfastError {
  return new HoldfastError('cancelled', 'The run was cancelled.');
}

function modeAt({ modes }: CancelState, point: SafePoint): CancelMode {
  if (point !== 'between' && modes.includes(point)) return point;
  return modes.find((mode) => mode !== 'now') ?? 'now';
}
