import { defined } from '../../../contract/defined';
import type { EventBody } from '../../../contract/events';
import type { Interrupt } from '../../../contract/interrupts';
import type { Ports, Timer } from '../ports';
import type { PendingInterrupt, RunState } from '../state';

export type InterruptStepEvent = Extract<EventBody, { type: 'interrupt-remind' | 'interrupt-escalate' }>;

/** Who may answer depends only on the interrupt and the time, not on a running worker. */
export class InterruptSteps {
  private readonly timers = new Map<string, Timer>();

  constructor(
    private readonly state: RunState,
    private readonly ports: Ports,
    private readonly act: (act: () => void) => void,
  ) {}

  follow(id: string): void {
    const step = this.nextOf(id);
    if (step === undefined) return;
    const timer = this.ports.timer(step.place, step.at);
    this.timers.set(id, timer);
    timer.fired.then(
      () => this.act(() => this.tell(id)),
      () => undefined,
    );
  }

  end(id: string): void {
    const timer = this.timers.get(id);
    this.timers.delete(id);
    timer?.cancel();
  }

  private tell(id: string): void {
    const step = this.nextOf(id);
    if (step === undefined || !this.timers.delete(id)) return;
    this.state.interrupts = this.state.interrupts.map((pending) =>
      pending.shown.id === id ? { ...pending, told: (pending.told ?? 0) + 1 } : pending,
    );
    const { at } = step;
    this.ports.emit(
      step.type === 'remind'
        ? { type: 'interrupt-remind', interruptId: id, at }
        : { type: 'interrupt-escalate', interruptId: id, at, ...defined({ by: step.by, roles: step.roles }) },
    );
    this.follow(id);
  }

  private nextOf(id: string): (NonNullable<Interrupt['steps']>[number] & { readonly place: string }) | undefined {
    const pending = this.state.interrupts.find(({ shown }: PendingInterrupt) => shown.id === id);
    const step = pending?.shown.steps?.[pending.told ?? 0];
    return step && { ...step, place: pending?.shown.address.join('/') ?? '' };
  }
}

/** Interrupts that are shown late keep their full time. */
export function shifted(shown: Interrupt, waited: number): Interrupt {
  const { deadline, steps } = shown;
  if (deadline === undefined && steps === undefined) return shown;
  return {
    ...shown,
    ...defined({
      deadline: deadline === undefined ? undefined : deadline + waited,
      steps: steps?.map((step) => ({ ...step, at: step.at + waited })),
    }),
  };
}
