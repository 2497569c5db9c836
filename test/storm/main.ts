/**
 * `npm run storm` plays 1,000 random scripts on busy cores, with workflow tasks of a second, queries, refused requests, stops of 12 s and
 * kills. Every run must end as in memory, every payment be made once, every history replay. `.holdfast-storm/seeds.jsonl` has a line per
 * seed; the next sitting at the commit continues there.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from '../../client/connect';
import { agentsPath } from '../parity/bed';
import { KilledWorker } from '../parity/killed-worker';
import { madeBundle } from '../support/made-bundle';
import { onOwnServer, promptServer, runProgram } from '../support/own-server';
import type { Temporal } from '../support/temporal';
import { testServer } from '../support/test-bed';
import { commitOf } from './commit';
import { StormRecord } from './record';
import type { StormSettings } from './settings';
import { settingsIn, wordsOf } from './settings';
import { Storm } from './storm';
import { beginGusts, beginLoops } from './weather';

const root = join(__dirname, '..', '..', '..');
/** Most milliseconds before and after a call acts: long enough to be lost now and then. */
const paceMs = 400;

async function main(given: readonly string[]): Promise<number> {
  const settings = settingsIn(given, root);
  const commit = commitOf(root);
  const record = new StormRecord(join(settings.folder, 'seeds.jsonl'), commit, wordsOf(settings.conditions));
  const open = [...record.open(settings.from, settings.seeds)];
  const server = { ...promptServer, 'history.defaultWorkflowTaskTimeout': settings.conditions.taskTimeout };
  if (open.length > 0)
    await onOwnServer('storm', server, ({ directory, temporal }) => sail(settings, commit, record, open, directory, temporal));
  for (const line of record.summary) console.log(line);
  return record.bad.length === 0 && record.open(settings.from, settings.seeds).length === 0 ? 0 : 1;
}

async function sail(
  { conditions, folder, atOnce }: StormSettings,
  commit: string,
  record: StormRecord,
  open: number[],
  directory: string,
  temporal: Temporal,
): Promise<void> {
  const taskQueue = 'storm';
  const bundle = await madeBundle(agentsPath);
  const file = join(directory, 'bundle.json');
  writeFileSync(file, JSON.stringify(bundle));
  const worker = new KilledWorker({
    server: testServer(),
    bundle: file,
    bundles: join(directory, 'bundles'),
    taskQueue,
    paceMs,
    ...(conditions.cache === undefined ? {} : { maxCachedRuns: conditions.cache }),
  });
  const client = await connect({ server: testServer(), taskQueue });
  await worker.replaced();
  const endLoops = conditions.loops ? beginLoops() : (): void => undefined;
  const gusts = beginGusts(worker, `${open[0] ?? 0}`, conditions);
  const folderOf = (seed: number): string => join(folder, 'kept', commit, String(seed));
  const storm = new Storm({ client, worker, temporal, bundle, conditions, folderOf });
  let isLeft = false;
  const leave = (): void => {
    if (isLeft) process.exit(130);
    isLeft = true;
    console.log('storm: the seeds that have begun are played to their end');
  };
  process.on('SIGINT', leave).on('SIGTERM', leave);
  const playRest = async (): Promise<void> => {
    for (let seed = open.shift(); seed !== undefined && !isLeft; seed = open.shift()) {
      const played = await storm.play(seed);
      record.add(played);
      console.log(JSON.stringify(played));
    }
  };
  try {
    await Promise.all(Array.from({ length: atOnce }, playRest));
  } finally {
    endLoops();
    await gusts.end();
    console.log(`storm: ${gusts.stops} stops, ${worker.kills} kills, ${gusts.ended} ends of a worker that nobody killed`);
    await worker.close();
    await client.close();
  }
}

runProgram(() => main(process.argv.slice(2)));
