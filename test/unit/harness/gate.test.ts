import type { JestReport, Unsteady } from '../../gate/verdict';
import { failuresOf, filesToPlayAgain, limitIn, tooUnsteady, unsteadyOf } from '../../gate/verdict';

const late = 'thrown: "Exceeded timeout of 240000 ms for a test.\nAdd a timeout value to this test …"';
const failure = (file: string, message: string) => ({ file, test: 'it works', message });
const line = (date: string, file = 'test/a.test.ts'): Unsteady => ({ file, test: 'it works', date, limit: late });

describe('a failure', () => {
  it.each([
    ['a test', late],
    ['a hook', 'thrown: "Exceeded timeout of 240000 ms for a hook.'],
    ['a page', 'locator.waitFor: Timeout 30000ms exceeded.'],
  ])('is one by a limit of time for %s', (_, message) => expect(limitIn(message)).toBeDefined());

  it.each([
    ['a value that differs', 'expect(received).toEqual(expected)'],
    ['a run that has not ended in the time of a check of our own', 'LimitOfTime: the run has not ended after 120 s'],
    ['a stuck run', 'Error: Runs are stuck: default/run-7'],
    ['a test about timeouts', 'expect(received).toBe("tool-timeout")'],
  ])('is none by a limit of time for %s', (_, message) => expect(limitIn(message)).toBeUndefined());

  it('is read of tests, and of files that could not be run', () => {
    const file = (name: string, status: string, message: string, ...assertionResults: object[]) => ({
      ...{ name: `/r/test/${name}.test.ts`, status, message, assertionResults },
    });
    const testResults = [
      file('a', 'failed', '', { fullName: 'one', status: 'failed', failureMessages: ['x', 'y'] }),
      file('b', 'failed', 'SyntaxError'),
      file('c', 'passed', '', { fullName: 'two', status: 'passed', failureMessages: [] }),
    ];
    expect(failuresOf({ testResults } as unknown as JestReport, '/r')).toEqual([
      { file: 'test/a.test.ts', test: 'one', message: 'x' },
      { file: 'test/a.test.ts', test: 'one', message: 'y' },
      { file: 'test/b.test.ts', test: '', message: 'SyntaxError' },
    ]);
  });
});

describe('the second play', () => {
  it('is for the files whose tests failed only by a limit of time', () => {
    expect(filesToPlayAgain([failure('a', late), failure('a', late), failure('b', late)])).toEqual(['a', 'b']);
  });

  it('is for no file while an invariant has failed, in the same file or elsewhere', () => {
    expect(filesToPlayAgain([failure('a', late), failure('a', 'Runs are stuck')])).toEqual([]);
    expect(filesToPlayAgain([failure('a', late), failure('b', 'expect(received).toEqual(expected)')])).toEqual([]);
  });

  it('is for no file if more than five files were too late', () => {
    expect(filesToPlayAgain(['a', 'b', 'c', 'd', 'e', 'f'].map((file) => failure(file, late)))).toEqual([]);
  });

  it('gives one line for each file that passed', () => {
    expect(unsteadyOf([failure('a', late), failure('a', 'Timeout 30000ms exceeded')], '2026-11-26')).toEqual([
      { file: 'a', test: 'it works', date: '2026-11-26', limit: 'Exceeded timeout of 240000 ms for a test' },
    ]);
  });
});

describe('the list of unsteady tests', () => {
  it('refuses three lines of one file within 14 days, in whatever order they stand', () => {
    expect(tooUnsteady([line('2026-12-05'), line('2026-11-21'), line('2026-12-01')])).toEqual(['test/a.test.ts']);
  });

  it('takes three lines of one file over a longer time, and of three files', () => {
    expect(tooUnsteady([line('2026-11-01'), line('2026-11-10'), line('2026-11-20')])).toEqual([]);
    expect(tooUnsteady([line('2026-11-01', 'a'), line('2026-11-01', 'b'), line('2026-11-01', 'c')])).toEqual([]);
  });
});
