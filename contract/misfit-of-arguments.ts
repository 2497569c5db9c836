import type { Json } from './messages/messages';
import { notJson } from './messages/messages';

/**
 * What a model is told of arguments that do not fit. A text is what it wrote as arguments, when that was not JSON. `explain` words the error of
 * `JSON.parse`. Workflow code leaves it out: each version of Node has other words.
 */
export function misfitOfArguments(tool: string, input: Json, misfit: string, explain?: (error: unknown) => string): string {
  const broken = typeof input === 'string' ? problemOf(input, explain) : undefined;
  return broken === undefined
    ? `The arguments of '${tool}' do not fit: ${misfit}.`
    : `The arguments of '${tool}' are not JSON that can be read${broken}. Send them again as one JSON object.`;
}

function problemOf(text: string, explain: ((error: unknown) => string) | undefined): string | undefined {
  try {
    const problem = notJson(JSON.parse(text));
    return problem === undefined ? undefined : `: ${problem}`;
  } catch (error) {
    return explain === undefined ? '' : `: ${explain(error)}`;
  }
}
