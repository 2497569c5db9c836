import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { cases, keyOf } from './cases';

function titlesOf(file: string): readonly { readonly file: string; readonly begun: string; readonly title: string }[] {
  const source = readFileSync(join(__dirname, file), 'utf8');
  const begins = /^ *(it|test|onEngines)(?:\.each(?:<[^(]*>)?\([\s\S]*?\n? *\]\))?\(\s*(['"`])(.*?)\2,?/gm;
  const begun = [...source.matchAll(begins)].map(([, how = '', , title = '']) => ({ file, begun: how, title }));
  // The pattern misses long test tables, whose titles begin with a key all the same.
  const keyed = [...source.matchAll(/'(\[(?:eino|trpc) \d+\] .*?)',?/g)].map(([, title = '']) => ({ file, begun: 'it', title }));
  return [...begun, ...keyed.filter(({ title }) => !begun.some((one) => one.title === title))];
}

const tests = readdirSync(__dirname)
  .filter((file) => file.endsWith('.test.ts') && file !== 'cases.test.ts')
  .flatMap(titlesOf);
const tested = new Set(tests.map(({ title }) => keyOf(title)));
const keys = new Set(cases.map(({ key }) => key));

describe('the cases', () => {
  it('have keys that differ, a sentence and an engine', () => {
    expect(keys.size).toBe(cases.length);
    expect(cases.filter((entry) => !entry.case.endsWith('.') || entry.engines.length === 0)).toEqual([]);
  });

  it('are tested, when they are neither open nor not applicable', () => {
    const due = cases.filter(({ open, notApplicable }) => open === undefined && notApplicable === undefined);
    expect(due.filter(({ key }) => !tested.has(key)).map(({ key }) => key)).toEqual([]);
  });

  it('have no test while they are said to be open', () => {
    const stale = cases.filter(({ key, open, notApplicable }) => (open ?? notApplicable) !== undefined && tested.has(key));
    expect(stale.map(({ key }) => key)).toEqual([]);
  });

  it('are what the titles of all tests begin with', () => {
    expect(tests.filter(({ title }) => !keys.has(keyOf(title) ?? ''))).toEqual([]);
  });

  it('run on every engine that they name', () => {
    const onBoth = new Set(tests.filter(({ begun }) => begun === 'onEngines').map(({ title }) => keyOf(title)));
    const inMemoryOnly = cases.filter(({ key, engines }) => engines.includes('temporal') && tested.has(key) && !onBoth.has(key));
    expect(inMemoryOnly.map(({ key }) => key)).toEqual([]);
  });

  it('that are not applicable stand in docs/coming-from/differences.md with their reason, and are few', () => {
    const differences = readFileSync(join(__dirname, '..', '..', 'docs', 'coming-from', 'differences.md'), 'utf8');
    const without = cases.filter(({ notApplicable }) => notApplicable !== undefined && !differences.includes(notApplicable));
    expect(without.map(({ key }) => key)).toEqual([]);
    for (const section of new Set(cases.map((entry) => entry.section))) {
      const all = cases.filter((entry) => entry.section === section);
      expect(all.filter(({ notApplicable }) => notApplicable !== undefined).length).toBeLessThanOrEqual(all.length / 10);
    }
  });
});
