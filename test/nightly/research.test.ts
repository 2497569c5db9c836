import { testServer } from '../support/test-bed';
import { killAll } from '../kill/child';
import { chaosOf } from '../kill/chaos-bed';
import { research } from '../kill/research-chaos';

afterAll(killAll);

it('ten agents in parallel come to the same with every effect once, wherever their worker is killed', async () => {
  const chaos = await chaosOf(research, testServer(), 4);
  const points = chaos.points.filter((_, index) => index % 6 === 3).sort((one, other) => one.offset - other.offset);
  // Two in each run, an early one and a late one: `npm run chaos -- research` plays a run for each of all.
  const half = Math.ceil(points.length / 2);
  const kills = await chaos.kill(points.slice(0, half).map((early, index) => [early, ...points.slice(half + index, half + index + 1)]));
  expect(kills.flatMap(({ at }) => at)).toHaveLength(points.length);
  expect(kills.flatMap(({ at }) => at)).not.toContain('never');
  expect(kills.filter(({ differences }) => differences.length > 0)).toEqual([]);
}, 400_000);
