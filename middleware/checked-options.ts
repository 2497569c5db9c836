import { HoldfastError } from '../contract/errors';
import { cut } from '../contract/shown';
import { settingsMisfit } from '../kernel/define/check-settings';

/** Whether a value is what an option takes, and in words what that is. */
export type Form = readonly [fits: (value: unknown) => boolean, wanted: string];
export type Fields = Readonly<Record<string, unknown>>;
export type Refuse = (problem: string) => never;
/** What workflow code is given wrongly is the agent's, what a worker is given the configuration's. */
type Code = 'agent-invalid' | 'config-invalid';

export function refuseFor(owner: string, code: Code = 'agent-invalid'): Refuse {
  return (problem) => {
    throw new HoldfastError(code, `${owner}: ${problem}`);
  };
}

/** Options as fields to check one by one. What is no object, or has a field that there is not, is refused by name: it would do nothing, and nobody would see it. */
export function fieldsOf(
  options: unknown,
  known: readonly string[],
  owner: string,
  code: Code = 'agent-invalid',
): { readonly fields: Fields; readonly refuse: Refuse } {
  const refuse = refuseFor(owner, code);
  if (!isRecord(options)) return refuse(`its options are an object with ${known.join(', ')}.`);
  const unknown = Object.keys(options).find((field) => !known.includes(field));
  if (unknown !== undefined) refuse(`there is no option "${cut(unknown)}"; there are ${known.join(', ')}.`);
  return { fields: options, refuse };
}

/** Options, once every field is one that there is, and takes what it was given. */
export function checkedOptions<Options = Fields>(
  owner: string,
  given: unknown,
  forms: Readonly<Record<keyof Options & string, Form>>,
  code: Code = 'agent-invalid',
): Options {
  const { fields, refuse } = fieldsOf(given === undefined ? {} : given, Object.keys(forms), owner, code);
  for (const [name, [fits, wanted]] of Object.entries<Form>(forms))
    if (!fits(fields[name])) refuse(`${name} is ${wanted}${fields[name] === undefined ? ', and is required' : ''}.`);
  return fields as Options;
}

/** Settings for a model are checked as those of an agent are. */
export function checkSettings(owner: string, settings: unknown): void {
  const misfit = settingsMisfit(settings);
  if (misfit !== undefined) refuseFor(owner)(misfit);
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Blanks alone say as little as nothing. */
export const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== '';
export const isTexts = (value: unknown): value is readonly string[] => isTextList(value) && value.length > 0;
export const isTextList = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every(isText);
/** Names that differ: one that stands there twice is most often meant to be another one. */
const differ = (value: unknown): boolean => isTextList(value) && new Set(value).size === value.length;
export const isNames = (value: unknown): boolean => isTexts(value) && differ(value);
const isWhole = (value: unknown, least: number): value is number => Number.isSafeInteger(value) && (value as number) >= least;
export const isCount = (value: unknown): value is number => isWhole(value, 1);
export const isAmount = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value) && value >= 0;
export const isFunction = (value: unknown): boolean => typeof value === 'function';
export const isOneOf =
  (...values: readonly unknown[]) =>
  (value: unknown): boolean =>
    values.includes(value);
export const optional =
  (fits: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    value === undefined || fits(value);

export const text: Form = [optional((value) => typeof value === 'string'), 'a text'];
export const requiredName: Form = [isText, 'a name'];
export const nameForm: Form = [optional(isText), 'a name'];
export const names: Form = [optional(differ), 'a list of names, each once'];
export const flag: Form = [optional((value) => typeof value === 'boolean'), 'true or false'];
export const func: Form = [optional(isFunction), 'a function'];
export const record: Form = [optional(isRecord), 'an object'];
/** A count that may be none. */
export const count: Form = [optional((value) => isWhole(value, 0)), 'a whole number, 0 or more'];
/** A bound that has to leave something. */
export const bound: Form = [optional(isCount), 'a whole number, 1 or more'];
