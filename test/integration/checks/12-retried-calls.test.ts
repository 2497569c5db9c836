import type { TestBed } from '../../support/test-bed';
import { startTestBed, text } from '../../support/test-bed';

describe('[check 12] a call that waits for its next attempt', () => {
  let bed: TestBed;
  let isBusy = true;
  afterAll(() => bed.close());

  it('stands in the view of its run, with why and until when, and no longer after it has succeeded', async () => {
    bed = await startTestBed(() => {
      if (!isBusy) return text('Done.');
      throw Object.assign(new Error('The provider is busy.'), { statusCode: 503, responseHeaders: { 'retry-after': '2' } });
    });
    const run = await bed.client.start('plain', 'Hello.');
    const retrying = async () => (await run.view()).retrying ?? [];
    while ((await retrying()).length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    const [call] = await retrying();
    expect(call).toMatchObject({ address: 'plain/t1/model', attempt: 2, error: { code: expect.stringMatching(/^model-/) } });
    expect(call?.error.message).toContain('The provider is busy.');
    expect(Math.abs((call?.nextAttemptAt ?? 0) - Date.now())).toBeLessThan(10_000);
    isBusy = false;
    expect(await run.result()).toBe('Done.');
    expect(await run.view()).not.toHaveProperty('retrying');
  });
});
