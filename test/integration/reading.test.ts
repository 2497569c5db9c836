import { setTimeout } from 'node:timers/promises';
import { z } from 'zod';
import type { GenerateAnswer } from '../../activities/models/models';
import { defineTool } from '../../activities/tools/tools';
import type { HoldfastClient } from '../../client/connect';
import { connect } from '../../client/connect';
import type { Run } from '../../client/run';
import type { Delta } from '../../contract/deltas';
import { isDelta } from '../../contract/deltas';
import type { RunEvent } from '../../contract/events';
import { textOf } from '../../contract/messages/messages';
import { fixtureTools } from '../fixtures/tools';
import { aroundPages } from '../support/around-pages';
import type { Gate } from '../support/gate';
import { gate } from '../support/gate';
import { eventually } from '../support/temporal';
import type { TestBed } from '../support/test-bed';
import { calls, script, startTestBed, testServer, text } from '../support/test-bed';

const refundThenDone = script(calls({ name: 'refund', input: { orderId: '42', amount: 80 } }), text('Done.'));

/** The durable ones. */
async function all(events: AsyncIterable<RunEvent | Delta>): Promise<readonly RunEvent[]> {
  const list = [];
  for await (const event of events) if (!isDelta(event)) list.push(event);
  return list;
}

async function waitingId(run: Run): Promise<string> {
  const outcome = await run.outcome({ timeout: '30s' });
  if (outcome.status !== 'waiting') throw new Error(JSON.stringify(outcome));
  return outcome.interrupts[0]?.id ?? '';
}

describe('the events of a run', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await startTestBed(refundThenDone);
  });
  afterAll(() => bed.close());

  it('come once each, in order, from any offset, while it works and after', async () => {
    const run = await bed.client.start('guarded', 'hello');
    const live = all(run.events());
    await run.approve(await waitingId(run));
    const events = await live;
    expect(events.map(({ offset }) => offset)).toEqual(events.map((_event, position) => position));
    expect(events.at(-1)).toMatchObject({ type: 'run-end', status: 'completed' });
    for (let from = 0; from <= events.length; from++) expect(await all(run.events({ from }))).toEqual(events.slice(from));
  });

  it('end where the run waits, when only that is asked for, and go on from there', async () => {
    const run = await bed.client.start('guarded', 'hello');
    const until = await all(run.events({ until: 'waiting' }));
    expect(until.at(-1)).toMatchObject({ type: 'interrupt-start' });
    expect(await all(run.events({ until: 'waiting' }))).toEqual(until);
    await run.approve(await waitingId(run));
    const rest = await all(run.events({ from: until.length }));
    expect(rest[0]).toMatchObject({ type: 'interrupt-end', offset: until.length });
    expect(await all(run.events())).toEqual([...until, ...rest]);
  });

  it('end for a reader that goes away, and not for another one', async () => {
    const run = await bed.client.start('guarded', 'hello');
    const abort = new AbortController();
    const leaving = all(run.events({ signal: abort.signal }));
    const staying = all(run.events());
    const id = await waitingId(run);
    abort.abort();
    expect((await leaving).some(({ type }) => type === 'run-end')).toBe(false);
    await run.approve(id);
    expect((await staying).at(-1)).toMatchObject({ type: 'run-end' });
  });

  it('go on for all readers when the first of them had a deadline for its calls', async () => {
    const run = await bed.client.start('guarded', 'hello');
    const id = await waitingId(run);
    // The first one has begun to read by then, also on a busy machine.
    const soon = Date.now() + 3_000;
    const first = bed.client.withDeadline(soon, () => all(run.events()));
    const second = all(run.events());
    await setTimeout(soon + 100 - Date.now());
    await run.approve(id);
    expect((await second).at(-1)).toMatchObject({ type: 'run-end' });
    expect(await first).toEqual(await second);
  });

  it('are read from the server once for all readers of a process', async () => {
    let begun = 0;
    const stop = aroundPages(bed.client, (request, ask) => {
      if (request.waitNewEvent && request.nextPageToken === undefined) begun += 1;
      return ask(request);
    });
    const run = await bed.client.start('guarded', 'hello');
    const readers = [1, 2, 3, 4, 5].map(() => all(run.events()));
    await run.approve(await waitingId(run));
    const logs = await Promise.all(readers);
    for (const log of logs) expect(log).toEqual(logs[0]);
    expect(begun).toBe(1);
    stop();
  });
});

