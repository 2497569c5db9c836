import { relative } from 'node:path';

export interface Failure {
  readonly file: string;
  readonly test: string;
  readonly message: string;
}

export interface Unsteady {
  readonly file: string;
  readonly test: string;
  readonly date: string;
  readonly limit: string;
}

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

/** Jest's limits for tests and hooks, and Playwright's for an element. */
const limits = [/Exceeded timeout of [\d,]+ ms for a (?:test|hook)/, /Timeout [\d,]+ms exceeded/];

export function limitIn(message: string): string | undefined {
  return limits.map((limit) => limit.exec(message)?.[0]).find((found) => found !== undefined);
}

/** Hooks fail apart from the test, so a test may have several failures. */
export function failuresOf({ testResults }: JestReport, root: string): readonly Failure[] {
  return testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = relative(root, name).split('\\').join('/');
    const failed = assertionResults
      .filter((one) => one.status === 'failed')
      .flatMap(({ fullName, failureMessages }) => (failureMessages ?? ['']).map((text) => ({ file, test: fullName, message: text })));
    return failed.length > 0 || status !== 'failed' ? failed : [{ file, test: '', message }];
  });
}

/** With more failed files, the machine or the change is at fault, and a second play would hide the fault. */
const mostFiles = 5;

/** Returns the failed files if all failures are time limits. Any other failure forbids a second play. */
export function filesToPlayAgain(failures: readonly Failure[]): readonly string[] {
  const files = [...new Set(failures.map(({ file }) => file))];
  return files.length <= mostFiles && failures.every(({ message }) => limitIn(message) !== undefined) ? files : [];
}

export function unsteadyOf(failures: readonly Failure[], date: string): readonly Unsteady[] {
  const firsts = new Map(failures.map((failure) => [failure.file, failure] as const).reverse());
  return [...firsts.values()].map(({ file, test, message }) => ({ file, test, date, limit: limitIn(message) ?? '' }));
}

const mostDays = 14;
const mostLines = 3;

/** Returns the files with three lines within 14 days, by the dates in the list. A repaired file loses its lines. */
export function tooUnsteady(lines: readonly Unsteady[]): readonly string[] {
  const datesOf = new Map<string, number[]>();
  for (const { file, date } of lines) datesOf.set(file, [...(datesOf.get(file) ?? []), Date.parse(date)]);
  const isTooMuch = (dates: readonly number[]): boolean =>
    dates.some((last, index) => index >= mostLines - 1 && last - (dates[index - mostLines + 1] ?? 0) <= mostDays * 24 * 3_600_000);
  return [...datesOf].filter(([, dates]) => isTooMuch([...dates].sort((one, other) => one - other))).map(([file]) => file);
}
