import { HoldfastError } from '../../contract/errors';
import { blame } from '../effects/errors';

/** Asks a function of the agent, and names it when it throws. */
export function asked<T>(label: string, ask: () => T): T {
  try {
    return ask();
  } catch (error) {
    throw blame(error, label);
  }
}

/** A promise would pass for a yes. */
export function checkedYesOrNo(answer: unknown, label: string): boolean {
  if (typeof answer === 'boolean') return answer;
  throw new HoldfastError('hook-failed', `${label} returned ${typeof answer}; it decides at once, with true or false.`);
}
