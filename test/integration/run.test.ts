import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { defineTool } from '../../activities/tools/tools';
import { connect } from '../../client/connect';
import type { ModelRunCall } from '../../contract/calls';
import type { RunEvent } from '../../contract/events';
import { createLogger } from '../../host/logger';
import { ServiceClient } from '../../client/http/index';
import { createApp } from '../../service/http/app';
import { scriptedModel, testRun } from '../../testing';
import { plain } from '../fixtures/agents';
import { fixtureTools } from '../fixtures/tools';
import { allOf } from '../support/all-of';
import { english } from '../support/english';
import { logOf } from '../support/server-logs';
import { sharedBed } from '../support/shared-bed';
import { calls, script, testServer, text } from '../support/test-bed';

/** Half of a UTF-16 pair, as a model may send. In a short protobuf text, the half would end the process. */
const half = '\ud800';
const logger = createLogger({ level: 'silent' });

const bed = sharedBed({
  tools: {
    ...fixtureTools,
    echo: defineTool({
      description: 'Says it again, but fails with half a character.',
      inputSchema: z.object({ text: z.string() }),
      retry: { attempts: 2 },
      execute: ({ text: said }): string => {
        if (said === half) throw new Error(said);
        return said;
      },
    }),
  },
});
const done = bed.scripted(() => text('Done.'));

describe('what somebody asks of a run that is there', () => {
  it.concurrent('names the options of a second start that the run does not have', async () => {
    const id = `known-${randomUUID()}`;
    const first = { id, values: { a: 1 }, settings: { temperature: 0 }, tags: ['x'], deadline: '1h', by: 'ada', stream: false };
    const run = await done.start('plain', 'hello', { ...first });
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
      const found = await done.start('plain', 'hello', { ...options, id });
      expect([found.isNew, [...found.ignored].sort()]).toEqual([false, [...ignored].sort()]);
    }
  });

  it.concurrent('refuses to tell events from an offset that the run has not come to', async () => {
    const run = await done.start('plain', 'hello');
    await run.result();
    const { nextOffset } = await run.view();
    expect(await allOf(run.events({ from: nextOffset }))).toEqual([]);
    const beyond = {
      code: 'request-invalid',
      message: expect.stringContaining(`the next event of this run has the offset ${nextOffset}`) as string,
    };
    await expect(allOf(run.events({ from: 999 }))).rejects.toMatchObject(beyond);
    await expect(allOf(run.events({ from: 999, until: 'waiting' }))).rejects.toMatchObject(beyond);
    const app = createApp({ agents: [], client: bed.client, logger });
    const answer = await app.request(`/runs/${run.id}/events?from=999`);
    expect([answer.status, await answer.json()]).toMatchObject([400, { error: { code: 'request-invalid' } }]);
    expect((await app.request(`/runs/${run.id}/events?from=${nextOffset}`)).status).toBe(200);
    const inMemory = await testRun(plain, { input: 'hello', model: scriptedModel([{ text: 'Done.' }]), tools: fixtureTools });
    await inMemory.outcome();
    await expect(allOf(inMemory.events({ from: 999 }))).rejects.toMatchObject({ code: 'request-invalid' });
  });

  it.concurrent('tells a reader what another client knows that came later', async () => {
    const run = await done.start('plain', 'hello');
    const reading = allOf(run.events());
    await run.result();
    const other = await connect({ server: testServer(), taskQueue: bed.taskQueue });
    const { nextOffset } = await other.run(run.id).view();
    expect((await allOf(run.events({ from: nextOffset - 1 }))).map(({ type }) => type)).toEqual(['run-end']);
    await reading;
    await other.close();
  });
});

describe('a call that waits for its next attempt', () => {
  it('stands in the view of its run, with why and until when, and no longer after it has succeeded', async () => {
    let isBusy = true;
    const model = bed.scripted(() => {
      if (!isBusy) return text('Done.');
      throw Object.assign(new Error('The provider is busy.'), { statusCode: 503, responseHeaders: { 'retry-after': '2' } });
    });
    const run = await model.start('plain', 'Hello.');
    const retrying = async () => (await run.view()).retrying ?? [];
    while ((await retrying()).length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    const [call] = await retrying();
    expect(call).toMatchObject({ address: 'plain/t1/model', attempt: 2, error: { code: expect.stringMatching(/^model-/) } });
    expect(call?.error.message).toContain('The provider is busy.');
    expect(Math.abs((call?.nextAttemptAt ?? 0) - Date.now())).toBeLessThan(120_000);
    isBusy = false;
    expect(await run.result()).toBe('Done.');
    expect(await run.view()).not.toHaveProperty('retrying');
  });
});

describe('half a character in the text of an error', () => {
  const model = bed.scripted((request) => {
    const last = request.messages.at(-1);
    if (JSON.stringify(last).includes('the model fails')) throw new Error(half);
    return script(calls({ name: 'echo', input: { text: half } }), text('Done.'))(request);
  });

  it('of a tool goes back to the model', async () => {
    const run = await model.start('plain', 'hello');
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
  });

  it('of a model ends the run with its code, and so does the reason of a person', async () => {
    const run = await model.start('plain', 'the model fails');
    expect(await run.outcome()).toMatchObject({ status: 'failed', error: { code: 'model-failed' } });
    const other = await model.start('plain', 'hello', { startDelay: '1h' });
    await other.terminate(half);
    expect(await other.outcome()).toMatchObject({ status: 'failed', error: { code: 'run-terminated' } });
  });

  it('of a run leaves its worker at work', async () => {
    const run = await model.start('strict', 'hello');
    expect(await run.outcome()).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('\ufffd') as string },
    });
    const next = await model.start('plain', 'hello');
    expect(await next.outcome()).toMatchObject({ status: 'completed' });
  });
});

