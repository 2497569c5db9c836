import { openTemporal } from '../support/temporal';
import type { Temporal } from '../support/temporal';
import type { ParityBeds } from './bed';
import { openParityBeds } from './bed';
import { comparable } from './comparable';
import { Stage } from './contest';

/** `stage` begins the ids of the runs: on a cluster, files share a server. */
export function describeScripts(stage: string, names: readonly string[]): void {
  describe('scripts of answers, results, errors and decisions', () => {
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
      const playing = new Stage(beds, temporal, stage);
      const say = (line: string): void => void process.stdout.write(`${line}\n`);
      const contest = await playing.playAll(names, say);
      expect(contest.broken).toEqual([]);
      expect(contest.missed).toEqual([]);
      const [first] = contest.wrong;
      if (first === undefined) return;
      const simplest = await playing.simplest(first);
      say(`parity: the first one, as simple as it was found: ${JSON.stringify(simplest)}`);
      expect(comparable(first.server)).toEqual(comparable(first.memory));
      expect(contest.wrong.map((one) => one.memory.script.name)).toEqual([]);
    });
  });
}
