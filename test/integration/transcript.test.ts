import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import type { GenerateAnswer, GenerateRequest } from '../../activities/models/language-model';
import { defineTool } from '../../activities/tools/tools';
import type { Run } from '../../client/runs/run';
import type { RunEvent } from '../../contract/events';
import type { Message } from '../../contract/messages/messages';
import { textOf } from '../../contract/messages/messages';
import { DirectoryDriver, snapshotStorage } from '../../host/snapshot-storage';
import { fixtureTools } from '../fixtures/tools';
import type { Gate } from '../support/gate';
import { gate } from '../support/gate';
import { logOf } from '../support/server-logs';
import type { Scripted } from '../support/shared-bed';
import { sharedBed } from '../support/shared-bed';
import { eventually } from '../support/temporal';
import { calls, startTestBed, text } from '../support/test-bed';

let seen: (readonly Message[])[] = [];
let script: (turn: number) => GenerateAnswer | Promise<GenerateAnswer> = () => text('Done.');
const executed: string[] = [];

function answer({ messages }: GenerateRequest): GenerateAnswer | Promise<GenerateAnswer> {
  seen.push(messages);
  return script(seen.length);
}

const tools = {
  ...fixtureTools,
  lookupOrder: defineTool({
    description: 'Finds something large.',
    inputSchema: z.object({ orderId: z.string() }),
    execute: ({ orderId }) => `${orderId}: ${'x'.repeat(200_000)}`,
  }),
  echo: defineTool({
    description: 'Says it again.',
    inputSchema: z.object({ text: z.string() }),
    execute: ({ text: said }, call) => {
      executed.push(call.idempotencyKey);
      return said;
    },
  }),
};

const echo = (said: string): GenerateAnswer => calls({ name: 'echo', input: { text: said } });
const echoes = (turns: number) => (turn: number) => (turn <= turns ? echo(`turn ${turn}`) : text('Done.'));

function bare(messages: readonly Message[]): readonly unknown[] {
  return messages.map(({ role, parts }) => ({ role, parts }));
}

async function completed(run: Run): Promise<readonly RunEvent[]> {
  expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
  const events = await logOf(run);
  expect(events.map(({ offset }) => offset)).toEqual(events.map((_event, position) => position));
  return events;
}

async function expectGrowing(run: Run): Promise<void> {
  const transcript = bare(await run.transcript());
  seen.forEach((messages, position) => expect(bare(messages)).toEqual(transcript.slice(0, 1 + 2 * position)));
}

function start(at: Pick<Scripted, 'start'>, agent: string, input: string, plan: typeof script, values = {}): Promise<Run> {
  seen = [];
  executed.length = 0;
  script = plan;
  return at.start(agent, input, { values });
}

function stopping(turn: number, at: Gate, plan: typeof script): typeof script {
  return async (now) => {
    if (now === turn) await at.pass();
    return plan(now);
  };
}

const bed = sharedBed({ tools });
const remembering = bed.scripted(answer);
/** A cache of one byte forces every message to be read from the history. */
const forgetting = sharedBed({ tools, messageCacheBytes: 1 }).scripted(answer);