describe('the calls of a run on a real server', () => {
  const said = english(2000);
  let broken = 1;
  let service: ServiceClient;
  const model = bed.scripted(({ instructions, messages }) => {
    if (instructions.includes('pays')) return text('I am pays.');
    const turn = messages.filter(({ role }) => role === 'assistant').length;
    if (turn === 0) return calls({ name: 'refund', input: { orderId: '42', amount: 80 } });
    if (turn === 1) return calls({ name: 'echo', input: { text: said } });
    if (broken-- > 0) throw Object.assign(new Error('too many'), { isRetryable: true });
    return text('Done.');
  });
  beforeAll(() => {
    const app = createApp({ client: bed.client, agents: [], logger });
    service = new ServiceClient('http://127.0.0.1', { fetch: async (input, init) => app.request(input, init) });
  });

  const started = async (id: string): Promise<readonly RunEvent[]> => {
    return (await logOf(bed.client.run(id))).filter(({ type }) => type === 'model-start' || type === 'tool-start');
  };

  it('are read over HTTP, over a continue-as-new, compressed, with the attempts that failed', async () => {
    const run = await model.start('guarded', 'Refund 42.');
    const { interrupts } = (await run.outcome()) as { interrupts: readonly { id: string }[] };
    const before = await bed.temporal.goOnAsNew(run.id);
    await run.approve(interrupts[0]?.id ?? '');
    expect(await run.result()).toBe('Done.');
    expect(await service.executions(run.id)).toMatchObject({
      executions: [{ began: 'started', temporalRunId: before }, { began: 'continued' }],
      more: false,
    });
    const [first, refund, second, echo, third] = await Promise.all(
      (await started(run.id)).map((event) => service.call(run.id, (event as { address: string }).address)),
    );
    expect(first).toMatchObject({
      kind: 'model',
      status: 'completed',
      turn: 1,
      attempts: 1,
      request: { total: 1, instructions: 'You are a test.' },
    });
    expect(first).not.toHaveProperty('diff');
    expect(refund).toMatchObject({
      kind: 'tool',
      tool: 'refund',
      request: { input: { orderId: '42', amount: 80 } },
      response: { outcome: { type: 'done' } },
    });
    expect(second).toMatchObject({
      diff: { address: first?.address, messages: [{ at: 1, removed: [], added: [{ role: 'assistant' }, { role: 'tool' }] }], fields: [] },
    });
    expect(JSON.stringify(echo)).toContain(said);
    expect(third).toMatchObject({
      attempts: 2,
      lastFailure: { message: expect.stringContaining('too many') as string },
      response: { message: { role: 'assistant' } },
    });
    const page = (await service.call(run.id, third?.address ?? '', { limit: 2, before: 3 })) as ModelRunCall;
    expect(page.request).toMatchObject({ from: 1, total: 5 });
    expect(page.request.messages).toHaveLength(2);
  });

  it('of an isolated agent are in its own run', async () => {
    const run = await model.start('refunds', 'Go.');
    await run.outcome();
    const id = `${run.id}~each.pays`;
    const [first] = await started(id);
    expect(await bed.client.run(id).call((first as { address: string }).address)).toMatchObject({
      kind: 'model',
      agent: 'pays',
      status: 'completed',
    });
  });

  it('are refused by a code where the run has none there', async () => {
    const run = await model.start('short', 'Go.');
    await expect(service.call(run.id, 'short/t99/model')).rejects.toMatchObject({ code: 'call-unknown' });
    await expect(service.call('no-such-run', 'short/t1/model')).rejects.toMatchObject({ code: 'run-unknown' });
    await expect(bed.client.run(run.id).call('x', { limit: -1 })).rejects.toMatchObject({ code: 'request-invalid' });
    await run.cancel().catch(() => undefined);
  });
});
