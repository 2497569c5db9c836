import type { Json } from './messages/messages';
import { notJson } from './messages/messages';

/** A text is broken JSON of the model. Workflow code omits `explain`, because the messages of `JSON.parse` differ between Node versions. */
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
