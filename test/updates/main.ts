/**
 * `npm run rejected-updates -- 5000` plays 5000 rounds of refused updates, answers and signals at the same moment; `… 5000 4711` uses the
 * seed 4711.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleAgents } from '../../worker/bundle/bundle';
import { Random } from '../parity/random';
import { onOwnServer, runProgram } from '../support/own-server';
import { startTestBed } from '../support/test-bed';
import { Rounds, refunds } from './rounds';

const runsAtOnce = 10;

const main = (given: readonly string[]): Promise<number> =>
  onOwnServer('updates', {}, async ({ directory, temporal }) => {
    const count = Number(given[0] ?? 5000);
    const seed = given[1] ?? String(Date.now() % 1_000_000);
    const bundle = await bundleAgents(join(__dirname, '..', 'fixtures', 'agents.js'));
    writeFileSync(join(directory, 'fixture-bundle.json'), JSON.stringify(bundle));
    const bed = await startTestBed(refunds);
    try {
      const began = Date.now();
      const { rounds, runs, told, recorded, failures } = await new Rounds(bed.client, temporal, new Random(seed), count).play(
        runsAtOnce,
        bundle,
      );
      for (const failure of failures) console.log(failure);
      const wrong = Object.keys(told).filter((said) => said.includes('in place of'));
      console.log(`seed ${seed}, told: ${JSON.stringify(told)}, refused in histories: ${recorded}`);
      const seconds = Math.round((Date.now() - began) / 1000);
      console.log(`${rounds} rounds on ${runs} runs, ${failures.length} failed workflow tasks or replays, ${seconds} s`);
      return failures.length + wrong.length === 0 ? 0 : 1;
    } finally {
      await bed.close();
    }
  });

runProgram(() => main(process.argv.slice(2)));
