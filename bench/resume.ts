import { performance } from 'node:perf_hooks';
import { z } from 'zod';
import { defineTool } from '../activities/tools/tools';
import type { GenerateAnswer } from '../activities/models/models';
import { names } from '../contract/names';
import { connectTemporal } from '../host/connection';
import type { WorkflowHandle } from '@temporalio/client';
import { Client } from '@temporalio/client';
import { startRawBed } from '../test/support/raw-bed';
import { benchTools, percentile, rounded, startBed, startServer } from './setup';

const times = 60;

/** From sending an answer to the start of the activity that it sets off: by Temporal's client as update and signal, by `approve`, and by hand on Temporal alone. */
export async function benchResume(): Promise<object> {
  const bench = await startServer();
  const started = new Map<string, (time: number) => void>();
  const refund = defineTool({
    description: 'Pays money back.',
    inputSchema: z.object({ orderId: z.string(), amount: z.number() }),
    execute: ({ orderId }) => {
      started.get(orderId)?.(performance.now());
      return 'paid';
    },
  });
  const models = {
    providers: {
      bench: {
        model: () => ({
          generate: ({ messages }: { messages: readonly { role: string; parts: readonly unknown[] }[] }): Promise<GenerateAnswer> => {
            const [first] = messages[0]?.parts ?? [];
            const orderId = (first as { text: string }).text;
            return Promise.resolve({
              parts:
                messages.length > 1
                  ? [{ type: 'text', text: 'Done.' }]
                  : [{ type: 'tool-call', id: 'c', name: 'refund', input: { orderId, amount: 1 } }],
            });
          },
        }),
      },
    },
  };
  const bed = await startBed(bench, 'resume', { models, tools: { ...benchTools, refund } });
  const { connection, close } = await connectTemporal(bench.server);
  const client = new Client({ connection, namespace: bench.server.namespace });
  const raw = await startRawBed({
    server: bench.server,
    taskQueue: 'raw',
    say: 'Pay.',
    toolText: 'paid',
    onTool: (workflowId) => started.get(workflowId)?.(performance.now()),
  });
  /** Until the call begins that an answer sets off. */
  const timed = async (id: string, answer: () => unknown): Promise<number> => {
    const at = new Promise<number>((resolve) => started.set(id, resolve));
    const sent = performance.now();
    answer();
    return (await at) - sent;
  };
  const ours = async (how: 'update' | 'signal' | 'approve', id: string): Promise<number> => {
    const run = await bed.client.start('careful', id, { id });
    const outcome = await run.outcome();
    const [interrupt] = outcome.status === 'waiting' ? outcome.interrupts : [];
    const answer = { interruptId: interrupt?.id ?? '', answer: { type: 'approve' } };
    const handle = client.workflow.getHandle(`default/${id}`);
    const took = await timed(id, () => {
      if (how === 'approve') return run.approve(answer.interruptId);
      return how === 'update' ? handle.executeUpdate(names.answerUpdate, { args: [answer] }) : handle.signal(names.answerSignal, answer);
    });
    await run.result();
    return took;
  };
  const byHand = async (id: string): Promise<number> => {
    const handle = await raw.client.workflow.start('answeredRun', { workflowId: id, taskQueue: raw.taskQueue });
    // It waits for the answer when its call of the model has come back.
    await untilTasks(handle, 2);
    const took = await timed(id, () => handle.executeUpdate('answer'));
    await handle.result();
    return took;
  };
  const measured = { byHand: [] as number[], update: [] as number[], signal: [] as number[], approve: [] as number[] };
  for (let round = 0; round < times + 5; round++) {
    measured.byHand.push(await byHand(`by-hand-${round}`));
    for (const how of ['update', 'signal', 'approve'] as const) measured[how].push(await ours(how, `${how}-${round}`));
  }
  await close();
  await raw.close();
  await bed.close();
  await bench.close();
  const p50 = (values: readonly number[]): number => percentile(values.slice(5), 0.5);
  const shown = (values: readonly number[]): object => ({
    p50: rounded(p50(values), 1),
    p95: rounded(percentile(values.slice(5), 0.95), 1),
  });
  return {
    byHandMs: shown(measured.byHand),
    updateMs: shown(measured.update),
    signalMs: shown(measured.signal),
    approveMs: shown(measured.approve),
    ratio: rounded(p50(measured.update) / p50(measured.byHand), 2),
  };
}

async function untilTasks(handle: WorkflowHandle, count: number): Promise<void> {
  for (;;) {
    const { events } = await handle.fetchHistory();
    if ((events ?? []).filter((event) => event.workflowTaskCompletedEventAttributes != null).length >= count) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
