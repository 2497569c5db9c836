import type { InterruptEnd } from './given-answers';
import type { Ports } from './ports';
import type { RunState } from './state';

/** Of a question whose code has ended: because its time was up, or for another reason. */
export function endOfAsking({ interrupts }: RunState, ports: Pick<Ports, 'now'>, id: string): InterruptEnd {
  const pending = interrupts.find(({ shown }) => shown.id === id);
  const isOver = pending?.isLimited === true && (pending.shown.deadline ?? Infinity) <= ports.now();
  return { answer: null, reason: isOver ? 'deadline' : 'cancel' };
}
