import { relative } from 'node:path';

/** A test that failed, or a file that could not be run, as Jest reports it. */
export interface Failure {
  readonly file: string;
  readonly test: string;
  readonly message: string;
}

/** A line of `test/unsteady.json`: a test that failed by a limit of time and passed when it was played alone. */
export interface Unsteady {
  readonly file: string;
  readonly test: string;
  readonly date: string;
  readonly limit: string;
}

/** The part of Jest's JSON report that the gate reads. */
export interface JestReport {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  readonly numRuntimeErrorTestSuites: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages: readonly string[] | null;
    }[];
  }[];
}

/** The limits of time: Jest's for tests and hooks, and Playwright's for an element. */
const limits = [/Exceeded timeout of [\d,]+ ms for a (?:test|hook)/, /Timeout [\d,]+ms exceeded/];

/** The limit of time by which a test failed, or nothing when it failed by anything else. */
export function limitIn(message: string): string | undefined {
  return limits.map((limit) => limit.exec(message)?.[0]).find((found) => found !== undefined);
}

/** Every failure of a report. A test has one for each of its messages, as its hooks fail apart from it. */
export function failuresOf({ testResults }: JestReport, root: string): readonly Failure[] {
  return testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = relative(root, name).split('\\').join('/');
    const failed = assertionResults
      .filter((one) => one.status === 'failed')
      .flatMap(({ fullName, failureMessages }) => (failureMessages ?? ['']).map((text) => ({ file, test: fullName, message: text })));
    return failed.length > 0 || status !== 'failed' ? failed : [{ file, test: '', message }];
  });
}

/** With more files than this the machine or the change is at fault, and a second play would only hide it. */
const mostFiles = 5;

/**
 * The files that may be played a second time, alone: all that failed, if each failure is one by a limit of time. A failed invariant is never played
 * again, and while there is one nothing else is.
 */
export function filesToPlayAgain(failures: readonly Failure[]): readonly string[] {
  const files = [...new Set(failures.map(({ file }) => file))];
  return files.length <= mostFiles && failures.every(({ message }) => limitIn(message) !== undefined) ? files : [];
}

/** The lines for `test/unsteady.json`, one for each file that passed the second time. */
export function unsteadyOf(failures: readonly Failure[], date: string): readonly Unsteady[] {
  const firsts = new Map(failures.map((failure) => [failure.file, failure] as const).reverse());
  return [...firsts.values()].map(({ file, test, message }) => ({ file, test, date, limit: limitIn(message) ?? '' }));
}

const mostDays = 14;
const mostLines = 3;

/** The files with three lines within 14 days. The dates of the list decide, and no clock: a file leaves it when it is mended and its lines are deleted. */
export function tooUnsteady(lines: readonly Unsteady[]): readonly string[] {
  const datesOf = new Map<string, number[]>();
  for (const { file, date } of lines) datesOf.set(file, [...(datesOf.get(file) ?? []), Date.parse(date)]);
  const isTooMuch = (dates: readonly number[]): boolean =>
    dates.some((last, index) => index >= mostLines - 1 && last - (dates[index - mostLines + 1] ?? 0) <= mostDays * 24 * 3_600_000);
  return [...datesOf].filter(([, dates]) => isTooMuch([...dates].sort((one, other) => one - other))).map(([file]) => file);
}
