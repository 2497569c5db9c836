import { rounded } from './report/numbers';
import { connectClient, countOf, named, startServer, startWorker, task } from './setup';

const turns = 60;

export async function benchHerd([given = '60']: readonly string[]): Promise<object> {
  const runs = countOf('herd', given);
  const bench = await startServer();
  const settings = { ...bench, taskQueue: 'herd' };
  const first = await startWorker({ ...settings, holds: true });
  const client = await connectClient(bench, 'herd');
  let held = 0;
  const allHeld = new Promise<void>((resolve) => first.heard.on('held', () => ++held === runs && resolve()));
  const started = await Promise.all(named('herd', runs).map((id) => client.start('worker', task(id, turns), { id })));
  await allHeld;
  await first.kill();
  const killed = performance.now();
  const second = await startWorker(settings);
  await Promise.all(started.map((run) => run.result()));
  const killToLastEndMs = rounded(performance.now() - killed, 0);
  await second.kill();
  await client.close();
  await bench.close();
  return { runs, turns, killToLastEndMs };
}
