import { codeOf } from '../contract/plain/errors';

/** What a model can react to. That a worker lacks the tool is not the model's business. */
const toolProblems = new Set<string | undefined>([
  'tool-failed',
  'tool-timeout',
  'tool-input-invalid',
  'tool-not-found',
  'tool-result-too-large',
  'tool-result-invalid',
  'value-not-json',
  'callback-failed',
  'child-cancelled',
]);

/** Whether an error of a tool call goes back to the model, unless the agent says otherwise. */
export function isToolProblem(error: unknown): boolean {
  return toolProblems.has(codeOf(error));
}
