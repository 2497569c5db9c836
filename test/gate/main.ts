/**
 * `node dist/test/gate/main.js test` runs the tier of `npm test`, `… system` the tier of `npm run system`. Files that failed only by a time
 * limit are played once more, alone, and the gate prints the line for `test/unsteady.json`.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Failure, JestReport } from './verdict';
import { failuresOf, filesToPlayAgain, unsteadyOf } from './verdict';
import { jestProgram } from '../support/jest-program';

const root = join(__dirname, '..', '..', '..');
const tiers: Readonly<Record<string, readonly string[]>> = {
  test: ['unit', 'cases', 'server'],
  system: ['system', 'conformance'],
};

interface Play {
  readonly report: JestReport;
  readonly failures: readonly Failure[];
  readonly skipped: number;
  readonly isGreen: boolean;
}

function play(args: readonly string[]): Play {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-gate-'));
  try {
    const file = join(folder, 'report.json');
    const { status } = spawnSync(process.execPath, [jestProgram, ...args, '--json', '--outputFile', file], {
      cwd: root,
      stdio: 'inherit',
    });
    const report = JSON.parse(readFileSync(file, 'utf8')) as JestReport;
    return { report, failures: failuresOf(report, root), skipped: report.numPendingTests + report.numTodoTests, isGreen: status === 0 };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function main(tier = '', args: readonly string[]): number {
  const projects = tiers[tier];
  if (projects === undefined) {
    console.error(`There is no tier "${tier}". The tiers are ${Object.keys(tiers).join(', ')}.`);
    return 2;
  }
  const began = Date.now();
  const first = play(['--selectProjects', ...projects, ...args]);
  const again = first.isGreen ? [] : filesToPlayAgain(first.failures);
  const second = again.length === 0 ? undefined : play(['--selectProjects', ...projects, '--runInBand', '--runTestsByPath', ...again]);
  const isGreen = first.isGreen || second?.isGreen === true;
  const unsteady = second?.isGreen === true ? unsteadyOf(first.failures, new Date().toISOString().slice(0, 10)) : [];
  const brokenFiles = isGreen ? 0 : first.report.numRuntimeErrorTestSuites;
  const failed = isGreen ? 0 : Math.max(1, first.report.numFailedTests + brokenFiles);
  const passed = first.report.numPassedTests + (isGreen ? first.report.numFailedTests : 0);
  if (!isGreen) for (const file of new Set(first.failures.map((one) => one.file))) console.log(`FAILED ${file}`);
  if (unsteady.length > 0) {
    console.log(`${unsteady.length} files passed only the second time. The next commit adds these lines to test/unsteady.json:`);
    for (const line of unsteady) console.log(JSON.stringify(line));
  }
  const { skipped } = first;
  if (skipped > 0) console.log(`${skipped} tests were skipped.`);
  const seconds = Math.round((Date.now() - began) / 1000);
  console.log(`${tier}: ${passed} passed, ${failed} failed, ${unsteady.length} files unsteady, in ${seconds} s`);
  const summary = process.env['HOLDFAST_GATE_SUMMARY'];
  if (summary !== undefined) writeFileSync(summary, JSON.stringify({ passed, failed: failed + skipped, unsteady }));
  return isGreen && skipped === 0 ? 0 : 1;
}

const [tier, ...args] = process.argv.slice(2);
process.exitCode = main(tier, args);
