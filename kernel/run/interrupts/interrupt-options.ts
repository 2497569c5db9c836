import type { Fields, Form, Forms } from '../../../contract/check';
import {
  anything,
  checkOptions,
  duration,
  isRecord,
  listOf,
  oneOf,
  refusing,
  required,
  shape,
  someTexts,
  text,
  texts,
  worded,
} from '../../../contract/check';
import { defined } from '../../../contract/defined';
import { misfitOfSchema } from '../../../contract/schema/schema-fit';
import { problemOfSchema } from '../../../contract/schema/schema-form';
import type { InterruptOptions } from '../../define/middleware';

const escalateForm = shape({ after: required(duration), by: someTexts, roles: someTexts }, 'an object with after, and by or roles');

function problemOfEscalation(value: unknown, option: string): string | undefined {
  const problem = escalateForm.problem(value, option);
  if (problem !== undefined) return problem;
  const { by, roles } = value as NonNullable<InterruptOptions['escalate']>;
  return by === undefined && roles === undefined ? `${option} names nobody; give by or roles` : undefined;
}

const shared = {
  deadline: worded(text, 'a duration as a string, such as "30s", "2h" or "3d"'),
  onDeadline: anything,
  by: anything,
  roles: someTexts,
  notBy: texts,
  remind: listOf(duration, 'an array of durations, such as ["1d", "2d"]'),
  escalate: { ...escalateForm, problem: problemOfEscalation },
};
/** Users cannot ask with the run's own kinds: approval and in-doubt. */
const kind: Form = {
  ...oneOf('question', 'custom'),
  problem: (value, option) => {
    const problem = oneOf('question', 'custom').problem(value, option);
    return value === 'approval' ? `${problem}. To ask about a tool call, use ctx.approve` : problem;
  },
};
const asking = { kind, answerSchema: anything, ...shared };
const approving = { ...shared, problem: anything };

export function checkInterruptOptions(options: unknown): void {
  const { deadline, onDeadline } = checked('ctx.interrupt', options, asking);
  if (onDeadline !== undefined && deadline === undefined)
    refusing(
      'ctx.interrupt',
      'hook-failed',
    )('onDeadline is given without a deadline, so it would never count; add a deadline, such as "3d", or leave it out.');
}

export function checkApproveOptions(options: unknown): void {
  checked('ctx.approve', options, approving);
}

export function checkAnswerSchema({ answerSchema, onDeadline }: InterruptOptions): void {
  if (answerSchema === undefined) return;
  const problem = problemOfSchema(answerSchema);
  if (problem !== undefined) refusing('ctx.interrupt', 'hook-failed')(`answerSchema is no JSON Schema: ${problem}.`);
  const misfit = onDeadline === undefined ? undefined : misfitOfSchema(answerSchema, onDeadline);
  if (misfit !== undefined)
    refusing('ctx.interrupt', 'hook-failed')(`onDeadline does not fit answerSchema: ${misfit}. Give an answer that fits.`);
}

function checked(owner: string, options: unknown, forms: Forms): Fields {
  return checkOptions<Fields>(owner, isRecord(options) ? defined(options) : (options ?? null), forms, 'hook-failed');
}
