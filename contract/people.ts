import { form } from './check';
import { limits } from './limits';

/** How names of people are compared. */
export interface People {
  /** Whether somebody is the one who is asked. */
  isAsked(asked: string, name: string): boolean;
  /** Whether two names may be those of one person, who then counts once. */
  isSame(one: string, other: string): boolean;
}

/**
 * To be asked, a name has to have the same letters. To count as another person, it has to differ in more than spaces, capitals, and the form in which
 * Unicode writes a letter: accounts may differ in capitals, and nobody becomes two people by them.
 */
export const people: People = {
  isAsked: (asked, name) => asked === name || asked.normalize() === name.normalize(),
  isSame: (one, other) => one === other || personOf(one) === personOf(other),
};

/** One text for all forms of a name. */
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

/** Whether a name may be that of one of these people. */
export function isOneOf(names: readonly string[], name: string, { isSame }: Pick<People, 'isSame'> = people): boolean {
  return names.some((one) => isSame(one, name));
}

/** Whether a value names somebody: a name that nobody can see would count as one more person. */
export function isPersonName(name: unknown): name is string {
  return typeof name === 'string' && name.length <= limits.starter && !name.includes('\u0000') && /[^\s\p{Cf}]/u.test(name);
}

export const personName = form(isPersonName, 'a name of 1 to 200 characters');
