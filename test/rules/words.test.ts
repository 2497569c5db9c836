import { readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { plainText, sentencesOf, withoutCode, wordsOf } from '../support/markdown';

const root = resolve(__dirname, '..', '..');
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name.replaceAll('\\', '/')}`),
];
const textOf = (page: string): string => readFileSync(join(root, page), 'utf8');

/** Words of our own for what has a name that people know. */
const privateWords = [
  { word: 'border', instead: 'continue-as-new', pattern: /\bborders?\b/i, most: 1 },
  { word: 'behind', instead: 'after', pattern: /\bbehind\b/i, most: 9 },
  { word: 'lane', instead: 'parallel agent', pattern: /\blanes?\b/i, most: 0 },
  { word: 'is no', instead: 'is not a', pattern: /(?<!\bthere )\b(?:is|are) no (?!longer\b)/i, most: 7 },
] as const;

/** Sentences that need such a word: its page, and a part of the line. */
const allowed: readonly { readonly page: string; readonly part: string }[] = [];

/** Of a hundred sentences so many may have more than 25 words. */
const mostLong = 3;

describe('the words of README and docs', () => {
  it('make sentences of which few have more than 25 words', () => {
    const sentences = pages.flatMap((page) => sentencesOf(textOf(page)).map((sentence) => ({ page, words: wordsOf(sentence), sentence })));
    const long = sentences.filter(({ words }) => words > 25);
    expect(sentences.length).toBeGreaterThan(1000);
    expect(long.length <= (sentences.length * mostLong) / 100 ? [] : long).toEqual([]);
  });

  it.each(privateWords)('say "$instead" in place of "$word"', ({ pattern, most }) => {
    const found = pages.flatMap((page) =>
      plainText(withoutCode(textOf(page)))
        .split('\n')
        .filter((line) => pattern.test(line) && !allowed.some((one) => one.page === page && line.includes(one.part)))
        .map((line) => `${page}: ${line.trim().slice(0, 160)}`),
    );
    expect(found.length <= most ? [] : found).toEqual([]);
  });

  it('are excepted only where a page has them', () => {
    expect(allowed.filter(({ page, part }) => !textOf(page).includes(part))).toEqual([]);
  });
});
