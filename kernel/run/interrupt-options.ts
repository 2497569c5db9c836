import { HoldfastError } from '../../contract/errors';
import { misfitOfSchema } from '../../contract/schema/schema-fit';
import { problemOfSchema } from '../../contract/schema/schema-form';
import type { InterruptOptions } from '../define/middleware';
import { similarNames } from '../../contract/similar-names';

/** The kinds that are anybody's. Decisions about calls and calls in doubt are asked about by the run itself. */
const kinds: readonly unknown[] = ['question', 'custom'] satisfies readonly InterruptOptions['kind'][];
const asking: readonly string[] = ['kind', 'answerSchema', 'deadline', 'onDeadline', 'by'];
const approving: readonly string[] = ['deadline', 'onDeadline', 'by', 'problem'];

/** Refuses what would make a question that nobody sees, or an option that would do nothing. */
export function checkInterruptOptions(options: unknown): void {
  const { kind, deadline, onDeadline } = fieldsOf('ctx.interrupt', options, asking);
  if (kind !== undefined && !kinds.includes(kind)) {
    const instead = kind === 'approval' ? ' To ask about a tool call, use ctx.approve.' : '';
    refuse('ctx.interrupt', `kind is ${said(kind)}; it is "question" or "custom".${instead}`);
  }
  if (onDeadline !== undefined && deadline === undefined)
    refuse(
      'ctx.interrupt',
      'onDeadline is given without a deadline, so it would never count; add a deadline, such as "3d", or leave it out.',
    );
}

export function checkApproveOptions(options: unknown): void {
  fieldsOf('ctx.approve', options, approving);
}

/** Of options that are known to be JSON. */
export function checkAnswerSchema({ answerSchema, onDeadline }: InterruptOptions): void {
  if (answerSchema === undefined) return;
  const problem = problemOfSchema(answerSchema);
  if (problem !== undefined) refuse('ctx.interrupt', `answerSchema is no JSON Schema: ${problem}.`);
  const misfit = onDeadline === undefined ? undefined : misfitOfSchema(answerSchema, onDeadline);
  if (misfit !== undefined) refuse('ctx.interrupt', `onDeadline does not fit answerSchema: ${misfit}. Give an answer that fits.`);
}

function fieldsOf(owner: string, options: unknown, known: readonly string[]): Readonly<Record<string, unknown>> {
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    return refuse(owner, `its options are ${said(options)}; they are an object with ${known.join(', ')}.`);
  const fields = options as Readonly<Record<string, unknown>>;
  const unknown = Object.keys(fields).find((field) => !known.includes(field) && fields[field] !== undefined);
  if (unknown !== undefined) {
    const [meant] = similarNames(unknown, known);
    refuse(owner, `there is no option "${unknown}"; ${meant === undefined ? `there are ${known.join(', ')}` : `did you mean "${meant}"?`}`);
  }
  if (fields['deadline'] !== undefined && typeof fields['deadline'] !== 'string')
    refuse(owner, `deadline is ${said(fields['deadline'])}; it is a duration as a text, such as "30s", "2h" or "3d".`);
  return fields;
}

function said(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 60));
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return `${value}`;
  return Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

function refuse(owner: string, problem: string): never {
  throw new HoldfastError('hook-failed', `${owner}: ${problem}`);
}
