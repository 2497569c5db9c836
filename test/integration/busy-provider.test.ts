import { startRatedProvider } from '../support/limited-provider';
import type { TestBed } from '../support/test-bed';
import { startTestBed } from '../support/test-bed';

const perSecond = 5;
const calls = 100;

it('100 runs of two workers come back to a provider when it says so, and not before', async () => {
  const provider = await startRatedProvider(perSecond);
  const beds: TestBed[] = [];
  try {
    const options = { environment: provider.environment };
    beds.push(await startTestBed(() => ({ parts: [] }), options));
    const [{ client, taskQueue }] = beds as [TestBed];
    beds.push(await startTestBed(() => ({ parts: [] }), { ...options, taskQueue }));
    const model = 'openai-compatible/any';
    const runs = await Promise.all(Array.from({ length: calls }, (_, n) => client.start('plain', `Hi ${n}`, { model })));
    const outcomes = await Promise.all(runs.map((run) => run.outcome()));
    expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(['completed']));
    expect(provider.refused).toBeGreaterThan(0);
    expect(provider.soonestAgainMs).toBeGreaterThanOrEqual(1000);
    const ratio = provider.tookMs / (1000 * (calls / perSecond));
    process.stderr.write(
      `${calls} calls took ${ratio.toFixed(2)} of the time that the limit makes necessary, with ${provider.refused} refusals.\n`,
    );
  } finally {
    for (const bed of beds) await bed.close();
    await provider.close();
  }
});
