import { HoldfastError } from '../contract/plain/errors';

/** Whether a value is what an option takes, and what to write where it is not. */
export type FieldCheck = readonly [fits: (value: unknown) => boolean, wanted: string];

/** The options of a built-in as they were given, once every field is one that it has and takes what it was given. */
export function checkedOptions<Options>(
  middleware: string,
  given: unknown,
  fields: Readonly<Record<keyof Options & string, FieldCheck>>,
): Options {
  const refuse = (problem: string): never => {
    throw new HoldfastError('agent-invalid', `${middleware}: ${problem}`);
  };
  const options = given ?? {};
  const names = Object.keys(fields);
  if (!isRecord(options)) return refuse(`its options are an object with ${names.join(', ')}.`);
  const unknown = Object.keys(options).find((field) => !Object.hasOwn(fields, field));
  if (unknown !== undefined) refuse(`it has no option "${unknown}"; it has ${names.join(', ')}.`);
  for (const [name, [fits, wanted]] of Object.entries<FieldCheck>(fields))
    if (!fits(options[name])) refuse(`${name} is ${wanted}${options[name] === undefined ? ', and is required' : ''}.`);
  return options as Options;
}

export type Fields = Readonly<Record<string, unknown>>;
export type Refuse = (problem: string) => never;

/** The options of a built-in as fields to check one by one. What is no object, or has a field that there is not, is refused. */
export function fieldsOf(
  options: unknown,
  known: readonly string[],
  owner: string,
  code: 'agent-invalid' | 'config-invalid' = 'agent-invalid',
): { readonly fields: Fields; readonly refuse: Refuse } {
  const refuse: Refuse = (problem) => {
    throw new HoldfastError(code, `${owner}: ${problem}`);
  };
  if (!isRecord(options)) return refuse(`the options are an object with ${known.join(', ')}.`);
  const unknown = Object.keys(options).find((field) => !known.includes(field));
  if (unknown !== undefined) refuse(`there is no option "${unknown}"; there are ${known.join(', ')}.`);
  return { fields: options, refuse };
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string' && item !== '');
}

const isWhole = (value: unknown, least: number): boolean => Number.isSafeInteger(value) && (value as number) >= least;
export const optional =
  (fits: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    value === undefined || fits(value);
const isText = (value: unknown): boolean => typeof value === 'string';
const isName = (value: unknown): boolean => isText(value) && value !== '';

export const text: FieldCheck = [optional(isText), 'a text'];
export const requiredName: FieldCheck = [isName, 'a name'];
export const name: FieldCheck = [optional(isName), 'a name'];
export const names: FieldCheck = [optional((value) => Array.isArray(value) && value.every(isName)), 'a list of names'];
export const flag: FieldCheck = [optional((value) => typeof value === 'boolean'), 'true or false'];
export const func: FieldCheck = [optional((value) => typeof value === 'function'), 'a function'];
export const record: FieldCheck = [optional(isRecord), 'an object'];
/** A count that may be none. */
export const count: FieldCheck = [optional((value) => isWhole(value, 0)), 'a whole number, 0 or more'];
/** A bound that has to leave something. */
export const bound: FieldCheck = [optional((value) => isWhole(value, 1)), 'a whole number, 1 or more'];
