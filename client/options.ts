import { HoldfastError } from '../contract/errors';

/** Options of a call of the client. What is no object gives the fields of none. */
export function optionsOf<Options extends object>(options: Options, what: string): Options {
  if (isRecord(options)) return options;
  throw new HoldfastError('request-invalid', `${what}: the options are ${described(options)}; send an object, or nothing.`);
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A value in the words of a message. */
export function described(value: unknown): string {
  if (value === null || !['object', 'function', 'symbol', 'string'].includes(typeof value)) return String(value);
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 100));
  return Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
