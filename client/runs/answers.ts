import { text, texts, isRecord } from '../../contract/check';
import { shown } from '../../contract/shown';
import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import type { Interrupt } from '../../contract/interrupts';
import { latenessOf, refusalOf, withdrawn } from '../../contract/interrupts';
import { jsonSize, limits } from '../../contract/limits';
import type { Failure, Json } from '../../contract/messages/messages';
import { notJson } from '../../contract/messages/messages';
import { personName } from '../../contract/people';
import { optionsOf } from '../connection/options';
import { errorOf } from '../connection/refusals';
import { wholeMisfit } from './whole-misfit';
import type { AnswerStanding } from '../reading/run-reader';
import type { TimedAnswer } from '../reading/stored-signals';
import { counts } from '../reading/stored-signals';
import { similarNames } from '../../contract/similar-names';

export interface AnswerOptions {
  /** The name of the answerer. */
  readonly by?: string;
  /** The roles of the answerer. Holdfast trusts the holder of the client. */
  readonly roles?: readonly string[];
  /** The hash of the shown arguments; other arguments are refused. */
  readonly inputHash?: string;
}

/** The reason, for readers of the log. */
type Commented = AnswerOptions & { readonly comment?: string };

export type ApproveOptions = Commented & {
  readonly editedInput?: Json;
  readonly forRestOfRun?: boolean;
  /** Also approves calls of this tool up to this amount, for the rest of the run. */
  readonly upTo?: number;
};
export type RejectOptions = Commented;
export type DelegateOptions = Commented;

export function checkSize(answer: Json): void {
  const problem = notJson(answer);
  if (problem !== undefined) throw new HoldfastError('answer-invalid', `The answer is not JSON: ${problem}.`);
  const bytes = jsonSize(answer);
  if (bytes > limits.runInput) throw new HoldfastError('answer-invalid', `The answer has ${bytes} bytes; at most ${limits.runInput} fit.`);
}

export function answerOf(interruptId: string, answer: Json, options: AnswerOptions): TimedAnswer {
  if (typeof interruptId !== 'string')
    throw new HoldfastError('request-invalid', `The id of the interrupt must be a string. It is ${shown(interruptId)}.`);
  const { by, roles, inputHash } = optionsOf(options, 'The answer', { by: personName, roles: texts, inputHash: text });
  return { interruptId, answer, at: Date.now(), ...defined({ by, roles, inputHash }) };
}

export function checkAnswer(interrupt: Interrupt, answer: TimedAnswer, stored: readonly TimedAnswer[]): void {
  refuse(latenessOf(interrupt, answer.at));
  checkAnswerTo(interrupt, answer);
  if (stored.some((other) => counts(interrupt, other)))
    throw new HoldfastError(
      'interrupt-answered',
      `The interrupt "${interrupt.id}" has an answer already, which counts as soon as a worker takes it.`,
    );
}

/** Who may answer can depend on the time of the answer. */
export function checkAnswerTo(interrupt: Interrupt, answer: TimedAnswer): void {
  refuse(refusalOf(interrupt, answer, answer.at));
  checkFit([interrupt], interrupt.id, answer.answer);
}

export function gone(id: string, { expired, withdrawn: left }: AnswerStanding, known: Interrupt | undefined): HoldfastError {
  if (expired.has(id)) return new HoldfastError('interrupt-expired', `Nobody answered "${id}" in time.`);
  if (left.has(id)) return new HoldfastError('interrupt-withdrawn', withdrawn(id).message);
  return known === undefined
    ? new HoldfastError('interrupt-unknown', `This run waits for no interrupt "${id}".`)
    : new HoldfastError('interrupt-answered', `The interrupt "${id}" was answered meanwhile.`);
}

export function refuse(refused: Failure | undefined): void {
  if (refused !== undefined) throw errorOf(refused, 'answer-invalid');
}

/** Checks the shown schema only. The run reports an unknown interrupt. */
export function checkFit(interrupts: readonly Interrupt[], interruptId: string, answer: Json): void {
  const interrupt = interrupts.find(({ id }) => id === interruptId);
  const misfit = interrupt === undefined ? undefined : schemaMisfit(interrupt, answer);
  if (misfit !== undefined) throw new HoldfastError('answer-invalid', `The answer to "${interruptId}" does not fit: ${misfit}.`);
}

function schemaMisfit(interrupt: Interrupt, answer: Json): string | undefined {
  if (interrupt.kind === 'approval') return unknownArgument(interrupt, answer);
  if (interrupt.answerSchema === undefined) return undefined;
  return wholeMisfit(interrupt.answerSchema, answer, 'answer');
}

/** Tools drop unknown arguments, so a typo would run the call unchanged. The model's arguments are not checked. */
function unknownArgument(interrupt: Interrupt, answer: Json): string | undefined {
  if (interrupt.kind !== 'approval') return undefined;
  const edited = isRecord(answer) ? answer['editedInput'] : undefined;
  const found = unknownIn(interrupt.inputSchema, edited, interrupt.input, []);
  if (found === undefined) return undefined;
  const { path, known } = found;
  const [meant] = similarNames(path.at(-1) ?? '', known);
  const hint = meant === undefined ? `It has: ${known.join(', ')}` : `Did you mean ${[...path.slice(0, -1), meant].join('.')}?`;
  return `${interrupt.tool} has no argument ${path.join('.')}. ${hint}`;
}

interface Unknown {
  readonly path: readonly string[];
  readonly known: readonly string[];
}

function unknownIn(schema: unknown, edited: unknown, before: unknown, path: readonly string[]): Unknown | undefined {
  if (!isRecord(schema) || !isRecord(edited)) return undefined;
  const { properties } = schema;
  // An open schema, or a schema with several forms, is not checked.
  const isOpen = ['additionalProperties', 'patternProperties', 'allOf', 'anyOf', 'oneOf', '$ref'].some((key) => key in schema);
  if (!isRecord(properties) || isOpen) return undefined;
  const was = isRecord(before) ? before : {};
  for (const [name, value] of Object.entries(edited)) {
    const at = [...path, name];
    if (!Object.hasOwn(properties, name)) {
      if (Object.hasOwn(was, name)) continue;
      return { path: at, known: Object.keys(properties) };
    }
    const inside = unknownIn(properties[name], value, was[name], at);
    if (inside !== undefined) return inside;
  }
  return undefined;
}

export function interruptIn({ view }: Pick<AnswerStanding, 'view'>, interruptId: string): Interrupt | undefined {
  return view.interrupts.find(({ id }) => id === interruptId);
}

export function decidedBy({ interruptId: interrupt, answer }: TimedAnswer): { readonly interrupt: string; readonly decision?: string } {
  const type = isRecord(answer) ? answer['type'] : undefined;
  return { interrupt, ...(typeof type === 'string' ? { decision: type } : {}) };
}
