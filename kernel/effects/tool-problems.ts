import { codeOf } from '../../contract/errors';

/** What a model can react to. That a worker lacks the tool is not the model's business. */
export const toolProblemCodes: readonly string[] = [
  'tool-failed',
  'tool-timeout',
  'tool-input-invalid',
  'tool-not-found',
  'tool-result-too-large',
  'tool-result-invalid',
  'value-not-json',
  'callback-failed',
  'child-cancelled',
];

/** Whether an error of a tool call goes back to the model, unless the agent says otherwise. */
export function isToolProblem(error: unknown): boolean {
  return toolProblemCodes.includes(codeOf(error) ?? '');
}
