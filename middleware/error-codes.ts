import { errorTable } from '../contract/errors';
import { similarNames } from '../kernel/define/similar-names';
import { toolProblemCodes } from '../kernel/effects/errors';
import { refuseFor } from './checked-options';

const all = Object.keys(errorTable);
const ofModels = all.filter((code) => code.startsWith('model-'));

/** Errors of models have these codes; one's own provider may throw any other of ours. */
export function checkModelCodes(owner: string, field: string, codes: unknown): void {
  check(owner, field, codes, all, ofModels);
}

/** Of what a tool fails with only this comes to a layer: errors of one's own are `tool-failed`. */
export function checkToolCodes(owner: string, field: string, codes: unknown): void {
  check(owner, field, codes, toolProblemCodes, toolProblemCodes);
}

/** A code that no error has would never be met, and nobody would see it. */
function check(owner: string, field: string, codes: unknown, known: readonly string[], shown: readonly string[]): void {
  if (!Array.isArray(codes)) return;
  const unknown = (codes as readonly string[]).find((code) => !known.includes(code));
  if (unknown === undefined) return;
  const [meant] = similarNames(unknown, known);
  const question = meant === undefined ? '' : ` Did you mean "${meant}"?`;
  refuseFor(owner)(`${field} has the code "${unknown}", which no error here has.${question} There are ${shown.join(', ')}.`);
}
