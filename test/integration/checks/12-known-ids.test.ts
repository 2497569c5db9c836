import { randomUUID } from 'node:crypto';
import { createApp } from '../../../service/http/app';
import { createLogger } from '../../../host/logger';
import { connect } from '../../../client/connect';
import { scriptedModel, testRun } from '../../../testing';
import { plain } from '../../fixtures/agents';
import { fixtureTools } from '../../fixtures/tools';
import type { TestBed } from '../../support/test-bed';
import { startTestBed, testServer, text } from '../../support/test-bed';

async function all<T>(events: AsyncIterable<T>): Promise<readonly T[]> {
  const list = [];
  for await (const event of events) list.push(event);
  return list;
}

describe('[check 12] what somebody asks of a run that is there', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await startTestBed(() => text('Done.'));
  });
  afterAll(() => bed.close());

  it.concurrent('names the options of a second start that the run does not have', async () => {
    const id = `known-${randomUUID()}`;
    const first = { id, values: { a: 1 }, settings: { temperature: 0 }, tags: ['x'], deadline: '1h', by: 'ada', stream: false };
    const run = await bed.client.start('plain', 'hello', first);
    expect([run.isNew, run.ignored]).toEqual([true, []]);
    await run.result();
    for (const [options, ignored] of [
      [{}, []],
      [first, []],
      [{ values: { a: 1 }, deadline: '60m' }, []],
      [{ ...first, values: { a: 2 } }, ['values']],
      [
        { model: 'test/other', settings: { temperature: 1 }, stream: true, tags: ['y'], options: { tools: [] }, by: 'bob' },
        ['model', 'settings', 'stream', 'tags', 'options', 'by'],
      ],
      [{ deadline: '2h', startDelay: '1s', runPendingToolCalls: true }, ['runPendingToolCalls', 'deadline', 'startDelay']],
      [{ values: {}, options: {}, runPendingToolCalls: false }, ['values']],
    ] as const) {
      const found = await bed.client.start('plain', 'hello', { ...options, id });
      expect([found.isNew, [...found.ignored].sort()]).toEqual([false, [...ignored].sort()]);
    }
  });

  it.concurrent('names them over HTTP, and says nothing where all are the same', async () => {
    const app = createApp({
      agents: [{ name: 'plain', description: 'd', takesJob: false }],
      client: bed.client,
      logger: createLogger({ level: 'silent' }),
    });
    const id = `known-${randomUUID()}`;
    const start = async (body: object) => {
      const response = await app.request('/runs', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ agent: 'plain', input: 'hello', id, ...body }),
      });
      return [response.status, await response.json()];
    };
    expect(await start({ values: { a: 1 } })).toEqual([201, { id, isNew: true, agent: 'plain' }]);
    expect(await start({ values: { a: 1 } })).toEqual([200, { id, isNew: false, agent: 'plain' }]);
    expect(await start({ values: { a: 2 }, tags: ['t'] })).toEqual([
      200,
      { id, isNew: false, agent: 'plain', ignored: ['values', 'tags'] },
    ]);
  });

  it.concurrent('refuses to tell events from an offset that the run has not come to', async () => {
    const run = await bed.client.start('plain', 'hello');
    await run.result();
    const { nextOffset } = await run.view();
    expect(await all(run.events({ from: nextOffset }))).toEqual([]);
    const beyond = {
      code: 'request-invalid',
      message: expect.stringContaining(`the next event of this run has the offset ${nextOffset}`) as string,
    };
    await expect(all(run.events({ from: 999 }))).rejects.toMatchObject(beyond);
    await expect(all(run.events({ from: 999, until: 'waiting' }))).rejects.toMatchObject(beyond);
    const app = createApp({ agents: [], client: bed.client, logger: createLogger({ level: 'silent' }) });
    const answer = await app.request(`/runs/${run.id}/events?from=999`);
    expect([answer.status, await answer.json()]).toMatchObject([400, { error: { code: 'request-invalid' } }]);
    expect((await app.request(`/runs/${run.id}/events?from=${nextOffset}`)).status).toBe(200);
    const inMemory = await testRun(plain, { input: 'hello', model: scriptedModel([{ text: 'Done.' }]), tools: fixtureTools });
    await inMemory.outcome();
    await expect(all(inMemory.events({ from: 999 }))).rejects.toMatchObject({ code: 'request-invalid' });
  });

  it.concurrent('tells a reader what another client knows that came later', async () => {
    const run = await bed.client.start('plain', 'hello');
    const reading = all(run.events());
    await run.result();
    const other = await connect({ server: testServer(), taskQueue: bed.taskQueue });
    const { nextOffset } = await other.run(run.id).view();
    expect((await all(run.events({ from: nextOffset - 1 }))).map(({ type }) => type)).toEqual(['run-end']);
    await reading;
    await other.close();
  });
});
