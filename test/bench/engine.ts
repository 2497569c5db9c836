import type { RawBed } from '../support/raw-bed';
import { startRawBed } from '../support/raw-bed';
import { median, randomWords, rounded } from './report/numbers';
import type { BenchServer, Bed } from './setup';
import { benchModels, startBed, startServer, task, toolText } from './setup';
import { usageOf } from './usage';

const turns = 15;
const rounds = 5;

/** A turn of two activities by hand and through Holdfast, alternating on one server. */
export async function benchEngine(): Promise<object> {
  return { ...(await compare(true)), withoutEagerExecution: await compare(false) };
}

async function compare(isEager: boolean): Promise<object> {
  const bench = await startServer({ 'system.enableActivityEagerExecution': String(isEager) });
  const say = randomWords(500);
  const bed = await startBed(bench, 'engine', { models: benchModels(() => say) });
  const raw = await startRawBed({ server: bench.server, taskQueue: 'raw', say, toolText });
  try {
    await alternate(bench, bed, raw, 1, 2);
    return { single: await alternate(bench, bed, raw, 1, rounds * 2), fifty: await alternate(bench, bed, raw, 50, rounds) };
  } finally {
    await bed.close();
    await raw.close();
    await bench.close();
  }
}

/** The worker's CPU time includes the client's. */
async function alternate(bench: BenchServer, bed: Bed, raw: RawBed, runs: number, times: number): Promise<object> {
  const measured = { byHand: [] as Taken[], holdfast: [] as Taken[] };
  for (let round = 0; round < times; round++) {
    const steps = [
      async () => measured.byHand.push(await taken(bench, runs, () => rawRun(raw))),
      async () => measured.holdfast.push(await taken(bench, runs, () => ourRun(bed))),
    ];
    for (const step of round % 2 === 0 ? steps : steps.reverse()) await step();
  }
  const medianOf = (all: readonly Taken[], of: keyof Taken): number => median(all.map((one) => one[of])) / (runs * turns);
  const shown = (all: readonly Taken[]): object => ({
    turnMs: rounded(medianOf(all, 'ms')),
    workerCpuMs: rounded(medianOf(all, 'worker')),
    serverCpuMs: rounded(medianOf(all, 'server')),
  });
  const { byHand, holdfast } = measured;
  return { byHand: shown(byHand), holdfast: shown(holdfast), ratio: rounded(medianOf(holdfast, 'ms') / medianOf(byHand, 'ms'), 3) };
}

interface Taken {
  readonly ms: number;
  readonly worker: number;
  readonly server: number;
}

async function taken(bench: BenchServer, runs: number, run: () => Promise<unknown>): Promise<Taken> {
  const server = usageOf(bench.pid).cpuMs;
  const worker = process.cpuUsage();
  const ms = await timed(runs, run);
  const { user, system } = process.cpuUsage(worker);
  return { ms, worker: (user + system) / 1000, server: usageOf(bench.pid).cpuMs - server };
}

async function timed(runs: number, run: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await Promise.all(Array.from({ length: runs }, run));
  return performance.now() - start;
}

let ids = 0;

async function rawRun({ client, taskQueue }: RawBed): Promise<void> {
  await client.workflow.execute('rawRun', { workflowId: `raw-${ids++}`, taskQueue, args: [turns] });
}

/** Waits as the raw run's caller does, so that only the engine differs. */
async function ourRun({ client }: Bed): Promise<void> {
  const id = `run-${ids++}`;
  const run = await client.start('worker', task(id, turns), { id });
  await run.result();
}
