import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { freePort } from '../host/server/free-port';
import type { EmbeddedServer } from '../host/server/embedded-server';
import { startEmbeddedServer } from '../host/server/embedded-server';
import { startCounter, tallied } from './load/counter';
import type { Job } from './load/jobs';
import { day, planOf } from './load/jobs';
import { LoadDriver } from './load/driver';
import type { Started } from './load/processes';
import { startProgram } from './load/processes';
import type { Sample } from './load/usage';
import { databaseMb, growthAnHour, usageOf } from './load/usage';
import { median, rounded } from './setup';

/** A day's worth of load. */
const jobsAnHour = 200;
const hours = 24;
/** When so many of the runs have been started. Behind them both other thirds have the same processes. */
const workerDiesAt = 0.28;
const serverDiesAt = 0.3;
const sampleMs = 10_000;
/** So much more than in the middle third a process may have in the last one. */
const growth = { share: 1.1, mb: 15 };

const parts = ['worker', 'service', 'server'] as const;
type Part = (typeof parts)[number];

/** A day's worth of jobs in some minutes, on `holdfast serve`, `holdfast worker` and an embedded server. Worker and server are killed once. */
export async function benchSoak([given = '20']: readonly string[]): Promise<object> {
  const minutes = Number(given);
  if (!(minutes > 0)) throw new Error(`The bench "soak" takes a number of minutes. It was given: ${given}.`);
  // A shorter soak has as many jobs a minute.
  const count = Math.ceil((jobsAnHour * hours * minutes) / 20);
  const jobs = Array.from({ length: count }, (_, position): Job => ({
    kind: day[position % day.length] ?? 'looks',
    id: `job-${position}`,
  }));
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-bench-soak-'));
  const bed = await openBed(directory);
  const driver = new LoadDriver(`http://127.0.0.1:${bed.port}`, (label) => bed.counter.has(label));
  const totalMs = minutes * 60_000;
  const began = performance.now();
  const at = async (share: number): Promise<number> => {
    await driver.untilStarted(Math.round(share * jobs.length));
    return performance.now() - began;
  };
  const samples: Record<Part, Sample[]> = { worker: [], service: [], server: [] };
  const sampling = setInterval(() => {
    for (const part of parts) samples[part].push({ at: performance.now() - began, rssMb: usageOf(bed.pidOf(part)).rssMb });
  }, sampleMs);
  const cpu = (): Record<Part, number> => ({
    worker: usageOf(bed.pidOf('worker')).cpuMs,
    service: usageOf(bed.pidOf('service')).cpuMs,
    server: usageOf(bed.pidOf('server')).cpuMs,
  });
  try {
    const driving = driver.drive(jobs, totalMs);
    await at(workerDiesAt);
    await bed.killWorker();
    await at(serverDiesAt);
    await bed.killServer();
    const firstThird = await at(1 / 3);
    const before = cpu();
    const secondThird = await at(2 / 3);
    const last = await at(1);
    const after = cpu();
    const result = await driving;
    clearInterval(sampling);
    const turnsLater = (turnsOf(jobs) * 2) / 3;
    const wanted = jobs.filter(({ id }) => !result.wrong.has(id)).flatMap((job) => planOf(job).effects(job.id));
    const tally = tallied(await bed.counter.counts(), wanted, isOnce);
    for (const [id, what] of [...result.wrong].slice(0, 20)) console.error(`${id}: ${what}`);
    for (const label of [...tally.lost, ...tally.doubled].slice(0, 20)) console.error(`lost or doubled: ${label}`);
    const rssMb = Object.fromEntries(parts.map((part) => [part, growthOf(samples[part], firstThird, secondThird, last)]));
    const flat = Object.values(rssMb).every(({ middle, last }) => last <= middle * growth.share + growth.mb);
    const lost = result.wrong.size + tally.lost.length;
    const doubled = tally.doubled.length;
    if (!flat || lost + doubled > 0) process.exitCode = 1;
    return {
      minutes: rounded(last / 60_000, 1),
      runs: jobs.length,
      turns: turnsOf(jobs),
      completed: result.completed,
      cancelled: result.cancelled,
      answered: result.answered,
      inDoubt: result.inDoubt,
      endMs: { p50: rounded(median(result.endMs), 0), slowest: rounded(Math.max(...result.endMs), 0) },
      lost,
      doubled,
      flat,
      rssMb,
      cpuMsATurn: Object.fromEntries(parts.map((part) => [part, rounded((after[part] - before[part]) / turnsLater, 1)])),
      databaseKbARun: rounded((databaseMb(bed.databaseFile()) * 1024) / jobs.length, 1),
    };
  } finally {
    clearInterval(sampling);
    await bed.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

const isOnce = (label: string): boolean => /\/(pay|stamp)$/.test(label);

/** Model calls of jobs that nothing disturbs. Both isolated agents of a run have turns of their own. */
function turnsOf(jobs: readonly Job[]): number {
  return jobs.reduce((sum, job) => {
    const { agent, turns, decision } = planOf(job);
    const own = turns(job.id, agent).length + (decision === 'cancel' ? 0 : 1);
    return sum + own * (agent === 'pair' ? 2 : 1);
  }, 0);
}

interface Growth {
  readonly middle: number;
  readonly last: number;
  readonly mbAnHour: number;
}

/** Of the second and of the last third of the load, which end at these moments. */
function growthOf(samples: readonly Sample[], first: number, second: number, last: number): Growth {
  const between = (from: number, to: number): readonly Sample[] => samples.filter(({ at }) => at >= from && at < to);
  const middleOf = (some: readonly Sample[]): number => rounded(median(some.map(({ rssMb }) => rssMb)), 0);
  return {
    middle: middleOf(between(first, second)),
    last: middleOf(between(second, last)),
    mbAnHour: rounded(growthAnHour(between(first, last)), 0),
  };
}

interface SoakBed {
  readonly port: number;
  readonly counter: Awaited<ReturnType<typeof startCounter>>;
  pidOf(part: Part): number;
  databaseFile(): string;
  /** Each kill -9, and a new one in its place. */
  killWorker(): Promise<void>;
  killServer(): Promise<void>;
  close(): Promise<void>;
}

async function openBed(directory: string): Promise<SoakBed> {
  const serverPort = await freePort();
  const port = await freePort();
  const serverDirectory = join(directory, 'server');
  mkdirSync(serverDirectory);
  let gone: () => void = () => undefined;
  const startServer = (): Promise<EmbeddedServer> =>
    startEmbeddedServer({ directory: serverDirectory, port: serverPort, onExit: () => gone() });
  const counter = await startCounter(directory);
  let server = await startServer();
  // The sources: these commands compile a project themselves.
  const config = resolve(__dirname, '..', '..', 'bench', 'load', 'holdfast.config.ts');
  const environment = {
    TEMPORAL_ADDRESS: server.address,
    HOLDFAST_DIR: join(directory, 'project'),
    HOLDFAST_LOG_LEVEL: 'info',
    BENCH_COUNTER: counter.url,
  };
  const command = (name: 'serve' | 'worker', ...flags: string[]): Promise<Started> => {
    const args = [join(__dirname, '..', 'cli', 'main.js'), name, '--config', config, ...flags];
    return startProgram(name, process.execPath, args, { directory, environment, until: 'Holdfast is ready.' });
  };
  let worker = await command('worker');
  const service = await command('serve', '--port', String(port));
  const pids = { worker: () => worker.pid, service: () => service.pid, server: () => server.pid };
  return {
    port,
    counter,
    pidOf: (part) => pids[part](),
    databaseFile: () => server.database ?? '',
    async killWorker() {
      await worker.kill();
      worker = await command('worker');
    },
    async killServer() {
      const over = new Promise<void>((resolve) => (gone = resolve));
      process.kill(server.pid, 'SIGKILL');
      await over;
      server = await startServer();
    },
    async close() {
      await worker.kill();
      await service.kill();
      await counter.kill();
      await server.stop();
    },
  };
}
