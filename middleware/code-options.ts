import { cut } from '../contract/shown';
import { errorTable } from '../contract/errors';
import { toolProblemCodes } from '../kernel/effects/errors';
import { similarNames } from '../contract/similar-names';
import type { Form } from '../contract/check';
import { form, isFilledList, isFunction } from '../contract/check';

const all = Object.keys(errorTable);
const ofModels = all.filter((code) => code.startsWith('model-'));

export const modelCodes = codesOf('a function of the error, or an array of at least one code', all, ofModels);

export const toolCodes = codesOf(
  'a function of the error and the call, or an array of at least one code',
  toolProblemCodes,
  toolProblemCodes,
);

/** Whether an error has one of the codes, or the function says so. */
export function fits<About extends readonly [{ readonly code: string }, ...unknown[]]>(
  on: readonly string[] | ((...about: About) => boolean),
): (...about: About) => boolean {
  return typeof on === 'function' ? on : (...[{ code }]) => on.includes(code);
}

function codesOf(wanted: string, known: readonly string[], told: readonly string[]): Form {
  const codes = form((value) => isFunction(value) || (isFilledList(value) && value.length > 0), wanted);
  return {
    wanted,
    problem: (value, option) => {
      const unknown = isFilledList(value) ? value.find((code) => !known.includes(code)) : undefined;
      if (unknown === undefined) return codes.problem(value, option);
      const [meant] = similarNames(unknown, known);
      const question = meant === undefined ? '' : ` Did you mean "${meant}"?`;
      return `${option} has the code "${cut(unknown)}", which no error here has.${question} There are ${told.join(', ')}`;
    },
  };
}
