import type { Answer, Interrupt } from '../interrupts';

/** Finds answers to an isolated agent's interrupts in the root run. */
export interface AnswersElsewhere {
  readonly workflowId: string;
  /** The interrupts have the ids of the root run. */
  readonly interrupts: readonly Interrupt[];
}

export type ElsewhereAnswer = Answer & { readonly at: number };
