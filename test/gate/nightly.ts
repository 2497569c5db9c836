/**
 * `npm run nightly` plays new seeds, a kill at every event, a cluster, all versions of Node, package managers, the whole browser, and
 * benches with bounds, and writes one report. `… -- parity browser` plays only the named stages.
 */
import { spawn } from 'node:child_process';
import { createWriteStream, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withinBounds } from './bounds';

const root = join(__dirname, '..', '..', '..');
const folder = join(root, '.holdfast-nightly');
const seed = process.env['HOLDFAST_SEED'] ?? String(Date.now() % 1_000_000);

interface Stage {
  readonly command: string;
  readonly check?: (output: string) => string | undefined;
}

const node = (program: string, ...args: readonly string[]): string => `node dist/${program}.js ${args.join(' ')}`;
const jest = (...args: readonly string[]): string => `npx --no-install jest ${args.join(' ')}`;

const stages: Readonly<Record<string, Stage>> = {
  seeds: { command: jest('--selectProjects unit system --testPathPatterns policy-batches protocols rejected-updates') },
  parity: { command: node('test/parity/main', '300', seed) },
  storm: { command: node('test/storm/main', '--seeds', '40', '--from', seed) },
  updates: { command: node('test/updates/main', '5000', seed) },
  research: { command: node('test/kill/chaos', 'research') },
  refund: { command: node('test/kill/chaos', 'refund') },
  conversation: { command: node('test/kill/chaos', 'conversation') },
  product: { command: jest('--selectProjects nightly --testPathIgnorePatterns nightly/alone test/browser') },
  browser: { command: jest('--selectProjects nightly --testPathPatterns test/browser') },
  alone: { command: jest('--runInBand --selectProjects nightly --testPathPatterns nightly/alone') },
  cluster: { command: node('test/cluster/main') },
  nodes: { command: '.ci/nodes 20 22=full 24=full 26' },
  bench: { command: node('test/bench/main', 'engine', 'bytes', 'resume', 'cold'), check: withinBounds },
};

interface Ended {
  readonly name: string;
  readonly seconds: number;
  readonly problem: string | undefined;
  readonly lastLines: readonly string[];
}

async function play(name: string, { command, check }: Stage): Promise<Ended> {
  const began = Date.now();
  console.log(`== ${name}: ${command}`);
  const log = createWriteStream(join(folder, `${name}.log`));
  const child = spawn('bash', ['-c', command], { cwd: root, env: { ...process.env, HOLDFAST_SEED: seed, CI: 'true' } });
  let output = '';
  const hear = (chunk: Buffer): void => {
    log.write(chunk);
    output = (output + chunk.toString()).slice(-100_000);
  };
  child.stdout.on('data', hear);
  child.stderr.on('data', hear);
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  log.end();
  const problem = code === 0 ? check?.(output) : `it ended with ${code}`;
  const seconds = Math.round((Date.now() - began) / 1000);
  console.log(`== ${name}: ${problem ?? 'passed'}, ${seconds} s`);
  return { name, seconds, problem, lastLines: output.trim().split('\n').slice(-15) };
}

function reportOf(ended: readonly Ended[]): string {
  const rows = ended.map(({ name, seconds, problem }) => `| ${name} | ${seconds} s | ${problem ?? 'passed'} |`);
  const ends = ended.map(({ name, lastLines }) => `## ${name}\n\n\`\`\`\n${lastLines.join('\n')}\n\`\`\`\n`);
  return `# Nightly, seed ${seed}\n\n| stage | time | result |\n| --- | --- | --- |\n${rows.join('\n')}\n\n${ends.join('\n')}`;
}

async function main(wanted: readonly string[]): Promise<number> {
  const unknown = wanted.filter((name) => !Object.hasOwn(stages, name));
  if (unknown.length > 0) {
    console.error(`There is no stage "${unknown.join('", "')}". The stages are ${Object.keys(stages).join(', ')}.`);
    return 2;
  }
  mkdirSync(folder, { recursive: true });
  const ended: Ended[] = [];
  for (const [name, stage] of Object.entries(stages)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    ended.push(await play(name, stage));
    writeFileSync(join(folder, 'report.md'), reportOf(ended));
  }
  const failed = ended.filter(({ problem }) => problem !== undefined);
  console.log(`${ended.length - failed.length} stages passed, ${failed.length} failed. The report is ${join(folder, 'report.md')}.`);
  return failed.length === 0 ? 0 : 1;
}

main(process.argv.slice(2)).then(
  (code) => (process.exitCode = code),
  (error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  },
);
