import { openTemporal } from '../support/temporal';
import type { Temporal } from '../support/temporal';
import type { ParityBeds } from './bed';
import { openParityBeds } from './bed';
import { comparable } from './comparable';
import { Stage } from './contest';

/** `HOLDFAST_SEED=4711` makes all scripts of a seed again, `HOLDFAST_SEED=4711/17` one of them. */
const [seed = '', alone] = (process.env['HOLDFAST_SEED'] ?? String(Date.now() % 1_000_000)).split('/');

/** The test that so many scripts of a seed that is printed come to the same in memory and on a server. */
export function describeRandomScripts(count: number): void {
  const numbers = alone === undefined ? Array.from({ length: count }, (_, number) => String(number)) : [alone];

  describe('random scripts', () => {
    let beds: ParityBeds;
    let temporal: Temporal;
    beforeAll(async () => {
      temporal = await openTemporal();
      beds = await openParityBeds();
    });
    afterAll(async () => {
      await beds.close();
      await temporal.close();
    });

    it('give the same outcome, transcript, events and requests of models in memory and on a server', async () => {
      const stage = new Stage(beds, temporal, seed);
      const say = (line: string): void => void process.stdout.write(`${line}\n`);
      const contest = await stage.playAll(numbers, say);
      expect(contest.broken).toEqual([]);
      const [first] = contest.wrong;
      if (first === undefined) return;
      const simplest = await stage.simplest(first);
      say(`parity: the first one, as simple as it was found: ${JSON.stringify(simplest)}`);
      const { memory, server } = await stage.play(simplest);
      expect(comparable(server)).toEqual(comparable(memory));
      expect(comparable(first.server)).toEqual(comparable(first.memory));
      expect(contest.wrong.map((one) => one.memory.script.name)).toEqual([]);
    }, 300_000);
  });
}
