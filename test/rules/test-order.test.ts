import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

const folder = resolve(__dirname, '..');
const { longest } = jest.requireActual<{ readonly longest: readonly string[] }>('../support/long-first');

it('the files that are known to take longest are there', () => {
  expect(longest.length).toBeGreaterThan(5);
  expect(longest.filter((name) => !existsSync(join(folder, `${name}.test.ts`)))).toEqual([]);
});