describe.each([
  ['in memory', remembering],
  ['always read from history', forgetting],
])('a transcript %s', (_name, model) => {
  it('is whole in every model call', async () => {
    const run = await start(model, 'signed', 'hello', echoes(4));
    await completed(run);
    expect(seen).toHaveLength(5);
    await expectGrowing(run);
  });

  it('is whole in the second attempt of a model call', async () => {
    let failed = false;
    const run = await start(model, 'signed', 'hello', (turn) => {
      if (turn === 3 && !failed) {
        failed = true;
        throw Object.assign(new Error('overloaded'), { statusCode: 503 });
      }
      return echoes(3)(failed ? turn - 1 : turn);
    });
    await completed(run);
    expect(bare(seen[3] ?? [])).toEqual(bare(seen[2] ?? []));
    seen.splice(3, 1);
    await expectGrowing(run);
  });

  it('is what hooks made of it: a first message rewritten, some dropped, one inserted', async () => {
    const run = await start(model, 'rewrites', 'hello', echoes(4), { edits: { 2: 'rewrite first', 3: 'drop middle', 4: 'insert' } });
    await completed(run);
    const user = (said: string): unknown => ({ role: 'user', parts: [{ type: 'text', text: said }] });
    const turn = (number: number): readonly unknown[] => [
      { role: 'assistant', parts: echo(`turn ${number}`).parts },
      { role: 'tool', parts: [{ type: 'tool-result', callId: 'call-0', name: 'echo', output: `turn ${number}` }] },
    ];
    const rewritten = user('Rewritten.');
    expect(seen.map(bare)).toEqual([
      [user('hello')],
      [rewritten, ...turn(1)],
      [rewritten, ...turn(2)],
      [rewritten, user('Inserted.'), ...turn(2), ...turn(3)],
      [rewritten, user('Inserted.'), ...turn(2), ...turn(3), ...turn(4)],
    ]);
    expect(bare(await run.transcript())).toEqual([...bare(seen[4] ?? []), { role: 'assistant', parts: [{ type: 'text', text: 'Done.' }] }]);
  });

  it('goes on as new at an iteration checkpoint', async () => {
    const held = gate();
    const run = await start(model, 'signed', 'hello', stopping(3, held, echoes(5)));
    await held.reached;
    const execution = await bed.temporal.executionOf(run.id);
    await bed.temporal.handle(run.id).signal('continue-as-new');
    held.open();
    const events = await completed(run);
    expect(await bed.temporal.executionOf(run.id)).not.toBe(execution);
    await expectGrowing(run);
    expect(executed).toHaveLength(5);
    expect(new Set(executed).size).toBe(5);
    expect(events.filter(({ type }) => type === 'model-end')).toHaveLength(6);
    expect(await logOf(run, { from: 7 })).toEqual(events.slice(7));
  });

  it('goes on as new while an approval waits, and the approval waits on', async () => {
    const both = calls({ name: 'echo', input: { text: 'beside' } }, { name: 'refund', input: { orderId: '42', amount: 80 } });
    const run = await start(model, 'mixed', 'hello', (turn) => (turn === 1 ? echo('before') : turn === 2 ? both : text('Done.')));
    const before = await run.outcome();
    if (before.status !== 'waiting') throw new Error(JSON.stringify(before));
    for (let round = 0; round < 2; round++) await bed.temporal.goOnAsNew(run.id);
    expect((await run.view()).interrupts).toEqual(before.interrupts);
    await eventually(async () => {
      expect((await bed.client.interrupts()).interrupts.filter(({ runId }) => runId === run.id)).toEqual([
        { runId: run.id, agent: 'mixed', tags: [], waitingSince: expect.stringMatching(/^20.*Z$/), interrupt: before.interrupts[0] },
      ]);
    });
    await run.approve(before.interrupts[0]?.id ?? '', { by: 'ada' });
    const events = await completed(run);
    expect(events.map(({ type }) => type)).toEqual([
      ...['run-start', 'model-start', 'model-end', 'tool-start', 'tool-end', 'model-start', 'model-end'],
      ...events.slice(7, -4).map(({ type }) => type),
      ...['tool-end', 'model-start', 'model-end', 'run-end'],
    ]);
    expect(events.filter(({ type }) => type === 'interrupt-start')).toHaveLength(1);
    expect(events.filter(({ type }) => type === 'interrupt-end')).toHaveLength(1);
    expect(executed).toHaveLength(2);
    expect(seen).toHaveLength(3);
    expect((await run.transcript()).slice(4, 6).map(({ parts }) => parts[0])).toMatchObject([
      { name: 'echo', output: 'beside' },
      { name: 'refund', output: { paid: 80 } },
    ]);
  });

  it('is right when an operator resets the run, and so are the keys of its effects', async () => {
    const run = await start(model, 'signed', 'hello', (turn) => echoes(4)(((turn - 1) % 5) + 1));
    await completed(run);
    const [first, keys] = [seen, [...executed]];
    const { events } = await bed.temporal.handle(run.id).fetchHistory();
    const models = (events ?? []).filter(
      ({ activityTaskScheduledEventAttributes: scheduled }) => scheduled?.activityType?.name === 'callModel',
    );
    await start(model, 'signed', 'another', () => text('Done.')).then(completed);
    seen = [];
    executed.length = 0;
    script = (turn) => echoes(4)(turn + 2);
    await bed.temporal.connection.workflowService.resetWorkflowExecution({
      namespace: 'default',
      workflowExecution: { workflowId: `default/${run.id}`, runId: await bed.temporal.executionOf(run.id) },
      reason: 'test',
      requestId: `reset-${run.id}`,
      workflowTaskFinishEventId: models[2]?.activityTaskScheduledEventAttributes?.workflowTaskCompletedEventId ?? null,
    });
    await completed(run);
    expect(seen.map(bare)).toEqual(first.slice(2).map(bare));
    expect(executed).toEqual(keys.slice(2));
  });
});

