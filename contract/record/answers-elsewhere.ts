import type { Answer, Interrupt } from '../interrupts';

/** Asks for answers to an isolated agent's interrupts in the history of the root run. */
export interface AnswersElsewhere {
  readonly workflowId: string;
  /** With their ids there. */
  readonly interrupts: readonly Interrupt[];
}

export type ElsewhereAnswer = Answer & { readonly at: number };
