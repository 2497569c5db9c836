import { testServer } from '../support/test-bed';
import type { Scenario } from './chaos-bed';
import { chaosOf } from './chaos-bed';
import { killAll } from './child';
import type { PaymentServer } from './payment-server';
import { startPaymentServer } from './payment-server';

/** Tests that a scenario has the same result wherever its worker is killed. `npm run chaos` kills at every event. */
export function itComesToTheSame(title: string, scenarioOf: (payments: PaymentServer) => Scenario, also?: number): void {
  afterAll(killAll);

  it(
    title,
    async () => {
      const payments = await startPaymentServer();
      const chaos = await chaosOf(scenarioOf(payments), testServer(), 3);
      const points = chaos.points.filter((_, index) => index % 12 === 5 || index === also);
      const half = Math.ceil(points.length / 2);
      const kills = await chaos.kill(points.slice(0, half).map((early, index) => [early, ...points.slice(half + index, half + index + 1)]));
      await payments.close();
      expect(kills.flatMap(({ at }) => at)).toHaveLength(points.length);
      expect(kills.flatMap(({ at }) => at)).not.toContain('never');
      expect(kills.filter(({ differences }) => differences.length > 0)).toEqual([]);
    },
    400_000,
  );
}
