import type { Observer } from '../../../contract/observed';
import type { TestBed } from '../../support/test-bed';
import { calls, script, startTestBed, text } from '../../support/test-bed';

const limitMs = 3000;
/** Limit of the loop plus a new thread. On a busy machine a task may fail twice, and the server waits 10 s before the third attempt. */
const mostMs = 15_000;
const rounds = 10;

describe('runs beside one that never pauses', () => {
  let bed: TestBed;
  const made = new Map<string, number>();
  beforeAll(async () => {
    const echo = calls({ name: 'echo', input: { text: 'hello' } });
    const onStart: Observer['onStart'] = ({ runId, id }) => void made.set(`${runId} ${id}`, (made.get(`${runId} ${id}`) ?? 0) + 1);
    bed = await startTestBed(script(echo, echo, echo, text('Done.')), {
      endlessLoopMs: limitMs,
      observers: [{ name: 'count', onStart }],
    });
  });
  afterAll(() => bed.close());

  it('miss a moment and lose nothing, ten times', async () => {
    const usual = Date.now();
    const kept = await Promise.all(Array.from({ length: 3 }, () => bed.client.start('plain', 'Go.')));
    for (const run of kept) expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
    const usualMs = Date.now() - usual;
    for (let round = 0; round < rounds; round++) {
      const loops = await bed.client.start('spinsInHook', round % 2 === 0 ? 'at once' : 'after a sleep');
      const began = Date.now();
      const others = await Promise.all(Array.from({ length: 4 }, () => bed.client.start('plain', 'Go.')));
      for (const run of others) expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
      expect(Date.now() - began - usualMs).toBeLessThan(mostMs);
      expect(await loops.outcome()).toMatchObject({ status: 'stuck' });
      await loops.terminate();
    }
    expect(made.size).toBe(7 * (3 + 4 * rounds));
    expect([...made].filter(([, times]) => times !== 1)).toEqual([]);
  }, 240_000);
});
