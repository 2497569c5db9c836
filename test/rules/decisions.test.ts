import { readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { anchorOf, headingsOf } from '../support/markdown';

const folder = join(resolve(__dirname, '..', '..'), 'docs', 'decisions');
const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
const pages = readdirSync(folder).filter((name) => name.endsWith('.md') && name !== 'README.md');
const index = read('README.md');

const linesOf = (page: string): readonly string[] =>
  index.split('\n').filter((line) => line.startsWith('- ') && line.includes(`](${page}#`));

it.each(pages)('the index of decisions has one line for each decision of %s, in its order', (page) => {
  const decisions = headingsOf(read(page)).filter(({ level }) => level === 2);
  expect(decisions.length).toBeGreaterThan(0);
  expect(linesOf(page)).toEqual(decisions.map(({ text }) => `- [${text}](${page}#${anchorOf(text)})`));
});

it('the index of decisions has no decision of its own', () => {
  expect(headingsOf(index).filter(({ level, text }) => level === 2 && /\d{4}-\d{2}-\d{2}/.test(text))).toEqual([]);
});
