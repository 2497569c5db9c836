import type { Answer, Interrupt } from '../interrupts';

/** Asks for answers to an isolated agent's interrupts, as they may stand in the history of the run that somebody started. */
export interface AnswersElsewhere {
  readonly workflowId: string;
  /** With the ids that they have there. */
  readonly interrupts: readonly Interrupt[];
}

/** One of them, with the time at which it was given. */
export type ElsewhereAnswer = Answer & { readonly at: number };
