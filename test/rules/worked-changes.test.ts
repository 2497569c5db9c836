import { existsSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(__dirname, '..', '..');
const [, after = ''] = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8').split('\n## Where does a change belong?\n');
const rows = (after.split('\n## ')[0] ?? '')
  .split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| (?:Change|-)/.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim()));
const codeIn = (text: string): readonly string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
const linksIn = (text: string): readonly string[] => [...text.matchAll(/\]\(([^)#]+)[^)]*\)/g)].map(([, path = '']) => path);

it('CONTRIBUTING.md works ten changes through', () => {
  expect(rows).toHaveLength(10);
});

it.each(rows.map(([, change = '', begin = '']) => [change, begin] as const))(
  '%s begins in a file that has what is named there',
  (_change, begin) => {
    const [path = ''] = linksIn(begin);
    expect(existsSync(join(root, path))).toBe(true);
    const isFile = statSync(join(root, path)).isFile();
    const missing = isFile ? codeIn(begin).filter((name) => !readFileSync(join(root, path), 'utf8').includes(name)) : [];
    expect(missing).toEqual([]);
  },
);
