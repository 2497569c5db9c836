import { text } from '../contract/check';
import { shown } from '../contract/shown';
import { defined } from '../contract/defined';
import { z } from 'zod';
import { HoldfastError, isErrorCode } from '../contract/errors';
import type { Answer, ApprovalDecision, Interrupt } from '../contract/interrupts';
import { latenessOf, refusalOf } from '../contract/interrupts';
import { jsonSize, limits } from '../contract/limits';
import type { Failure, Json } from '../contract/messages/messages';
import { notJson } from '../contract/messages/messages';
import { inTime } from '../host/in-time';
import { optionsOf } from './options';
import type { StoredAnswer } from './reading/stored-answers';
import { counts } from './reading/stored-answers';

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

/** An answer with who gives it, as it goes to the run. */
export function answerOf(interruptId: string, answer: Json, options: AnswerOptions): Answer {
  if (typeof interruptId !== 'string')
    throw new HoldfastError('request-invalid', `The id of the interrupt must be a string. It is ${shown(interruptId)}.`);
  const { by, inputHash } = optionsOf(options, 'The answer', { by: text, inputHash: text });
  return { interruptId, answer, ...defined({ by, inputHash }) };
}

/** Refuses an answer as the run would, and one of which the run would hear too late. `asOf`: so late it is on the server, at least. */
export function checkAnswer(interrupt: Interrupt, answer: Answer, stored: readonly StoredAnswer[], asOf: number): void {
  refuse(latenessOf(interrupt, asOf));
  checkAnswerTo(interrupt, answer);
  if (stored.some((other) => counts(interrupt, other)))
    throw new HoldfastError(
      'interrupt-answered',
      `The interrupt "${interrupt.id}" has an answer already, which counts as soon as a worker takes it.`,
    );
}

/** Refuses an answer that the interrupt never takes, whenever it comes. */
export function checkAnswerTo(interrupt: Interrupt, answer: Answer): void {
  refuse(refusalOf(interrupt, answer));
  checkFit([interrupt], interrupt.id, answer.answer);
}

function refuse(refused: Failure | undefined): void {
  if (refused !== undefined) throw new HoldfastError(isErrorCode(refused.code) ? refused.code : 'answer-invalid', refused.message);
}

/** Answers have the shape of the schema that the interrupt shows, where it shows one. Whether there is such an interrupt, the run says. */
export function checkFit(interrupts: readonly Interrupt[], interruptId: string, answer: Json): void {
  const interrupt = interrupts.find(({ id }) => id === interruptId);
  const misfit = interrupt === undefined ? undefined : schemaMisfit(interrupt, answer);
  if (misfit !== undefined) throw new HoldfastError('answer-invalid', `The answer to "${interruptId}" does not fit: ${misfit}.`);
}

export function approvalOf(options: ApproveOptions): {
  readonly decision: Json;
  readonly who: AnswerOptions;
} {
  const { editedInput, forRestOfRun, ...who } = optionsOf(options, 'The approval');
  const decision: ApprovalDecision = {
    type: 'approve',
    ...defined({ editedInput, forRestOfRun }),
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
  const parsed = checked(() => inTime(() => schema.safeParse(answer), longestCheckMs));
  if (parsed === null) return undefined;
  if (parsed === undefined) return `to check it against the schema takes more than ${longestCheckMs} ms`;
  return parsed.success
    ? undefined
    : parsed.error.issues.map((issue) => `${issue.path.join('.') || 'answer'}: ${issue.message}`).join('; ');
}

/** A pattern in a schema may take for ever with an answer that was made for it. */
const longestCheckMs = 250;

/** Null for a schema that leads back to itself without end: the run, which knows how to read such a one, decides alone. */
function checked<T>(check: () => T): T | null {
  try {
    return check();
  } catch (error) {
    if ((error as { name?: unknown }).name === 'RangeError') return null;
    throw error;
  }
}
