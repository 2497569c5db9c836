import { durationProblem } from '../contract/duration';
import { HoldfastError } from '../contract/errors';

/** An empty value is most often a variable of a shell that is not set. */
export function filled(option: string): (value: string) => string {
  return (value) => {
    if (value.trim() !== '') return value;
    throw new HoldfastError('command-invalid', `${option} is empty; give it a value, or leave it out.`);
  };
}

/** An option that may be given more than once. */
export function several(parse: (value: string) => string): (value: string, others?: readonly string[]) => readonly string[] {
  return (value, others = []) => [...others, parse(value)];
}

/** How long something may take. */
export function lasting(option: string): (value: string) => string {
  return (value) => {
    const problem = durationProblem(filled(option)(value));
    if (problem === undefined) return value;
    throw new HoldfastError('command-invalid', `${option} "${value}" ${problem}.`);
  };
}
