import type { ParityBeds } from '../parity/bed';
import { openParityBeds } from '../parity/bed';
import { comparable } from '../parity/comparable';
import type { Contest } from '../parity/contest';
import { Stage } from '../parity/contest';
import { kinds, leastShares } from '../parity/shares';
import type { Temporal } from '../support/temporal';
import { openTemporal } from '../support/temporal';

/** `HOLDFAST_SEED=4711` makes all scripts of a seed again, `HOLDFAST_SEED=4711/17` one of them. */
// Of random seeds about one script in 150 still differs by timing; until that is mended, CI plays a hundred scripts that are known.
const isCi = process.env['CI'] !== undefined;
const [seed = '', alone] = (process.env['HOLDFAST_SEED'] ?? (isCi ? '71234' : String(Date.now() % 1_000_000))).split('/');
const numbers = alone === undefined ? Array.from({ length: isCi ? 100 : 120 }, (_, number) => String(number)) : [alone];

describe('random scripts', () => {
  let beds: ParityBeds;
  let temporal: Temporal;
  let contest: Contest;
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
    contest = await stage.playAll(numbers, say);
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

  it('have each kind of thing that can happen often enough', () => {
    if (alone !== undefined) return;
    for (const kind of kinds) expect([kind, Math.max(contest.shares[kind], leastShares[kind])]).toEqual([kind, contest.shares[kind]]);
  });
});
