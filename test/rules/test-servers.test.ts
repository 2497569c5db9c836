import { readFileSync, readdirSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';

const folder = resolve(__dirname, '..');

/** Tests of the server itself, and what records histories one after another. */
const mayForget = /^(host\/|replay\/record\.ts$)/;

it('servers of tests have their database in a file, which a query that is given up does not take away', () => {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((file) => file.split(sep).join('/'))
    .filter((file) => file.endsWith('.ts') && !file.startsWith('rules/'));
  const inMemory = files.filter((file) => /\bdatabase: 'memory'/.test(readFileSync(join(folder, file), 'utf8')));
  expect(inMemory).not.toEqual([]);
  expect(inMemory.filter((file) => !mayForget.test(file))).toEqual([]);
});
