import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { temporal as protocol } from '@temporalio/proto';
import { z } from 'zod';
import { defineTool } from '../../activities/tools/tools';
import { connect } from '../../client/connect';
import type { HoldfastClient } from '../../client/connect';
import type { Message } from '../../contract/messages/messages';
import { textOf } from '../../contract/messages/messages';
import { names } from '../../contract/names';
import { holdfastClientPlugin } from '../../client/connection/plugin';
import { recordHistory, replayHistories } from '../../testing/histories';
import { fixtureTools } from '../fixtures/tools';
import { english } from '../support/english';
import { sharedBed } from '../support/shared-bed';
import { eventually } from '../support/temporal';
import { calls, fixtureAgents, fixtureBundle, script, startTestBed, testServer, text } from '../support/test-bed';

const said = english(1500);
const ended = english(1000);
const input = `Refund order 42. ${english(1000)}`;
const answer = script(calls({ name: 'refund', input: { orderId: '42', amount: 80, reason: said } }), text(ended));

const refund = defineTool({
  description: 'Pays money back.',
  inputSchema: z.object({ orderId: z.string(), amount: z.number(), reason: z.string() }),
  effect: 'idempotent',
  execute: ({ amount }) => ({ paid: amount }),
});
const ofATool = 1600;
const lookupOrder = defineTool({
  description: 'Finds an order.',
  inputSchema: z.object({ orderId: z.string() }),
  effect: 'idempotent',
  execute: () => english(ofATool),
});
const tools = { ...fixtureTools, lookupOrder, refund };

const bed = sharedBed({ tools, compress: true });
const model = bed.scripted(answer);

async function inHistory(id: string): Promise<{ readonly compressed: number; readonly legible: number }> {
  const { events = [] } = (await bed.temporal.handle(id).fetchHistory()) as { events?: protocol.api.history.v1.IHistoryEvent[] };
  const bytes = Buffer.concat(events.map((event) => protocol.api.history.v1.HistoryEvent.encode(event).finish()));
  const all = bytes.toString('latin1');
  const legible = [said, ended, input].filter((one) => all.includes(one)).length;
  return { compressed: all.split('holdfast/z1').length - 1, legible };
}

async function approved(client: HoldfastClient, id: string): Promise<void> {
  const run = client.run(id);
  expect((await run.outcome()).status).toBe('waiting');
  const interrupts = await run.interrupts();
  expect(interrupts).toMatchObject([{ kind: 'approval', input: { reason: said } }]);
  await eventually(async () => {
    const found = (await client.list({ status: 'waiting', limit: 1000 })).runs.find((one) => one.id === id);
    expect(found?.interrupts).toMatchObject([{ input: { reason: said } }]);
  });
  await run.approve(interrupts[0]?.id ?? '');
  expect(await run.result()).toBe(ended);
  const { messages } = await run.view();
  expect(messages.map(({ parts }) => parts)).toMatchObject([[{ text: input }], [{ input: { reason: said } }], [{}], [{ text: ended }]]);
}

describe('a run whose worker compresses', () => {
  it('is read and answered by clients that do not, of ours and of the user', async () => {
    const run = await model.start('guarded', input);
    await approved(bed.client, run.id);
    const history = await inHistory(run.id);
    expect(history.compressed).toBeGreaterThan(3);
    expect(history.legible).toBe(1);
    for (const plugins of [[], [holdfastClientPlugin()]]) {
      const client = new Client({ connection: bed.temporal.connection, plugins });
      const own = await connect({ client, taskQueue: bed.taskQueue });
      const another = await own.start('plain', input, { model: model.model, id: `${run.id}-${plugins.length}` });
      expect(await another.result()).toBe(ended);
      if (plugins.length > 0)
        expect((await client.workflow.getHandle(`default/${run.id}`).result()) as object).toMatchObject({ output: ended });
    }
  });

  it('goes on with a worker that does not, and the other way round', async () => {
    const options = { tools, taskQueue: `compressed-${process.pid}` };
    let worker = await startTestBed(answer, { ...options, compress: true });
    for (const compress of [true, false]) {
      const client = await connect({ server: testServer(), taskQueue: options.taskQueue, compress });
      const run = await client.start('guarded', input);
      await run.outcome();
      await worker.close();
      const before = await inHistory(run.id);
      expect(before.legible).toBe(compress ? 0 : 2);
      worker = await startTestBed(answer, { ...options, compress: !compress });
      await approved(worker.client, run.id);
      const after = await inHistory(run.id);
      expect(after.legible - before.legible).toBe(compress ? 2 : 0);
      await client.close();
    }
    await worker.close();
  });

  it('is replayed from what was recorded of it, without a codec', async () => {
    const run = await model.start('guarded', input);
    await approved(bed.client, run.id);
    const histories = mkdtempSync(join(tmpdir(), 'holdfast-compressed-'));
    await recordHistory({ server: testServer(), id: run.id, file: join(histories, 'compressed.json') });
    const [replayed] = await replayHistories({ agents: fixtureAgents, bundle: fixtureBundle(), histories });
    expect(replayed).toMatchObject({ id: 'compressed', differences: [] });
    expect(replayed?.error).toBeUndefined();
  });

  it('takes no harm from a signal with damaged data', async () => {
    const run = await model.start('guarded', input);
    await run.outcome();
    const { metadata } = defaultPayloadConverter.toPayload('') ?? {};
    await bed.temporal.connection.workflowService.signalWorkflowExecution({
      namespace: testServer().namespace,
      workflowExecution: { workflowId: `default/${run.id}` },
      signalName: names.answerSignal,
      input: { payloads: [{ metadata: { ...metadata, encoding: Buffer.from('holdfast/z1') }, data: Buffer.from('damaged') }] },
    });
    await approved(bed.client, run.id);
  });
});

it('the history of a run whose model and tool say 1.6 KB of English each has at most 1.15 of these bytes a turn, and a turn costs the same after many', async () => {
  const talking = bed.scripted(({ messages }) => {
    const turns = Number(textOf(messages[0] as Message));
    const done = messages.filter(({ role }) => role === 'tool').length;
    const { parts, ...rest } = text(english(ofATool));
    return { ...rest, parts: done < turns ? [...parts, ...calls({ name: 'lookupOrder', input: { orderId: '42' } }).parts] : parts };
  });
  const bytesAfter = async (turns: number): Promise<number> => {
    const run = await talking.start('plain', String(turns));
    await run.result();
    return Number((await bed.temporal.handle(run.id).describe()).historySize);
  };
  const none = await bytesAfter(0);
  const few = ((await bytesAfter(10)) - none) / 10;
  const many = ((await bytesAfter(40)) - none) / 40;
  expect(many / (2 * ofATool)).toBeLessThan(1.15);
  expect(many / few).toBeLessThan(1.05);
});
