import type { Answer, Interrupt } from '../interrupts';

/** When the server took an answer, and the workflow that sent it. Absent: a client did. */
export interface AnswerTime {
  readonly at: number;
  readonly from?: string;
}

/** Asks for answers to an isolated agent's interrupts, as they may stand in the history of the run that somebody started. */
export interface AnswersElsewhere {
  readonly workflowId: string;
  /** With the ids that they have there. */
  readonly interrupts: readonly Interrupt[];
}

/** One of them, with the time at which that run took it. */
export type ElsewhereAnswer = Answer & { readonly at: number };
