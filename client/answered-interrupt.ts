import type { RunView } from '../contract/events';
import type { Interrupt } from '../contract/interrupts';

/** How long an answer waits for a worker before it is left as a signal. */
export const updateTimeoutMs = 5000;

export function interruptIn({ view }: { readonly view: Pick<RunView, 'interrupts'> }, interruptId: string): Interrupt | undefined {
  return view.interrupts.find(({ id }) => id === interruptId);
}
