import { durationProblem } from './duration';
import type { ErrorCode } from './errors';
import { HoldfastError } from './errors';
import { nameProblem } from './names';
import { anyOf, cut, shown } from './shown';
import { similarNames } from './similar-names';

export type Fields = Readonly<Record<string, unknown>>;
export type Refuse = (problem: string) => never;

export interface Form {
  /** After the words "must be". */
  readonly wanted: string;
  /** Returns a sentence without its full stop. */
  readonly problem: (value: unknown, option: string) => string | undefined;
  readonly isRequired?: true;
}

export type Forms<Options = Fields> = { readonly [Option in keyof Options & string]-?: Form };

export function form(fits: (value: unknown) => boolean, wanted: string): Form {
  return { wanted, problem: (value, option) => (fits(value) ? undefined : misfit(option, wanted, value)) };
}

export function required(optional: Form): Form {
  return { ...optional, isRequired: true };
}

export function worded({ problem }: Form, wanted: string): Form {
  return form((value) => problem(value, '') === undefined, wanted);
}

export function misfit(option: string, wanted: string, value: unknown): string {
  return `${option} must be ${wanted}. It is ${shown(value)}`;
}

export function checkOptions<Options = Fields>(
  owner: string,
  given: unknown,
  forms: Forms<Options>,
  code: ErrorCode = 'agent-invalid',
): Options {
  const refuse = refusing(owner, code);
  if (given !== undefined && !isRecord(given))
    return refuse(`the options must be an object with ${Object.keys(forms).join(', ')}, not ${shown(given)}.`);
  checkFields(given ?? {}, forms, refuse);
  return (given ?? {}) as Options;
}

export function checkFields(fields: Fields, forms: Forms, refuse: Refuse): void {
  const problem = problemOfFields(fields, forms);
  if (problem !== undefined) refuse(sentence(problem));
}

export function sentence(problem: string): string {
  return problem.endsWith('?') ? problem : `${problem}.`;
}

/** Returns a sentence without its full stop. `at`: the path to the options. */
export function problemOfFields(fields: Fields, forms: Forms, at = ''): string | undefined {
  const unknown = unknownField(fields, Object.keys(forms), at);
  return unknown ?? problemOfKnown(fields, forms, (option) => placed(at, option));
}

/** Allows unknown fields. `named`: names an option in messages. */
export function problemOfKnown(fields: object, forms: Forms, named: (option: string) => string): string | undefined {
  for (const [option, one] of Object.entries(forms)) {
    const problem = problemOf(one, (fields as Fields)[option], named(option));
    if (problem !== undefined) return problem;
  }
  return undefined;
}

export function problemOf({ wanted, problem, isRequired }: Form, value: unknown, option: string): string | undefined {
  if (value !== undefined) return problem(value, option);
  return isRequired === true ? `${option} must be ${wanted}. It is missing` : undefined;
}

export function unknownField(fields: object, known: readonly string[], at = ''): string | undefined {
  const unknown = Object.keys(fields).find((field) => !known.includes(field));
  if (unknown === undefined) return undefined;
  const [meant] = similarNames(unknown, known);
  return `there is no option "${cut(placed(at, unknown))}"; ${meant === undefined ? `${known.length === 1 ? 'there is only' : 'there are'} ${known.join(', ')}` : `did you mean ${meant}?`}`;
}

function placed(at: string, option: string): string {
  return at === '' ? option : `${at}.${option}`;
}

/** The code is `agent-invalid` in workflow code, and `config-invalid` in a worker. */
export function refusing(owner: string, code: ErrorCode = 'agent-invalid'): Refuse {
  return (problem) => {
    throw new HoldfastError(code, `${owner}: ${problem}`);
  };
}

/** Objects whose content is not in fields. */
const containers = /^\[object (?:Promise|Map|Set|WeakMap|WeakSet|Date|RegExp|Error)\]$/;

export function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !containers.test(Object.prototype.toString.call(value));
}

