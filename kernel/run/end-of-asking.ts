import type { InterruptEnd } from './given-answers';
import type { Ports } from './ports';
import type { RunState } from './state';

/** The end of a question whose code has ended: deadline or cancel. */
export function endOfAsking({ interrupts }: RunState, ports: Pick<Ports, 'now'>, id: string): InterruptEnd {
  const pending = interrupts.find(({ shown }) => shown.id === id);
  const isOver = pending?.isLimited === true && (pending.shown.deadline ?? Infinity) <= ports.now();
  return { answer: null, reason: isOver ? 'deadline' : 'cancel' };
}
