import { setTimeout as delay } from 'node:timers/promises';
import type { WorkflowHandle } from '@temporalio/client';
import { Client } from '@temporalio/client';
import { names } from '../../contract/names';
import { connectTemporal } from '../../host/connection';
import { startRawBed } from '../support/raw-bed';
import { rounded, spread } from './report/numbers';
import { benchModels, benchTools, park, startBed, startServer } from './setup';

const warmUp = 5;
const times = 60;

/** Times an answer until the next activity: by update, by signal, by `approve`, and by hand. */
export async function benchResume(): Promise<object> {
  const bench = await startServer();
  const started = new Map<string, (time: number) => void>();
  const note = (id: string): void => started.get(id)?.(performance.now());
  const bed = await startBed(bench, 'resume', { models: benchModels(() => 'Pay.'), tools: benchTools({ onRefund: note }) });
  const { connection, close } = await connectTemporal(bench.server);
  const { workflow } = new Client({ connection, namespace: bench.server.namespace });
  const raw = await startRawBed({ server: bench.server, taskQueue: 'raw', say: 'Pay.', toolText: 'paid', onTool: note });
  const timed = async (id: string, answer: () => unknown): Promise<number> => {
    const at = new Promise<number>((resolve) => started.set(id, resolve));
    const sent = performance.now();
    answer();
    return (await at) - sent;
  };
  const ours = async (how: 'update' | 'signal' | 'approve', id: string): Promise<number> => {
    await park(bed.client, [id]);
    const run = bed.client.run(id);
    const [interrupt] = await run.interrupts();
    const answer = { interruptId: interrupt?.id ?? '', answer: { type: 'approve' } };
    const handle = workflow.getHandle(`default/${id}`);
    const took = await timed(id, () => {
      if (how === 'approve') return run.approve(answer.interruptId);
      return how === 'update' ? handle.executeUpdate(names.answerUpdate, { args: [answer] }) : handle.signal(names.answerSignal, answer);
    });
    await run.result();
    return took;
  };
  const byHand = async (id: string): Promise<number> => {
    const handle = await raw.client.workflow.start('answeredRun', { workflowId: id, taskQueue: raw.taskQueue });
    // The run waits once the model call has returned.
    await untilTasks(handle, 2);
    const took = await timed(id, () => handle.executeUpdate('answer'));
    await handle.result();
    return took;
  };
  const took = { byHand: [] as number[], update: [] as number[], signal: [] as number[], approve: [] as number[] };
  for (let round = 0; round < times + warmUp; round++) {
    took.byHand.push(await byHand(`by-hand-${round}`));
    for (const how of ['update', 'signal', 'approve'] as const) took[how].push(await ours(how, `${how}-${round}`));
  }
  await close();
  await raw.close();
  await bed.close();
  await bench.close();
  const [byHandMs, updateMs, signalMs, approveMs] = [took.byHand, took.update, took.signal, took.approve].map((all) =>
    spread(all.slice(warmUp)),
  );
  return { byHandMs, updateMs, signalMs, approveMs, ratio: rounded((updateMs?.p50 ?? 0) / (byHandMs?.p50 ?? 0)) };
}

async function untilTasks(handle: WorkflowHandle, count: number): Promise<void> {
  for (;;) {
    const { events } = await handle.fetchHistory();
    if ((events ?? []).filter((event) => event.workflowTaskCompletedEventAttributes != null).length >= count) return;
    await delay(5);
  }
}
