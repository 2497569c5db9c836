import { HoldfastError } from '../../contract/errors';
import { blame } from '../effects/errors';

export function asked<T>(label: string, ask: () => T): T {
  try {
    return ask();
  } catch (error) {
    throw blame(error, label);
  }
}

export function decides(label: string, ask: () => unknown): boolean {
  const answer = asked(label, ask);
  if (typeof answer === 'boolean') return answer;
  throw new HoldfastError('hook-failed', `${label} returned ${typeof answer}; it decides at once, with true or false.`);
}
