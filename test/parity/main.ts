/**
 * `node dist/test/parity/main.js 300` plays 300 scripts of a new seed in memory and on a server; `… 300 4711` uses the seed 4711, and `…
 * 4711/17 4711/20` plays two scripts. A differing script belongs into seeds.ts.
 */
import { onOwnServer, promptServer, runProgram } from '../support/own-server';
import { comparable } from './comparable';
import { Stage } from './contest';
import { openParityBeds } from './bed';

const main = (given: readonly string[]): Promise<number> =>
  onOwnServer('parity', promptServer, async ({ temporal }) => {
    const beds = await openParityBeds();
    try {
      const single = given.filter((one) => one.includes('/'));
      const seed = given[1] ?? String(Date.now() % 1_000_000);
      const names = single.length > 0 ? single : Array.from({ length: Number(given[0] ?? 300) }, (_, number) => `${seed}/${number}`);
      const stage = new Stage(beds, temporal, 'main');
      const { wrong, broken } = await stage.playAll(names, (line) => console.log(line));
      for (const one of wrong.slice(0, process.env['HOLDFAST_SHRINK'] === undefined ? 0 : 3)) {
        const simplest = await stage.simplest(one);
        console.log(`parity: ${one.memory.script.name}, as simple as it was found: ${JSON.stringify(simplest)}`);
      }
      if (process.env['HOLDFAST_SHOW'] !== undefined)
        for (const { memory, server: there } of wrong) {
          const [here, other] = [comparable(memory), comparable(there)];
          console.log(JSON.stringify(memory.script));
          for (let line = 0; line < Math.max(here.length, other.length); line++)
            if (here[line] !== other[line]) console.log(`- ${here[line]?.slice(0, 1500)}\n+ ${other[line]?.slice(0, 1500)}`);
        }
      return wrong.length + broken.length === 0 ? 0 : 1;
    } finally {
      await beds.close();
    }
  });

runProgram(() => main(process.argv.slice(2)));
