import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

const folder = resolve(__dirname, '..');
const { longest } = jest.requireActual<{ readonly longest: readonly string[] }>('../support/long-first');
const { representatives, smoke } = jest.requireActual<Readonly<Record<string, readonly string[]>>>('../tiers');

it.each(Object.entries({ longest, representatives, smoke }))('the list %s names only files that exist', (_, names) => {
  expect(names?.length).toBeGreaterThan(0);
  expect(names?.filter((name) => !existsSync(join(folder, `${name}.test.ts`)))).toEqual([]);
});
