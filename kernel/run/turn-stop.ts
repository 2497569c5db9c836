import { HoldfastError, codeOf } from '../../contract/errors';
import type { Interrupt } from '../../contract/interrupts';
import { isCancellation } from '../effects/errors';
import type { RunScope } from './scope';

/** What a question ends with when somebody ends the turn that it is part of. */
export function turnStopped(asked: Pick<Interrupt, 'kind'>): HoldfastError {
  const what =
    asked.kind === 'in-doubt'
      ? 'Nobody knows whether this call took effect: the turn was stopped'
      : 'The turn was stopped before somebody answered';
  return new HoldfastError('cancelled', `${what}.`);
}

/** How often code is told so that asks again each time. */
const mostRefusals = 1000;

/** Whether the turn at work asks people any more. */
export class AskingEnd {
  private refusals = 0;

  constructor(private readonly isTurnStopped = (): boolean => false) {}

  get isReached(): boolean {
    if (this.isTurnStopped()) return true;
    this.refusals = 0;
    return false;
  }

  /** Code that catches every refusal would go round for ever: what it asks for after that never comes. */
  refuse(asked: Interrupt): Promise<never> {
    return ++this.refusals > mostRefusals ? new Promise<never>(() => undefined) : Promise.reject(turnStopped(asked));
  }
}

/** What a call ends with that had not begun. */
export function stoppedBeforeCall(): HoldfastError {
  return new HoldfastError('cancelled', 'The turn was stopped before this call began.');
}

/** Whether somebody ends the turn at work, and nobody the run. */
export function stopsTurn({ inbox, ports }: Pick<RunScope, 'inbox' | 'ports'>): boolean {
  return inbox?.mustStop === true && !ports.cancelled && ports.isTrial !== true;
}

/** Whether an error is the end of what somebody stopped, and not one of the code that threw it. */
export function isEndOfTurn(run: Pick<RunScope, 'inbox' | 'ports' | 'stoppedBy'>, error: unknown): boolean {
  return stopsTurn(run) && run.stoppedBy === undefined && (isCancellation(error) || codeOf(error) === 'child-cancelled');
}