describe('with no worker at all', () => {
  let client: HoldfastClient;
  let taskQueue: string;
  const runs: Record<'waiting' | 'ended' | 'failed' | 'answered' | 'cancelled', Run> = {} as never;
  let revived: TestBed | undefined;

  beforeAll(async () => {
    const bed = await startTestBed(refundThenDone);
    taskQueue = bed.taskQueue;
    client = await connect({ server: testServer(), taskQueue });
    for (const name of ['waiting', 'answered', 'cancelled'] as const) {
      runs[name] = await client.start('guarded', name);
      await waitingId(runs[name]);
    }
    runs.ended = await client.start('plain', 'ended');
    runs.failed = await client.start('plain', 'failed', { model: 'nope/model' });
    await Promise.all([runs.ended.outcome(), runs.failed.outcome()]);
    await bed.close();
  });
  afterAll(async () => {
    await client.close();
    await revived?.close();
  });

  it('runs are read and streamed', async () => {
    expect(await runs.waiting.view()).toMatchObject({
      status: 'waiting',
      interrupts: [{ tool: 'refund' }],
      messages: [{ role: 'user' }, { role: 'assistant' }],
    });
    expect(await runs.ended.view()).toMatchObject({ status: 'completed', text: 'Done.' });
    expect(await runs.failed.view()).toMatchObject({ status: 'failed', error: { code: 'model-unknown' } });
    expect((await all(runs.waiting.events({ until: 'waiting' }))).at(-1)).toMatchObject({ type: 'interrupt-start' });
    expect((await all(runs.ended.events())).at(-1)).toMatchObject({ type: 'run-end' });
  });

  it('runs are listed, with all that waits for somebody', async () => {
    await eventually(async () => {
      const listed = new Map((await client.list({ limit: 1000 })).runs.map((run) => [run.id, run]));
      expect(listed.get(runs.waiting.id)).toMatchObject({ agent: 'guarded', status: 'waiting', interrupts: [{ tool: 'refund' }] });
      expect(listed.get(runs.ended.id)).toMatchObject({ agent: 'plain', status: 'completed' });
      expect(listed.get(runs.failed.id)).toMatchObject({ status: 'failed' });
      const waiting = (await client.interrupts({ limit: 1000 })).interrupts.map(({ runId }) => runId);
      expect(waiting).toEqual(expect.arrayContaining([runs.waiting.id, runs.answered.id, runs.cancelled.id]));
      expect(waiting).not.toContain(runs.ended.id);
    });
  });

  it('an answer and a cancel are kept, and taken when a worker comes', async () => {
    const id = (await runs.answered.interrupts())[0]?.id ?? '';
    await expect(runs.answered.resume('other', { type: 'approve' })).rejects.toMatchObject({ code: 'interrupt-unknown' });
    await runs.answered.approve(id, { by: 'ada' });
    await runs.cancelled.cancel();
    revived = await startTestBed(refundThenDone, { taskQueue });
    expect(await runs.answered.outcome({ timeout: '30s' })).toMatchObject({ status: 'completed', text: 'Done.' });
    expect(await all(runs.answered.events())).toContainEqual(
      expect.objectContaining({ type: 'interrupt-end', interruptId: id, by: 'ada' }),
    );
    expect(await runs.cancelled.outcome({ timeout: '30s' })).toEqual({ status: 'cancelled' });
    expect(await runs.waiting.view()).toMatchObject({ status: 'waiting' });
  });
});

describe('a run in which a call goes on beside an approval', () => {
  it('waits as soon as somebody can decide, and can be decided', async () => {
    const slow = gate();
    const echo = defineTool({
      description: 'Takes long.',
      inputSchema: z.object({ text: z.string() }),
      execute: ({ text: said }) => slow.pass().then(() => said),
    });
    const both = calls({ name: 'refund', input: { orderId: '42', amount: 80 } }, { name: 'echo', input: { text: 'slow' } });
    const bed = await startTestBed(script(both, text('Done.')), { tools: { ...fixtureTools, echo } });
    const run = await bed.client.start('guarded', 'hello');
    await slow.reached;
    await run.approve(await waitingId(run));
    slow.open();
    expect(await run.outcome({ timeout: '30s' })).toMatchObject({ status: 'completed', text: 'Done.' });
    await bed.close();
  });
});

describe('cancelling a run', () => {
  let bed: TestBed;
  let held: Gate;
  let aborted: Gate;
  let signalled: string[];

  /** Stays until it is told to stop, and says so. */
  async function untilAborted(name: string, signal: AbortSignal): Promise<never> {
    void held.pass();
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    signalled.push(name);
    void aborted.pass();
    throw signal.reason;
  }

  const tools = {
    ...fixtureTools,
    echo: defineTool({
      description: 'Takes long.',
      inputSchema: z.object({ text: z.string() }),
      execute: ({ text: said }, { signal }) => untilAborted(said, signal),
    }),
    pay: defineTool({
      description: 'Takes long.',
      inputSchema: z.object({ amount: z.number() }),
      effect: 'once',
      execute: (_input, { signal }) => untilAborted('pay', signal),
    }),
  };

  beforeAll(async () => {
    bed = await startTestBed(
      async ({ messages, signal }): Promise<GenerateAnswer> => {
        const asked = textOf(messages[0] as Parameters<typeof textOf>[0]);
        if (asked === 'model') return untilAborted('model', signal);
        if (asked === 'pay') return calls({ name: 'pay', input: { amount: 1 } });
        return calls({ name: 'echo', input: { text: 'one' } }, { name: 'echo', input: { text: 'two' } });
      },
      { tools },
    );
  });
  afterAll(() => bed.close());
  beforeEach(() => {
    [held, aborted, signalled] = [gate(), gate(), []];
  });

  it.each(['model', 'tools', 'pay'])('tells the call that runs to stop: %s', async (asked) => {
    const run = await bed.client.start('plain', asked);
    await held.reached;
    await run.cancel();
    expect(await run.outcome({ timeout: '30s' })).toEqual({ status: 'cancelled' });
    await aborted.reached;
    if (asked === 'tools') await eventually(async () => expect([...signalled].sort()).toEqual(['one', 'two']));
    else expect(signalled).toEqual([asked]);
    expect((await all(run.events())).at(-1)).toMatchObject({ type: 'run-end', status: 'cancelled' });
    await expect(run.cancel()).rejects.toMatchObject({ code: 'run-ended' });
  });

  it('ends one that waits for somebody, who then answers too late', async () => {
    const waiting = await startTestBed(refundThenDone);
    const run = await waiting.client.start('guarded', 'hello');
    const id = await waitingId(run);
    await run.cancel();
    expect(await run.outcome({ timeout: '30s' })).toEqual({ status: 'cancelled' });
    expect(await run.interrupts()).toEqual([]);
    await expect(run.approve(id)).rejects.toMatchObject({ code: 'run-ended' });
    await waiting.close();
  });
});
