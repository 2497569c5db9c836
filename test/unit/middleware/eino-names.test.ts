import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { exportsOf, fieldsOf } from '../../support/door-names';

const page = readFileSync(join(resolve(__dirname, '..', '..', '..'), 'docs', 'coming-from', 'eino.md'), 'utf8');
const rows = page
  .split('\n')
  .filter((line) => /^\| .* \|$/.test(line))
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
  .filter(([first]) => first !== 'Eino' && !/^-+$/.test(first ?? ''));
const codeIn = (cell: string): readonly string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);

it('docs/coming-from/eino.md has a name for everything, each once', () => {
  expect(rows.length).toBeGreaterThan(50);
  const places = rows.map(([eino]) => eino);
  expect(places.filter((eino, position) => places.indexOf(eino) !== position)).toEqual([]);
});

it.each(rows.map((cells) => [cells[0] ?? '', cells[1] ?? '', cells[2] ?? ''] as const))('%s is %s of %s', (_eino, here, from) => {
  const [place = ''] = codeIn(from);
  const known = place.startsWith('holdfast/') ? exportsOf(place) : fieldsOf(place);
  const names = codeIn(here);
  expect(names).not.toEqual([]);
  expect(names.filter((name) => !known.has(name))).toEqual([]);
});
