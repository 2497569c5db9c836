import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { median } from '../report/numbers';
import { folder } from './install';
import { openPayments } from '../report/payments';
import { PeerProcess } from './process';
import type { ChildSetup } from './protocol';
import type { Numbers, Recovery, SizeNumbers } from '../report/results';
import type { Store } from './stores';

export interface Extent {
  readonly sizes: readonly number[];
  readonly atOnce: { readonly runs: number; readonly turns: number; readonly times: number };
  readonly answers: number;
  readonly parked: number;
  /** Wait before the memory is read. */
  readonly settleMs: number;
}

export const whole: Extent = {
  sizes: [20, 100, 400],
  atOnce: { runs: 50, turns: 10, times: 2 },
  answers: 20,
  parked: 300,
  settleMs: 10_000,
};

export const short: Extent = { sizes: [5, 10], atOnce: { runs: 5, turns: 4, times: 1 }, answers: 3, parked: 20, settleMs: 500 };

const killedIn = 6;
const killedTurns = 8;
const killedRuns = 10;
const recoveryPatienceMs = 90_000;
const sizePatienceMs = 120_000;

export async function measure(adapter: string, store: Store, extent: Extent, say: (stage: string) => void): Promise<Numbers> {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-peer-'));
  const { payments, url, close } = await openPayments();
  try {
    const setup: ChildSetup = {
      adapter: adapter.endsWith('.mjs') ? join(folder, 'adapters', adapter) : join(__dirname, 'adapters', adapter),
      ...(await store.settings()),
      directory,
      payments: url,
    };
    say('start');
    // The first process makes tables and bundles.
    const first = new PeerProcess(setup);
    await first.do({ do: 'run', turns: 5 });
    await first.close();
    const began = performance.now();
    const peer = new PeerProcess(setup);
    await peer.do({ do: 'run', turns: 1 });
    const coldStartMs = performance.now() - began;
    await peer.do({ do: 'run', turns: 10 });
    say('sizes');
    const sizes = await measureSizes(peer, store, extent.sizes);
    say('many at once');
    const atOnce = await measureMany(peer, store, extent);
    say('answers');
    await peer.do({ do: 'answers', times: 3 });
    const { ms: answers } = await peer.do({ do: 'answers', times: extent.answers });
    await peer.close();
    say('parked runs');
    const parkedKb = await measureMemory(setup, extent);
    say('kill -9');
    const recovery = await measureRecovery(setup, store);
    return {
      coldStartMs,
      sizes,
      ...atOnce,
      answerMs: median(answers),
      parkedKb,
      recovery: { ...recovery, askedAgain: payments.askedAgain, paidAgain: payments.paidAgain },
    };
  } finally {
    close();
    rmSync(directory, { recursive: true, force: true });
  }

  async function measureRecovery(setup: ChildSetup, store: Store): Promise<Omit<Recovery, 'askedAgain' | 'paidAgain'>> {
    const doomed = new PeerProcess({ ...setup, hangsIn: killedIn });
    const ids = Array.from({ length: killedRuns }, (_, position) => `killed-${process.pid}-${Date.now()}-${position}`);
    await doomed.do({ do: 'pay', ids, turns: killedTurns });
    for (const until = Date.now() + recoveryPatienceMs; payments.askedIn(killedIn) < killedRuns; await delay(20))
      if (Date.now() > until) throw new Error(`Only ${payments.askedIn(killedIn)} runs came to the call ${killedIn}.`);
    // LangGraph writes beside the run.
    await delay(2000);
    const killed = performance.now();
    await doomed.kill();
    const next = new PeerProcess(setup);
    const recover = next.do({ do: 'recover', ids, hasOneHost: store.embedded });
    const ends = recover.then(
      () => undefined,
      (error: unknown) => String(error),
    );
    const problem = await Promise.race([ends, delay(recoveryPatienceMs, 'not in time', { ref: false })]);
    const seconds = (performance.now() - killed) / 1000;
    await next.kill();
    const done = payments.askedIn(killedTurns);
    if (problem !== undefined) console.error(`${adapter}: ${problem}`);
    return { runs: killedRuns, ended: problem === undefined ? killedRuns : done, seconds };
  }
}

async function measureSizes(peer: PeerProcess, store: Store, sizes: readonly number[]): Promise<readonly SizeNumbers[]> {
  const measured: SizeNumbers[] = [];
  for (const turns of sizes) {
    const times = turns <= 20 ? 3 : 1;
    const kept = await store.keptBytes();
    const written = await store.writtenBytes();
    try {
      const ms: number[] = [];
      for (let time = 0; time < times; time++) {
        const run = peer.do({ do: 'run', turns });
        const { ms: took } = await Promise.race([run, tooLate(`A run of ${turns} turns took more than ${sizePatienceMs / 1000} s.`)]);
        ms.push(...took);
      }
      // A server writes on after the end of a run.
      await delay(1000);
      const perTurn = (bytes: number): number => bytes / times / turns;
      // Before the vacuum, because the vacuum writes too.
      const writtenBytes = perTurn((await store.writtenBytes()) - written);
      measured.push({ turns, turnMs: median(ms) / turns, keptBytes: perTurn((await store.keptBytes()) - kept), writtenBytes });
    } catch (error) {
      const [problem = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
      console.error(`${turns} turns: ${problem}`);
      measured.push({ turns, problem });
    }
  }
  return measured;
}

async function tooLate(problem: string): Promise<never> {
  await delay(sizePatienceMs, undefined, { ref: false });
  throw new Error(problem);
}

async function measureMany(
  peer: PeerProcess,
  store: Store,
  { atOnce: { runs, turns, times } }: Extent,
): Promise<Pick<Numbers, 'turnsPerSecond' | 'workerCpuMs' | 'storeCpuMs'>> {
  await peer.do({ do: 'many', runs, turns: Math.min(turns, 5) });
  const perSecond: number[] = [];
  const worker: number[] = [];
  const storage: number[] = [];
  for (let time = 0; time < times; time++) {
    const before = store.cpuMs();
    const { ms, value } = await peer.do({ do: 'many', runs, turns });
    const after = store.cpuMs();
    perSecond.push((runs * turns * 1000) / (ms[0] ?? Number.NaN));
    worker.push(value / runs / turns);
    if (before !== undefined && after !== undefined) storage.push((after - before) / runs / turns);
  }
  return {
    turnsPerSecond: median(perSecond),
    workerCpuMs: median(worker),
    ...(storage.length === 0 ? {} : { storeCpuMs: median(storage) }),
  };
}

/** A first hundred runs fill the caches. */
async function measureMemory(setup: ChildSetup, { parked, settleMs }: Extent): Promise<number> {
  const peer = new PeerProcess(setup);
  await peer.do({ do: 'park', runs: Math.min(100, parked) });
  await delay(settleMs);
  const { value: before } = await peer.do({ do: 'memory' });
  await peer.do({ do: 'park', runs: parked });
  await delay(settleMs);
  const { value: after } = await peer.do({ do: 'memory' });
  await peer.kill();
  return (after - before) / 1024 / parked;
}
