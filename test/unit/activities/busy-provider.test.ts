import type { LanguageModel } from '../../../activities/models/language-model';
import { failureSaying } from '../../support/failures';
import { agentWith, startRun } from '../../support/memory-bed';

const busy = (headers?: Record<string, string>): Error =>
  Object.assign(new Error('Too many requests.'), { statusCode: 429, ...(headers === undefined ? {} : { responseHeaders: headers }) });

function refusing(times: number, error = busy()): LanguageModel & { asked: number } {
  const model = {
    asked: 0,
    generate: async () => {
      if (++model.asked <= times) throw error;
      return { parts: [{ type: 'text' as const, text: 'Done.' }] };
    },
  };
  return model;
}

const start = (model: LanguageModel) => startRun(agentWith(), model);

it('a run waits on virtual time for a provider that is busy, and is only asleep meanwhile', async () => {
  const model = refusing(1, busy({ 'retry-after': '60' }));
  const run = await start(model);
  expect((await run.outcome()).status).toBe('running');
  await run.advance('59s');
  expect(model.asked).toBe(1);
  await run.advance('2m');
  expect((await run.outcome()).status).toBe('completed');
  const events = [];
  for await (const event of run.events()) events.push(event);
  expect(events.map(({ type }) => type)).toEqual(['run-start', 'model-start', 'model-wait', 'model-end', 'run-end']);
  expect(events[2]).toMatchObject({ times: 1, turnMs: 0, busyMs: expect.any(Number) as number, address: expect.any(String) as string });
  expect(events.map(({ offset }) => offset)).toEqual([0, 1, 2, 3, 4]);
});

it('a provider that is busy for an hour ends the run, after far more than five calls', async () => {
  const model = refusing(Infinity);
  const run = await start(model);
  await run.outcome();
  await run.advance('59m');
  expect((await run.outcome()).status).toBe('running');
  await run.advance('2m');
  expect(await run.outcome()).toMatchObject(failureSaying('model-busy'));
  expect(model.asked).toBeGreaterThan(50);
});

it('a run that waits for a busy provider can be cancelled', async () => {
  const run = await start(refusing(Infinity));
  await run.outcome();
  await run.cancel();
  expect((await run.outcome()).status).toBe('cancelled');
});

it('an agent with a retry of its own decides about a busy provider itself', async () => {
  const model = refusing(Infinity);
  const run = await startRun(agentWith({ retry: { maxRetries: 1 } }), model);
  await run.outcome();
  await run.advance('1h');
  expect(await run.outcome()).toMatchObject(failureSaying('model-retries-exhausted'));
  expect(model.asked).toBe(2);
});
