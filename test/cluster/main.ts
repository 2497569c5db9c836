import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Cluster, dynamicConfigs } from './cluster';
import { jestProgram } from '../support/jest-program';

type Configuration = keyof typeof dynamicConfigs;

interface Report {
  numPassedTests: number;
  numFailedTests: number;
  numRuntimeErrorTestSuites: number;
  numPendingTests: number;
  numTodoTests: number;
  testResults: { readonly name: string; readonly status: string }[];
}

/** Step sequences and long histories depend on the flags. */
const steps = ['integration/(answers|bundles|cancels|endless-loops|large-steps|late-|run|tools|upgrade)'];
/** Tests that depend on the server's settings. Size limits are equal with the flags. */
const touched: Readonly<Record<Configuration, readonly string[]>> = {
  plain: [...steps, 'integration/(passwords|stuck)', 'bad-input', 'replay'],
  tuned: steps,
};

const usage = `npm run cluster -- [plain] [tuned] [--short] [--json FILE] [--tests PATTERN]
  plain, tuned  the cluster as it comes, and with the flags of docs/operations/README.md; both by default
  --short       only the tests that rest on the server's settings
  --tests       only the test files whose path has this in it`;

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { short: { type: 'boolean' }, json: { type: 'string' }, tests: { type: 'string' } },
  });
  if (positionals.some((name) => !Object.hasOwn(dynamicConfigs, name))) {
    console.error(usage);
    return 2;
  }
  const passes = (positionals.length === 0 ? Object.keys(dynamicConfigs) : positionals) as Configuration[];
  const all: Report = {
    numPassedTests: 0,
    numFailedTests: 0,
    numRuntimeErrorTestSuites: 0,
    numPendingTests: 0,
    numTodoTests: 0,
    testResults: [],
  };
  const lines: string[] = [];
  let failed = false;
  for (const name of passes) {
    const patterns = values.tests !== undefined ? [values.tests] : values.short === true ? touched[name] : [];
    const began = Date.now();
    const { status, report } = await pass(name, patterns);
    failed ||= status !== 0;
    all.numPassedTests += report.numPassedTests;
    all.numFailedTests += report.numFailedTests;
    all.numRuntimeErrorTestSuites += report.numRuntimeErrorTestSuites;
    all.numPendingTests += report.numPendingTests;
    all.numTodoTests += report.numTodoTests;
    all.testResults.push(...report.testResults);
    const count = `${report.numPassedTests} passed, ${report.numFailedTests + report.numRuntimeErrorTestSuites} failed`;
    lines.push(`${name}: ${count} in ${Math.round((Date.now() - began) / 1000)} s`);
  }
  if (values.json !== undefined) writeFileSync(values.json, JSON.stringify(all));
  console.log(`cluster: ${lines.join('; ')}`);
  return failed ? 1 : 0;
}

async function pass(name: Configuration, patterns: readonly string[]): Promise<{ readonly status: number; readonly report: Report }> {
  const cluster = await Cluster.start(dynamicConfigs[name]);
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-cluster-report-'));
  try {
    console.log(`The cluster is up at ${cluster.address} (${name}).`);
    const file = join(folder, 'report.json');
    const only = ['--testPathPatterns', ...(patterns.length === 0 ? ['test/integration', 'test/replay'] : patterns)];
    const status = await jest(['--selectProjects', 'server', 'system', '--json', '--outputFile', file, ...only], cluster.address);
    return { status, report: JSON.parse(readFileSync(file, 'utf8')) as Report };
  } finally {
    await cluster.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function jest(args: readonly string[], address: string): Promise<number> {
  // The four processes and the database need cores too.
  const child = spawn(process.execPath, [jestProgram, '--maxWorkers=2', ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, HOLDFAST_TEST_ADDRESS: address },
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

main().then(
  (code) => (process.exitCode = code),
  (error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  },
);
