import { performance } from 'node:perf_hooks';
import { z } from 'zod';
import { defineTool } from '../activities/tools/tools';
import type { GenerateAnswer } from '../activities/models/models';
import { names } from '../contract/names';
import { connectTemporal } from '../host/connection';
import { Client } from '@temporalio/client';
import { benchTools, percentile, rounded, startBed, startServer } from './setup';

const times = 60;

/** From sending an answer to the start of the activity that it sets off: by Temporal's client as update and signal, and by `approve`. */
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
  const measure = async (how: 'update' | 'signal' | 'approve'): Promise<number[]> => {
    const measured: number[] = [];
    for (let round = 0; round < times + 5; round++) {
      const id = `${how}-${round}`;
      const run = await bed.client.start('careful', id, { id });
      const outcome = await run.outcome();
      const [interrupt] = outcome.status === 'waiting' ? outcome.interrupts : [];
      const answer = { interruptId: interrupt?.id ?? '', answer: { type: 'approve' } };
      const at = new Promise<number>((resolve) => started.set(id, resolve));
      const handle = client.workflow.getHandle(`default/${id}`);
      const sent = performance.now();
      if (how === 'approve') void run.approve(answer.interruptId);
      else if (how === 'update') void handle.executeUpdate(names.resumeUpdate, { args: [answer] });
      else void handle.signal(names.resumeSignal, answer);
      measured.push((await at) - sent);
      await run.result();
    }
    return measured.slice(5);
  };
  const update = await measure('update');
  const signal = await measure('signal');
  const approve = await measure('approve');
  await close();
  await bed.close();
  await bench.close();
  const shown = (values: number[]): object => ({ p50: rounded(percentile(values, 0.5), 1), p95: rounded(percentile(values, 0.95), 1) });
  return { updateMs: shown(update), signalMs: shown(signal), approveMs: shown(approve) };
}