export const isString = (value: unknown): value is string => typeof value === 'string';
export const isFilled = (value: unknown): value is string => isString(value) && value.trim() !== '';
/** `Array.from` fills holes, which `every` skips. */
export const isListOf = (value: unknown, fits: (one: unknown) => boolean): boolean => Array.isArray(value) && Array.from(value).every(fits);
export const isStrings = (value: unknown): value is readonly string[] => isListOf(value, isString);
export const isFilledList = (value: unknown): value is readonly string[] => isListOf(value, isFilled);
export const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean';
export const isAbsentOr = (value: unknown, is: (given: unknown) => boolean): boolean => value === undefined || is(value);
export const isFunction = (value: unknown): boolean => typeof value === 'function';
const areNames = (value: unknown, least: number): boolean =>
  isFilledList(value) && value.length >= least && new Set(value).size === value.length;

export const text = form(isString, 'a string');
export const filled = form(isFilled, 'a string that is not blank');
export const flag = form(isBoolean, 'true or false');
export const func = form(isFunction, 'a function');
export const anything = form(() => true, 'anything');
export const record = form(isRecord, 'an object');
export const list = form((value) => isListOf(value, (one) => one !== undefined), 'an array');
export const texts = form(isStrings, 'an array of strings');
export const someTexts = form((value) => isFilledList(value) && value.length > 0, 'an array of at least one string that is not blank');
export const names = form((value) => areNames(value, 0), 'an array of names, each once');
export const someNames = form((value) => areNames(value, 1), 'an array of at least one name, each once');

export function whole(least: number, most = Number.MAX_SAFE_INTEGER): Form {
  const wanted = most === Number.MAX_SAFE_INTEGER ? `a whole number of at least ${least}` : `a whole number from ${least} to ${most}`;
  return form((value) => Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most, wanted);
}

export const count = whole(0);
export const bound = whole(1);

export function numberIn(least: number, most: number): Form {
  return form((value) => typeof value === 'number' && value >= least && value <= most, `a number from ${least} to ${most}`);
}

export function oneOf(...values: readonly string[]): Form {
  return form((value) => isString(value) && values.includes(value), anyOf(values.map((value) => `"${value}"`)));
}

export const identifier: Form = {
  wanted: 'a name',
  problem: (value, option) => {
    const problem = nameProblem(value);
    return problem === undefined ? undefined : `${misfit(option, 'a name', value)}: ${problem}`;
  },
};

export const duration: Form = {
  wanted: 'a duration such as "2s", "1h" or "3d"',
  problem: (value, option) => {
    if (!isString(value)) return misfit(option, duration.wanted, value);
    const problem = durationProblem(value);
    return problem === undefined ? undefined : `${option} ${shown(value)} ${problem}`;
  },
};

export function both(first: Form, second: Form): Form {
  return { ...first, problem: (value, option) => first.problem(value, option) ?? second.problem(value, option) };
}

export function listOf(entry: Form, wanted: string): Form {
  return {
    wanted,
    problem: (value, option) => {
      if (!Array.isArray(value)) return misfit(option, wanted, value);
      for (const [position, one] of (value as readonly unknown[]).entries()) {
        const problem = problemOf(required(entry), one, `${option}[${position}]`);
        if (problem !== undefined) return problem;
      }
      return undefined;
    },
  };
}

export function having(methods: readonly string[], wanted: string): Form {
  return {
    wanted,
    problem: (value, option) => {
      if (typeof value !== 'object' || value === null) return misfit(option, wanted, value);
      const missing = methods.find((method) => !isFunction((value as Fields)[method]));
      return missing === undefined ? undefined : `${option} must be ${wanted}. It has no ${missing}`;
    },
  };
}

export function shape(forms: Forms, wanted = `an object with ${Object.keys(forms).join(', ')}`): Form {
  return {
    wanted,
    problem: (value, option) => (isRecord(value) ? problemOfFields(value, forms, option) : misfit(option, wanted, value)),
  };
}

export function tableOf(entry: Form, wanted: string): Form {
  return {
    wanted,
    problem: (value, option) => {
      if (!isRecord(value)) return misfit(option, wanted, value);
      for (const [name, one] of Object.entries(value)) {
        const problem = problemOf(required(entry), one, `${option}.${name}`);
        if (problem !== undefined) return problem;
      }
      return undefined;
    },
  };
}
