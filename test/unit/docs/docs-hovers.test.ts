import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { hoversOf } from '../../support/hover-examples';

const root = resolve(__dirname, '..', '..', '..');
const { exports: doors } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly exports: object };
const names = Object.keys(doors).flatMap((door) => (door === './package.json' ? [] : [door.replace('.', 'holdfast')]));
const { hovers, complaints } = hoversOf(names);

describe('the hover text of every function and class that the doors export', () => {
  it('says what it does, with an example of 3 to 10 lines', () => {
    const wrong = hovers.filter(({ text, example }) => {
      const lines = example.split('\n').length;
      return text === '' || lines < 3 || lines > 10;
    });
    expect(wrong.map(({ door, name, file }) => `${door}: ${name} (${file})`)).toEqual([]);
    expect(hovers.length).toBeGreaterThan(130);
  });

  it('has an example that compiles with the types of the doors', () => {
    expect(complaints()).toEqual([]);
  });
});
