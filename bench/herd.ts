import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { connect } from '../client/connect';
import type { BenchBed } from './setup';
import { rounded, startServer } from './setup';

const runs = 60;
const turns = 60;

interface Report {
  readonly ready?: boolean;
  readonly held?: number;
  readonly misses?: { readonly messages: number; readonly lists: number; readonly slowestMs: number };
}

/** Many runs in a model call with many turns behind them; their worker is killed and another one takes over. */
export async function benchHerd(): Promise<object> {
  const bench = await startServer();
  const first = startWorker(bench, 'hold');
  await report(first, ({ ready }) => ready === true);
  const client = await connect({ server: bench.server, taskQueue: 'herd' });
  const allHeld = report(first, ({ held }) => held === runs);
  const started = await Promise.all(
    Array.from({ length: runs }, (_, position) => client.start('worker', 'Work.', { id: `herd-${position}` })),
  );
  await allHeld;
  first.kill('SIGKILL');
  await once(first, 'exit');
  const killed = performance.now();
  const second = startWorker(bench, 'answer');
  await report(second, ({ ready }) => ready === true);
  const ended = await Promise.all(started.map(async (run) => ((await run.result()) === `Done after ${1 + turns * 2} messages.` ? 1 : 0)));
  const allEndedMs = performance.now() - killed;
  const answer = report(second, ({ misses }) => misses !== undefined);
  second.send('report');
  const { misses } = await answer;
  second.kill('SIGKILL');
  await client.close();
  await bench.close();
  return {
    runs,
    turns,
    ended: ended.reduce<number>((sum, one) => sum + one, 0),
    slowestRebuildMs: rounded(misses?.slowestMs ?? -1, 0),
    rebuilds: misses?.lists,
    killToLastEndMs: rounded(allEndedMs, 0),
  };
}

function startWorker({ server, directory }: BenchBed, mode: string): ChildProcess {
  return fork(join(__dirname, 'herd-worker.js'), [server.address, directory, String(turns), mode], { execArgv: [] });
}

function report(child: ChildProcess, wanted: (report: Report) => boolean): Promise<Report> {
  return new Promise((resolve, reject) => {
    const listen = (message: unknown): void => {
      if (!wanted(message as Report)) return;
      child.off('message', listen);
      resolve(message as Report);
    };
    child.on('message', listen);
    child.once('exit', (code) => reject(new Error(`The worker ended with ${code}.`)));
  });
}
