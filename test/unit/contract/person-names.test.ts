import { isPersonName, people } from '../../../contract/people';

it('a name of a person can be seen, and signs that cannot be seen make nobody another person', () => {
  expect(['ada', 'Ada L.', 'a\u200bda'].every(isPersonName)).toBe(true);
  expect(['', ' ', '\u200b', '\t\u2060 ', 'a\u0000b', 'a'.repeat(201), 5].some(isPersonName)).toBe(false);
  expect(people.isSame('ada', 'a\u200bda')).toBe(true);
});