describe('a transcript on two workers', () => {
  it('is whole when the first worker stops in the middle and a second one goes on', async () => {
    const held = gate();
    const first = await startTestBed(answer, { tools, shutdownGraceMs: 20_000 });
    const run = await start(first.client, 'signed', 'hello', stopping(3, held, echoes(5)));
    await held.reached;
    const second = await startTestBed(answer, { tools, taskQueue: first.taskQueue });
    const stopped = first.close();
    held.open();
    await stopped;
    await completed(second.client.run(run.id));
    expect(seen).toHaveLength(6);
    await expectGrowing(second.client.run(run.id));
    expect(second.worker.parts.messages.misses.lists).toBeGreaterThan(0);
    await second.close();
  });

  it('is whole when two workers share the turns', async () => {
    const second = await startTestBed(answer, { tools, taskQueue: bed.taskQueue });
    const run = await start(remembering, 'signed', 'hello', echoes(12));
    await completed(run);
    expect(seen).toHaveLength(13);
    await expectGrowing(run);
    await second.close();
  });
});

describe('the history of a run', () => {
  it('grows by the same for every turn', async () => {
    const sizes: number[] = [];
    for (const turns of [10, 20, 30, 40]) {
      const run = await start(remembering, 'signed', 'hello', (turn) => (turn <= turns ? echo('x'.repeat(1000)) : text('Done.')));
      await completed(run);
      sizes.push(Number((await bed.temporal.handle(run.id).describe()).historySize));
    }
    const [ten = 0, twenty = 0, thirty = 0, forty = 0] = sizes;
    expect((forty - thirty) / (twenty - ten)).toBeLessThan(1.1);
    expect((forty - thirty) / 10).toBeLessThan(8000);
  });

  const orders = (turns: number) => (turn: number) =>
    turn <= turns ? calls({ name: 'lookupOrder', input: { orderId: String(turn) } }) : text('Done.');

  async function overBorder(at: Pick<Scripted, 'start'>, turns: number): Promise<Run> {
    const held = gate();
    const run = await start(at, 'signed', 'hello', stopping(turns, held, orders(turns)));
    await held.reached;
    await bed.temporal.handle(run.id).signal('continue-as-new');
    held.open();
    return run;
  }

  it('holds a snapshot of up to 1.5 MB itself', async () => {
    const run = await overBorder(remembering, 6);
    await completed(run);
    await expectGrowing(run);
  });

  it('ends a run with transcript-too-large beyond that', async () => {
    const run = await overBorder(remembering, 9);
    expect(await run.outcome()).toMatchObject({ status: 'failed', error: { code: 'transcript-too-large' } });
  });

  it('holds a reference only when there is external storage', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'holdfast-storage-'));
    const dataConverter = snapshotStorage(new DirectoryDriver(directory));
    const stored = await startTestBed(answer, { tools, dataConverter });
    const run = await overBorder(stored.client, 12);
    await completed(run);
    await expectGrowing(run);
    expect(readdirSync(directory)).toHaveLength(1);
    const { historySize } = await bed.temporal.handle(run.id).describe();
    expect(historySize).toBeLessThan(1_000_000);
    await stored.close();
  });
});

describe('what an agent returned without having said it', () => {
  it.each([
    ['returned', 1, ['For context: [one] said: one is gone.']],
    ['inLoop', 3, ['For context: [two] said: two is gone.']],
    ['behindLanes', 1, ['For context: [three] said: three is gone.', 'For context: [four] said: four is gone.']],
  ])('is heard by the model behind it in "%s"', async (agent, requests, words) => {
    const run = await start(forgetting, agent, 'Hi', () => text('Heard.'));
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
    expect(seen).toHaveLength(requests);
    for (const messages of seen) expect(messages.map(textOf)).toEqual(expect.arrayContaining(['Hi', ...words]));
  });
});
