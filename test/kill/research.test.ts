import { testServer } from '../support/test-bed';
import { killAll } from './child';
import { researchChaos } from './research-chaos';

afterAll(killAll);

it('ten agents in parallel come to the same with every effect once, wherever their worker is killed', async () => {
  const chaos = await researchChaos(testServer(), 4);
  const points = chaos.points.filter((_, index) => index % 6 === 3);
  const kills = await chaos.kill(points);
  expect(kills).toHaveLength(points.length);
  expect(kills.filter(({ differences }) => differences.length > 0)).toEqual([]);
}, 240_000);
