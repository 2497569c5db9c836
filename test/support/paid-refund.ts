import { z } from 'zod';
import { defineTool } from '../../activities/tools/tools';
import type { TestRun } from '../../testing/index';
import { approvalOf } from './memory-bed';

export const paid: number[] = [];

export const refund = defineTool({
  description: 'Pays money back.',
  inputSchema: z.object({ orderId: z.string().optional(), amount: z.coerce.number() }),
  effect: 'idempotent',
  execute: ({ amount }) => (paid.push(amount), `paid ${amount}`),
});

/** What was paid by the time at which the run stands still. */
export async function paidIn(run: TestRun<unknown>): Promise<readonly number[]> {
  await run.outcome();
  return paid;
}

/** What was paid after these people have approved, one after the other. */
export async function paidAfter(run: TestRun, ...people: readonly string[]): Promise<readonly number[]> {
  for (const by of people) await run.approve((await approvalOf(run)).id, { by });
  return paidIn(run);
}
