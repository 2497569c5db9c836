import { jsonProblem } from './broken-json';
import type { Json } from './messages/messages';

/** What a model is told of arguments that do not fit. A text is what it wrote as arguments, when that was not JSON. */
export function misfitOfArguments(tool: string, input: Json, misfit: string): string {
  const broken = typeof input === 'string' ? jsonProblem(input) : undefined;
  return broken === undefined
    ? `The arguments of '${tool}' do not fit: ${misfit}.`
    : `The arguments of '${tool}' are not JSON that can be read, ${broken}. Send them again as one JSON object.`;
}
