import { testServer } from '../support/test-bed';
import { chaosOf } from './chaos-bed';
import { killAll } from './child';
import { conversationScenario } from './conversation-chaos';
import { startPaymentServer } from './payment-server';

/** The event behind which a message for now stops the model: the worker is lost while it is told. */
const ofNow = 23;

afterAll(killAll);

it('every message counts once, every receipt is true, and money goes once, wherever the worker is killed', async () => {
  const payments = await startPaymentServer();
  const chaos = await chaosOf(conversationScenario(payments), testServer(), 3);
  // `npm run chaos -- conversation` plays a run for each of all events.
  const points = chaos.points.filter((_, index) => index % 12 === 5 || index === ofNow);
  const half = Math.ceil(points.length / 2);
  const kills = await chaos.kill(points.slice(0, half).map((early, index) => [early, ...points.slice(half + index, half + index + 1)]));
  await payments.close();
  expect(kills.flatMap(({ at }) => at)).toHaveLength(points.length);
  expect(kills.flatMap(({ at }) => at)).not.toContain('never');
  expect(kills.filter(({ differences }) => differences.length > 0)).toEqual([]);
}, 400_000);
