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
import { names } from '../../contract/names';
import { holdfastClientPlugin } from '../../client/plugin';
import { recordHistory, replayHistories } from '../../testing/histories';
import { fixtureTools } from '../fixtures/tools';
import { english } from '../support/english';
import type { Temporal } from '../support/temporal';
import { eventually, openTemporal } from '../support/temporal';
import { calls, fixtureAgents, fixtureBundle, script, startTestBed, testServer, text } from '../support/test-bed';

const said = english(1500);
const ended = english(1000);
const input = `Refund order 42. ${english(1000)}`;
/** It asks for an approval, and says much. */
const answer = () => script(calls({ name: 'refund', input: { orderId: '42', amount: 80, reason: said } }), text(ended));

/** As the one of the fixtures, and it takes a long reason. */
const refund = defineTool({
  description: 'Pays money back.',
  inputSchema: z.object({ orderId: z.string(), amount: z.number(), reason: z.string() }),
  effect: 'idempotent',
  execute: ({ amount }) => ({ paid: amount }),
});
const tools = { ...fixtureTools, refund };

let temporal: Temporal;
beforeAll(async () => {
  temporal = await openTemporal();
});
afterAll(() => temporal.close());

/** How many payloads of a run are compressed, and how many bytes of text stand in its history as they were said. */
async function inHistory(id: string): Promise<{ readonly compressed: number; readonly legible: number }> {
  const { events = [] } = (await temporal.handle(id).fetchHistory()) as { events?: protocol.api.history.v1.IHistoryEvent[] };
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
    const bed = await startTestBed(answer(), { tools, compress: true });
    const run = await bed.client.start('guarded', input);
    await approved(bed.client, run.id);
    const history = await inHistory(run.id);
    expect(history.compressed).toBeGreaterThan(3);
    // The input, which the client has written.
    expect(history.legible).toBe(1);
    for (const plugins of [[], [holdfastClientPlugin()]]) {
      const client = new Client({ connection: temporal.connection, plugins });
      const own = await connect({ client, taskQueue: bed.taskQueue });
      const another = await own.start('plain', input, { id: `${run.id}-${plugins.length}` });
      expect(await another.result()).toBe(ended);
      if (plugins.length > 0)
        expect((await client.workflow.getHandle(`default/${run.id}`).result()) as object).toMatchObject({ output: ended });
    }
    await bed.close();
  });

  it('goes on with a worker that does not, and the other way round', async () => {
    for (const compress of [true, false]) {
      const model = answer();
      const first = await startTestBed(model, { tools, compress });
      const client = await connect({ server: testServer(), taskQueue: first.taskQueue, compress });
      const run = await client.start('guarded', input);
      await run.outcome();
      await first.worker.shutdown();
      const before = await inHistory(run.id);
      expect(before.legible).toBe(compress ? 0 : 2);
      const second = await startTestBed(model, { tools, compress: !compress, taskQueue: first.taskQueue });
      await approved(second.client, run.id);
      const after = await inHistory(run.id);
      // The arguments of the call, and the end.
      expect(after.legible - before.legible).toBe(compress ? 2 : 0);
      await client.close();
      await first.client.close();
      await second.close();
    }
  });

  it('is replayed from what was recorded of it, without a codec', async () => {
    const bed = await startTestBed(answer(), { tools, compress: true });
    const run = await bed.client.start('guarded', input);
    await approved(bed.client, run.id);
    const histories = mkdtempSync(join(tmpdir(), 'holdfast-compressed-'));
    await recordHistory({ server: testServer(), id: run.id, file: join(histories, 'compressed.json') });
    const [replayed] = await replayHistories({ agents: fixtureAgents, bundle: fixtureBundle(), histories });
    expect(replayed).toMatchObject({ id: 'compressed', differences: [] });
    expect(replayed?.error).toBeUndefined();
    await bed.close();
  });

  it('takes no harm from a signal with damaged data', async () => {
    const bed = await startTestBed(answer(), { tools, compress: true });
    const run = await bed.client.start('guarded', input);
    await run.outcome();
    const { metadata } = defaultPayloadConverter.toPayload('') ?? {};
    await temporal.connection.workflowService.signalWorkflowExecution({
      namespace: testServer().namespace,
      workflowExecution: { workflowId: `default/${run.id}` },
      signalName: names.resumeSignal,
      input: { payloads: [{ metadata: { ...metadata, encoding: Buffer.from('holdfast/z1') }, data: Buffer.from('damaged') }] },
    });
    await approved(bed.client, run.id);
    await bed.close();
  });
});
