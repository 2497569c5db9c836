import { form } from './check';
import { limits } from './limits';

export interface People {
  isAsked(asked: string, name: string): boolean;
  /** Two names of one person count once. */
  isSame(one: string, other: string): boolean;
}

/** An asked name needs the same letters. Two people differ in more than spaces, capitals and Unicode forms. */
export const people: People = {
  isAsked: (asked, name) => asked === name || asked.normalize() === name.normalize(),
  isSame: (one, other) => one === other || personOf(one) === personOf(other),
};

export function personOf(name: string): string {
  return name
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .toUpperCase()
    .toLowerCase()
    .normalize('NFKC')
    .trim()
    .replace(/\s+/g, ' ');
}

export function isOneOf(names: readonly string[], name: string, { isSame }: Pick<People, 'isSame'> = people): boolean {
  return names.some((one) => isSame(one, name));
}

/** An invisible name would count as another person. */
export function isPersonName(name: unknown): name is string {
  return typeof name === 'string' && name.length <= limits.starter && !name.includes('\u0000') && /[^\s\p{Cf}]/u.test(name);
}

export const personName = form(isPersonName, 'a name of 1 to 200 characters');
