import { readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { docPages } from '../support/doc-pages';
import { plainText, sentencesOf, withoutCode, wordsOf } from '../support/markdown';

const root = resolve(__dirname, '..', '..');
const pages = ['README.md', 'CONTRIBUTING.md', ...docPages];
const textOf = (page: string): string => readFileSync(join(root, page), 'utf8');

const privateWords = [
  { word: 'border', instead: 'continue-as-new', pattern: /\bborders?\b/i },
  { word: 'behind', instead: 'after', pattern: /\bbehind\b/i },
  { word: 'lane', instead: 'parallel agent', pattern: /\blanes?\b/i },
  { word: 'is no', instead: 'is not a', pattern: /(?<!\bthere )\b(?:is|are) no (?!longer\b)/i },
] as const;

const pointing = new Set(
  `it that what such there those which one ones other others so they this these them then whose who whoever each some same its theirs here whatever
  something nothing somebody anybody anything nobody everything everybody`.split(/\s+/),
);

function proseOf(page: string): readonly string[] {
  return plainText(withoutCode(textOf(page))).match(/[A-Za-z']+/g) ?? [];
}

describe('the words of README and docs', () => {
  it.each(pages)('of which at most 6 in 100 point at other words: %s', (page) => {
    const words = proseOf(page);
    const found = words.filter((word) => pointing.has(word.toLowerCase()));
    expect(found.length <= Math.max(10, words.length * 0.06) ? [] : found).toEqual([]);
  });

  it('are at most 62,000', () => {
    expect(pages.reduce((sum, page) => sum + proseOf(page).length, 0)).toBeLessThanOrEqual(62_000);
  });

  it('make sentences of which at most 3 in 100 have more than 25 words', () => {
    const sentences = pages.flatMap((page) => sentencesOf(textOf(page)).map((sentence) => ({ page, words: wordsOf(sentence), sentence })));
    const long = sentences.filter(({ words }) => words > 25);
    expect(sentences.length).toBeGreaterThan(1000);
    expect(long.length <= sentences.length * 0.03 ? [] : long).toEqual([]);
  });

  it.each(privateWords)('say "$instead" in place of "$word"', ({ pattern }) => {
    const found = pages.flatMap((page) =>
      plainText(withoutCode(textOf(page)))
        .split('\n')
        .filter((line) => pattern.test(line))
        .map((line) => `${page}: ${line.trim().slice(0, 160)}`),
    );
    expect(found).toEqual([]);
  });

  it.each([
    ['It goes on behind the border.', ['border', 'behind']],
    ['Lanes wait. This is no list.', ['lane', 'is no']],
    ['There is no list, and it is no longer needed.', []],
    ['The planet is nobody’s.', []],
  ])('are told apart from plain English in "%s"', (sentence, found) => {
    expect(privateWords.filter(({ pattern }) => pattern.test(sentence)).map(({ word }) => word)).toEqual(found);
  });
});

const rooms = readdirSync(root, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !/^\.|^(?:node_modules|dist|docs)$/.test(entry.name))
  .map(({ name }) => name);

/** The code of an example, up to the next tag or to the end of the comment. */
const example = /^ *\* @example$[\s\S]*?(?=^ *\* @|\*\/)/gm;

function commentWordsOf(room: string): readonly string[] {
  return readdirSync(join(root, room), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(?:tsx?|mjs|css)$/.test(file) && !/fixtures|histories/.test(file))
    .flatMap((file) => textOf(join(room, file)).match(/\/\*\*[\s\S]*?\*\/|^\s*\/\/.*/gm) ?? [])
    .flatMap(
      (comment) =>
        comment
          .replace(example, '')
          .replace(/`[^`]*`/g, 'code')
          .match(/[A-Za-z']+/g) ?? [],
    );
}

describe('the words of comments', () => {
  it.each(rooms)('of which at most 9 in 100 point at other words: %s/', (room) => {
    const words = commentWordsOf(room);
    const found = words.filter((word) => pointing.has(word.toLowerCase()));
    expect(found.length <= Math.max(10, words.length * 0.09) ? [] : found).toEqual([]);
  });

  it('are told apart from the code of examples', () => {
    const comment = '/**\n * Adds.\n * @example\n * add(it, that);\n * @deprecated Use sum.\n */';
    expect(comment.replace(example, '').match(/\w+/g)).toEqual(['Adds', 'deprecated', 'Use', 'sum']);
  });

  it('are at most 45,000 without those of tests', () => {
    const product = rooms.filter((room) => !['test', 'examples'].includes(room));
    expect(product.reduce((sum, room) => sum + commentWordsOf(room).length, 0)).toBeLessThanOrEqual(45_000);
  });
});
