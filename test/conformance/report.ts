import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cases, keyOf } from './cases';
import { jestProgram } from '../support/jest-program';

interface JestReport {
  readonly testResults: readonly { readonly assertionResults: readonly { readonly title: string; readonly status: string }[] }[];
}

interface Counts {
  cases: number;
  passing: number;
  notApplicable: number;
  open: number;
}

/** Prints one line per section. A case passes when all tests with the key pass. */
function main(): number {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-conformance-'));
  const file = join(folder, 'report.json');
  const { status } = spawnSync(
    process.execPath,
    [jestProgram, '--selectProjects', 'cases', 'conformance', '--json', '--outputFile', file],
    {
      stdio: ['inherit', 'ignore', 'inherit'],
    },
  );
  const { testResults } = JSON.parse(readFileSync(file, 'utf8')) as JestReport;
  rmSync(folder, { recursive: true });
  const passed = new Map<string, boolean>();
  for (const { title, status: result } of testResults.flatMap(({ assertionResults }) => assertionResults)) {
    const key = keyOf(title);
    if (key !== undefined) passed.set(key, passed.get(key) !== false && result === 'passed');
  }
  const sections: Record<string, Record<string, Counts>> = { eino: {}, trpc: {} };
  for (const { key, section, open, notApplicable } of cases) {
    const counts = ((sections[key.split(' ')[0] ?? ''] ??= {})[section] ??= { cases: 0, passing: 0, notApplicable: 0, open: 0 });
    counts.cases += 1;
    if (notApplicable !== undefined) counts.notApplicable += 1;
    else if (open !== undefined) counts.open += 1;
    else if (passed.get(key) === true) counts.passing += 1;
  }
  console.log(JSON.stringify({ conformance: sections }));
  return status ?? 1;
}

process.exitCode = main();
