import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Unsteady } from '../gate/verdict';
import { tooUnsteady } from '../gate/verdict';

const root = resolve(__dirname, '..', '..');
const lines = JSON.parse(readFileSync(join(root, 'test', 'unsteady.json'), 'utf8')) as readonly Unsteady[];

it('no file has failed three times within 14 days by a limit of time', () => {
  expect(tooUnsteady(lines)).toEqual([]);
});

it('every line of the list of unsteady tests names a file, a test, a day and a limit', () => {
  for (const { file, test, date, limit } of lines) {
    expect([file, existsSync(join(root, file))]).toEqual([file, true]);
    expect([test, limit].every((text) => typeof text === 'string')).toBe(true);
    expect(date).toMatch(/^\d{4}-\d\d-\d\d$/);
  }
});
