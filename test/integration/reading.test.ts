import { setTimeout } from 'node:timers/promises';
import { z } from 'zod';
import type { GenerateAnswer } from '../../activities/models/language-model';
import { defineTool } from '../../activities/tools/tools';
import type { Run } from '../../client/runs/run';
import type { Delta } from '../../contract/deltas';
import { isDelta } from '../../contract/deltas';
import type { RunEvent } from '../../contract/events';
import { textOf } from '../../contract/messages/messages';
import { fixtureTools } from '../fixtures/tools';
import { allOf } from '../support/all-of';
import { aroundPages } from '../support/around-pages';
import type { Gate } from '../support/gate';
import { gate } from '../support/gate';
import { sharedBed } from '../support/shared-bed';
import { eventually } from '../support/temporal';
import { calls, script, text } from '../support/test-bed';

let slow: Gate;
let held: Gate;
let aborted: Gate;
let signalled: string[];
beforeEach(() => {
  [slow, held, aborted, signalled] = [gate(), gate(), gate(), []];
});

async function untilAborted(name: string, signal: AbortSignal): Promise<never> {
  void held.pass();
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  signalled.push(name);
  void aborted.pass();
  throw signal.reason;
}

const description = 'Takes long.';
const bed = sharedBed({
  tools: {
    ...fixtureTools,
    echo: defineTool({
      description,
      inputSchema: z.object({ text: z.string() }),
      execute: ({ text: said }, { signal }) => (said === 'slow' ? slow.pass().then(() => said) : untilAborted(said, signal)),
    }),
    pay: defineTool({
      description,
      inputSchema: z.object({ amount: z.number() }),
      effect: 'once',
      execute: (_input, { signal }) => untilAborted('pay', signal),
    }),
  },
});
const model = bed.scripted(script(calls({ name: 'refund', input: { orderId: '42', amount: 80 } }), text('Done.')));

const all = async (events: AsyncIterable<RunEvent | Delta>): Promise<readonly RunEvent[]> =>
  (await allOf(events)).filter((event) => !isDelta(event));

async function waitingId(run: Run): Promise<string> {
  const outcome = await run.outcome();
  if (outcome.status !== 'waiting') throw new Error(JSON.stringify(outcome));
  return outcome.interrupts[0]?.id ?? '';
}

describe('the events of a run', () => {
  it('come once each, in order, from any offset, while it works and after', async () => {
    const run = await model.start('guarded', 'hello');
    const live = all(run.events());
    await run.approve(await waitingId(run));
    const events = await live;
    expect(events.map(({ offset }) => offset)).toEqual(events.map((_event, position) => position));
    expect(events.at(-1)).toMatchObject({ type: 'run-end', status: 'completed' });
    for (let from = 0; from <= events.length; from++) expect(await all(run.events({ from }))).toEqual(events.slice(from));
  });

  it('end where the run waits, when only that is asked for, and go on from there', async () => {
    const run = await model.start('guarded', 'hello');
    const until = await all(run.events({ until: 'waiting' }));
    expect(until.at(-1)).toMatchObject({ type: 'interrupt-start' });
    expect(await all(run.events({ until: 'waiting' }))).toEqual(until);
    await run.approve(await waitingId(run));
    const rest = await all(run.events({ from: until.length }));
    expect(rest[0]).toMatchObject({ type: 'interrupt-end', offset: until.length });
    expect(await all(run.events())).toEqual([...until, ...rest]);
  });

  it('go on for all readers when the first of them had a deadline for its calls', async () => {
    const run = await model.start('guarded', 'hello');
    const id = await waitingId(run);
    // Even on a busy machine, the first reader has begun by then.
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
    const run = await model.start('guarded', 'hello');
    const readers = [1, 2, 3, 4, 5].map(() => all(run.events()));
    await run.approve(await waitingId(run));
    const logs = await Promise.all(readers);
    for (const log of logs) expect(log).toEqual(logs[0]);
    expect(begun).toBe(1);
    stop();
  });
});

