import { HoldfastError } from '../contract/plain/errors';
import type { FieldCheck, Fields, Refuse } from './checked-options';
import { isRecord, optional } from './checked-options';

export { isRecord, optional };

/** What a field has to be, and in words. */
export type Form = FieldCheck;

export function refuseFor(middleware: string): Refuse {
  return (problem) => {
    throw new HoldfastError('agent-invalid', `${middleware}: ${problem}`);
  };
}

/** Options whose fields all have their form. Others are refused by name: a misspelt one would do nothing, and nobody would see it. */
export function checkedOptions(middleware: string, options: unknown, forms: Readonly<Record<string, Form>>): Fields {
  const refuse = refuseFor(middleware);
  const names = Object.keys(forms);
  if (!isRecord(options)) return refuse(`its options are an object with ${names.join(', ')}.`);
  const unknown = Object.keys(options).find((field) => !names.includes(field));
  if (unknown !== undefined) refuse(`there is no option "${unknown}". There are: ${names.join(', ')}.`);
  for (const [field, [fits, form]] of Object.entries(forms)) if (!fits(options[field])) refuse(`${field} is ${form}.`);
  return options;
}

export const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
export const isTexts = (value: unknown): value is readonly string[] => Array.isArray(value) && value.length > 0 && value.every(isText);
export const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 1;
export const isAmount = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value) && value >= 0;
export const isFunction = (value: unknown): boolean => typeof value === 'function';
export const isOneOf =
  (...values: readonly unknown[]) =>
  (value: unknown): boolean =>
    values.includes(value);

export const nameForm: Form = [optional(isText), 'a text'];
