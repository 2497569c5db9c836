import { z } from 'zod';
import { HoldfastError } from '../contract/plain/errors';
import type { ApprovalDecision, Interrupt } from '../contract/plain/interrupts';
import { misfitOf } from '../contract/plain/interrupts';
import { jsonSize, limits } from '../contract/plain/limits';
import type { Json } from '../contract/plain/messages';
import { notJson } from '../contract/plain/messages';

export interface AnswerOptions {
  /** Who answers. */
  readonly by?: string;
  /** The hash of the arguments that were shown; other arguments are refused. */
  readonly inputHash?: string;
}

export type ApproveOptions = AnswerOptions & { readonly editedInput?: Json; readonly forRestOfRun?: boolean };

/** What every answer must be, whatever it answers. */
export function checkSize(answer: Json): void {
  const problem = notJson(answer);
  if (problem !== undefined) throw new HoldfastError('answer-invalid', `The answer is not JSON: ${problem}.`);
  const bytes = jsonSize(answer);
  if (bytes > limits.runInput) throw new HoldfastError('answer-invalid', `The answer has ${bytes} bytes; at most ${limits.runInput} fit.`);
}

/** Answers have the shape that the interrupt asks for, where it says one. Whether there is such an interrupt, the run says. */
export function checkFit(interrupts: readonly Interrupt[], interruptId: string, answer: Json): void {
  const interrupt = interrupts.find(({ id }) => id === interruptId);
  if (interrupt === undefined) return;
  const misfit = misfitOf(interrupt, answer) ?? schemaMisfit(interrupt, answer);
  if (misfit !== undefined) throw new HoldfastError('answer-invalid', `The answer to "${interruptId}" does not fit: ${misfit}.`);
}

export function approvalOf({ editedInput, forRestOfRun, ...who }: ApproveOptions): {
  readonly decision: Json;
  readonly who: AnswerOptions;
} {
  const decision: ApprovalDecision = {
    type: 'approve',
    ...(editedInput === undefined ? {} : { editedInput }),
    ...(forRestOfRun === undefined ? {} : { forRestOfRun }),
  };
  return { decision: decision, who };
}

export function rejectionOf(feedback: string | undefined): Json {
  return feedback === undefined ? { type: 'reject' } : { type: 'reject', feedback };
}

/** Nothing for a schema that cannot be read: then the code that asked has to look at the answer itself. */
function schemaOf(schema: Json): z.ZodType | undefined {
  try {
    return z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
  } catch {
    return undefined;
  }
}

function schemaMisfit(interrupt: Interrupt, answer: Json): string | undefined {
  if (interrupt.kind === 'approval' || interrupt.answerSchema === undefined) return undefined;
  const schema = schemaOf(interrupt.answerSchema);
  if (schema === undefined) return undefined;
  const parsed = schema.safeParse(answer);
  return parsed.success
    ? undefined
    : parsed.error.issues.map((issue) => `${issue.path.join('.') || 'answer'}: ${issue.message}`).join('; ');
}