describe('with no worker at all', () => {
  const runs: Record<'waiting' | 'ended' | 'failed' | 'answered' | 'cancelled', Run> = {} as never;

  beforeAll(async () => {
    for (const name of ['waiting', 'answered', 'cancelled'] as const) {
      runs[name] = await model.start('guarded', name);
      await waitingId(runs[name]);
    }
    runs.ended = await model.start('plain', 'ended');
    runs.failed = await model.start('plain', 'failed', { model: 'nope/model' });
    await Promise.all([runs.ended.outcome(), runs.failed.outcome()]);
    await bed.stopWorker();
  });
  afterAll(() => bed.startWorker());

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
      const listed = new Map((await bed.client.list({ limit: 1000 })).runs.map((run) => [run.id, run]));
      expect(listed.get(runs.waiting.id)).toMatchObject({ agent: 'guarded', status: 'waiting', interrupts: [{ tool: 'refund' }] });
      expect(listed.get(runs.ended.id)).toMatchObject({ agent: 'plain', status: 'completed' });
      expect(listed.get(runs.failed.id)).toMatchObject({ status: 'failed' });
      const waiting = (await bed.client.interrupts({ limit: 1000 })).interrupts.map(({ runId }) => runId);
      expect(waiting).toEqual(expect.arrayContaining([runs.waiting.id, runs.answered.id, runs.cancelled.id]));
      expect(waiting).not.toContain(runs.ended.id);
    });
  });

  it('an answer and a cancel are kept, and taken when a worker comes', async () => {
    const id = (await runs.answered.interrupts())[0]?.id ?? '';
    await expect(runs.answered.resume('other', { type: 'approve' })).rejects.toMatchObject({ code: 'interrupt-unknown' });
    await runs.answered.approve(id, { by: 'ada' });
    await runs.cancelled.cancel();
    await bed.startWorker();
    expect(await runs.answered.outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
    expect(await all(runs.answered.events())).toContainEqual(
      expect.objectContaining({ type: 'interrupt-end', interruptId: id, by: 'ada' }),
    );
    expect(await runs.cancelled.outcome()).toEqual({ status: 'cancelled' });
    expect(await runs.waiting.view()).toMatchObject({ status: 'waiting' });
  });
});

describe('a run in which a call goes on beside an approval', () => {
  it('waits as soon as somebody can decide, and can be decided', async () => {
    const both = calls({ name: 'refund', input: { orderId: '42', amount: 80 } }, { name: 'echo', input: { text: 'slow' } });
    const run = await bed.scripted(script(both, text('Done.'))).start('guarded', 'hello');
    await slow.reached;
    await run.approve(await waitingId(run));
    slow.open();
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
  });
});

describe('cancelling a run', () => {
  const working = bed.scripted(async ({ messages, signal }): Promise<GenerateAnswer> => {
    const asked = textOf(messages[0] as Parameters<typeof textOf>[0]);
    if (asked === 'model') return untilAborted('model', signal);
    if (asked === 'pay') return calls({ name: 'pay', input: { amount: 1 } });
    return calls({ name: 'echo', input: { text: 'one' } }, { name: 'echo', input: { text: 'two' } });
  });

  it.each(['model', 'tools', 'pay'])('tells the call that runs to stop: %s', async (asked) => {
    const run = await working.start('plain', asked);
    await held.reached;
    await run.cancel();
    expect(await run.outcome()).toEqual({ status: 'cancelled' });
    await aborted.reached;
    if (asked === 'tools') await eventually(async () => expect([...signalled].sort()).toEqual(['one', 'two']));
    else expect(signalled).toEqual([asked]);
    expect((await all(run.events())).at(-1)).toMatchObject({ type: 'run-end', status: 'cancelled' });
    await expect(run.cancel()).rejects.toMatchObject({ code: 'run-ended' });
  });
});
