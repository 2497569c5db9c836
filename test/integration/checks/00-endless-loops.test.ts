import { waysToLoop } from '../../fixtures/looping-agents';
import type { TestBed } from '../../support/test-bed';
import { calls, script, startTestBed, text } from '../../support/test-bed';

describe('[check 0] code that never pauses', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await startTestBed(script(calls({ name: 'echo', input: { text: 'hello' } }), text('Done.')), { endlessLoopMs: 1000 });
  });
  afterAll(() => bed.close());

  // Together, as a run that is stuck tries its task again and again. An abort would end the process of these tests.
  it('leaves its own run stuck, wherever it stands, and the process as it was', async () => {
    const loops = [
      ...Object.keys(waysToLoop).map((way) => ['spinsInHook', way] as const),
      ['spinsBehindCall', 'behind a call'] as const,
      ['spinsByHand', 'in a custom agent'] as const,
    ];
    const stuck = await Promise.all(
      loops.map(async ([agent, input]) => {
        const run = await bed.client.start(agent, input);
        const outcome = await run.outcome({ timeout: '50s' });
        await run.terminate();
        return [input, outcome] as const;
      }),
    );
    expect(stuck).toEqual(loops.map(([, input]) => [input, expect.objectContaining({ status: 'stuck' })]));
    const run = await bed.client.start('plain', 'hello');
    expect(await run.outcome({ timeout: '30s' })).toMatchObject({ status: 'completed', text: 'Done.' });
  });
});
