import type { ParityBeds } from '../parity/bed';
import { openParityBeds } from '../parity/bed';
import { comparable } from '../parity/comparable';
import { Stage } from '../parity/contest';
import type { Temporal } from '../support/temporal';
import { openTemporal } from '../support/temporal';

/** `HOLDFAST_SEED=4711` makes all scripts of a seed again, `HOLDFAST_SEED=4711/17` one of them. */
const [seed = '', alone] = (process.env['HOLDFAST_SEED'] ?? String(Date.now() % 1_000_000)).split('/');
/** A cluster on the machine of the tests takes several times as long. */
const count = process.env['HOLDFAST_TEST_CLUSTER'] === undefined ? 100 : 40;
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
