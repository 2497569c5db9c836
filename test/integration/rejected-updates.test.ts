import { Random } from '../parity/random';
import { openTemporal } from '../support/temporal';
import { fixtureBundle, startTestBed } from '../support/test-bed';
import { Rounds, refunds } from '../updates/rounds';

/** `npm run rejected-updates` plays thousands. */
const rounds = 200;

it('updates that a run refuses beside signals fail no workflow task, and each has its word and its end in the history', async () => {
  const [temporal, bed] = await Promise.all([openTemporal(), startTestBed(refunds)]);
  const played = await new Rounds(bed.client, temporal, new Random(String(Date.now())), rounds).play(6, fixtureBundle());
  await bed.close();
  await temporal.close();
  expect(played.failures).toEqual([]);
  const { taken = 0, ...refused } = played.told;
  expect(Object.keys(refused).sort()).toEqual(['answer-invalid', 'answer-stale', 'interrupt-unknown']);
  expect(taken).toBeGreaterThan(0);
  // The validator refuses none, because the server drops a workflow task that contains only a refused update.
  expect(played.recorded).toBe(Object.values(refused).reduce((sum, count) => sum + count, 0));
});
