import { HoldfastError } from '../contract/plain/errors';

export type Fields = Readonly<Record<string, unknown>>;
export type Refuse = (problem: string) => never;

/** The options of a built-in as fields to check. What is no object, or has a field that there is not, is refused. */
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

export function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string' && item !== '');
}
