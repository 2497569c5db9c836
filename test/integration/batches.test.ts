import { randomUUID } from 'node:crypto';
import type { BatchResult, ShownBatch } from '../../contract/batches';
import type { BatchBed } from '../support/batch-bed';
import { startBatchBed } from '../support/batch-bed';
import { eventually } from '../support/eventually';
import { gate } from '../support/gate';
import { calls, text } from '../support/test-bed';

/** Inputs say what their runs come to. */
const held = gate();
let asked = 0;
let bed: BatchBed;
beforeAll(async () => {
  bed = await startBatchBed(async ({ messages }) => {
    asked += 1;
    const said = JSON.stringify(messages);
    if (said.includes('broken')) throw Object.assign(new Error('The model broke.'), { code: 'model-refused', retryable: false });
    if (said.includes('held')) await held.pass();
    if (said.includes('dear') && !said.includes('tool-result')) return calls({ name: 'refund', input: { orderId: '1', amount: 80 } });
    return text('done');
  });
});
afterAll(() => bed.close());

const linesOf = (inputs: readonly unknown[]) => inputs.map((input) => JSON.stringify(input)).join('\n');
const untilIt = (id: string, isSo: (batch: ShownBatch) => boolean): Promise<ShownBatch> =>
  eventually(async () => {
    const batch = await bed.service.batch(id);
    return isSo(batch) ? batch : undefined;
  });
const hasEnded = ({ status }: ShownBatch): boolean => status !== 'running';

async function resultsOf(id: string, status?: BatchResult['status']): Promise<readonly BatchResult[]> {
  const results: BatchResult[] = [];
  for await (const result of bed.service.batchResults(id, status === undefined ? {} : { status })) results.push(result);
  return results;
}

describe('a batch', () => {
  it('of 300 lines comes to one run and one result a line, with two services that leave', async () => {
    const id = `orders-${randomUUID()}`;
    const inputs = Array.from({ length: 300 }, (_, at) => (at % 100 === 50 ? `broken ${at}` : `order ${at}`));
    const before = asked;
    expect(await bed.service.startBatch({ agent: 'plain', id, concurrency: 10 }, linesOf(inputs))).toMatchObject({
      isNew: true,
      lines: 300,
    });
    for (const started of [60, 160]) {
      const queues = await bed.serve();
      await untilIt(id, (batch) => batch.started >= started);
      await queues.shutdown();
    }
    expect(await bed.service.batch(id)).toMatchObject({ status: 'running' });
    const queues = await bed.serve();
    const batch = await untilIt(id, hasEnded);
    await queues.shutdown();
    expect(batch).toMatchObject({ status: 'completed', started: 300, counts: { completed: 297, failed: 3, running: 0, refused: 0 } });
    const results = await resultsOf(id);
    expect(results.map(({ line }) => line)).toEqual(inputs.map((_, at) => at + 1));
    expect(new Set(results.map((result) => result.id)).size).toBe(300);
    expect(results.filter(({ status }) => status === 'failed').map(({ line }) => line)).toEqual([51, 151, 251]);
    expect(results[0]).toEqual({ line: 1, id: `${id}-000001`, status: 'completed', output: 'done' });
    expect(await resultsOf(id, 'failed')).toHaveLength(3);
    expect(asked - before).toBeGreaterThanOrEqual(300);
  });
});
