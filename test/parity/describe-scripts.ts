import { openTemporal } from '../support/temporal';
import type { Temporal } from '../support/temporal';
import type { ParityBeds } from './bed';
import { openParityBeds } from './bed';
import { comparable } from './comparable';
import { Stage } from './contest';

export function describeScripts(names: readonly string[]): void {
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
      const stage = new Stage(beds, temporal, 'gate');
      const say = (line: string): void => void process.stdout.write(`${line}\n`);
      const contest = await stage.playAll(names, say);
      expect(contest.broken).toEqual([]);
      expect(contest.missed).toEqual([]);
      const [first] = contest.wrong;
      if (first === undefined) return;
      const simplest = await stage.simplest(first);
      say(`parity: the first one, as simple as it was found: ${JSON.stringify(simplest)}`);
      expect(comparable(first.server)).toEqual(comparable(first.memory));
      expect(contest.wrong.map((one) => one.memory.script.name)).toEqual([]);
    });
  });
}
