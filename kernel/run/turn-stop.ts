import { HoldfastError, codeOf } from '../../contract/errors';
import { isCancellation } from '../effects/errors';
import type { RunScope } from './scope';

/** See `Frame.isDeaf`. */
export const mostRefusals = 1000;

export function stoppedBeforeCall(): HoldfastError {
  return new HoldfastError('cancelled', 'The turn was stopped before this call began.');
}

export function stopsTurn({ inbox, ports }: Pick<RunScope, 'inbox' | 'ports'>): boolean {
  return inbox?.mustStop === true && !ports.cancelled && ports.isTrial !== true;
}

export function isEndOfTurn(run: Pick<RunScope, 'inbox' | 'ports' | 'stoppedBy'>, error: unknown): boolean {
  return stopsTurn(run) && run.stoppedBy === undefined && (isCancellation(error) || codeOf(error) === 'child-cancelled');
}
