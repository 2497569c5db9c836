import { compacting, mostTokens } from '../fixtures/compacting-agent';
import { LongWork, contentPerTurn, task } from '../support/long-work';
import type { Temporal } from '../support/temporal';
import { openTemporal } from '../support/temporal';
import type { TestBed } from '../support/test-bed';
import { startTestBed } from '../support/test-bed';

const turns = 50;

let bed: TestBed | undefined;
let temporal: Temporal | undefined;

afterEach(async () => {
  await temporal?.close();
  await bed?.close();
});

it('50 turns under contextEditing and summarization stay under their bound, and the worker finds every message', async () => {
  const work = new LongWork(turns);
  bed = await startTestBed(work.generate);
  temporal = await openTemporal();
  const run = await bed.client.start(compacting.name, task, { stream: false });
  expect(await run.outcome()).toMatchObject({ status: 'completed', output: 'Done.' });
  expect([work.problems, work.turn]).toEqual([[], turns]);
  expect(work.largest).toBeLessThanOrEqual(mostTokens);
  const { raw } = await temporal.handle(run.id).describe();
  const bytes = Number(raw.workflowExecutionInfo?.historySizeBytes);
  expect(bytes / (turns * contentPerTurn)).toBeLessThan(2);
});
