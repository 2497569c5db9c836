import { testServer } from '../support/test-bed';
import { chaosOf } from './chaos-bed';
import { killAll } from './child';
import { startPaymentServer } from './payment-server';
import { refundScenario } from './refund-chaos';

afterAll(killAll);

it('no decision is asked twice or lost, and money goes once, wherever the worker is killed', async () => {
  const payments = await startPaymentServer();
  const chaos = await chaosOf(refundScenario(payments), testServer(), 3);
  // `npm run chaos -- refund` plays a run for each of all events.
  const points = chaos.points.filter((_, index) => index % 12 === 5);
  const half = Math.ceil(points.length / 2);
  const kills = await chaos.kill(points.slice(0, half).map((early, index) => [early, ...points.slice(half + index, half + index + 1)]));
  await payments.close();
  expect(kills.flatMap(({ at }) => at)).toHaveLength(points.length);
  expect(kills.flatMap(({ at }) => at)).not.toContain('never');
  expect(kills.filter(({ differences }) => differences.length > 0)).toEqual([]);
}, 400_000);
