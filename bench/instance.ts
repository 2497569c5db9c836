import { Client } from '@temporalio/client';
import { defineSearchAttributeKey } from '@temporalio/common';
import type { GenerateAnswer } from '../activities/models/models';
import { globalHandlers } from '@temporalio/worker/lib/workflow/vm-shared';
import { connectTemporal } from '../host/connection';
import { withCompression } from '../host/payloads/compression';
import { median, rounded, startBed, startServer } from './setup';
import { startRawBed } from '../test/support/raw-bed';

const statusKey = defineSearchAttributeKey('HoldfastStatus', 'KEYWORD');
const runs = 200;
const rounds = 5;

/** What a parked run costs its worker beside an empty workflow: CPU from start to park, and heap after gc. */
export async function benchInstance(): Promise<object> {
  process.env['TEMPORAL_DEBUG'] = '1';
  // Debugging notes every promise, and a worker does not.
  Object.assign(globalHandlers, { setPromiseHook: () => undefined });
  const bench = await startServer();
  const { connection, close } = await connectTemporal(bench.server);
  const client = new Client({ connection, namespace: bench.server.namespace, dataConverter: withCompression(undefined) });
  const models = {
    providers: {
      bench: {
        model: () => ({
          generate: (): Promise<GenerateAnswer> =>
            Promise.resolve({ parts: [{ type: 'tool-call', id: 'c', name: 'refund', input: { orderId: '42', amount: 80 } }] }),
        }),
      },
    },
  };
  const bed = await startBed(bench, 'instance', { models, maxCachedRuns: runs * rounds * 3 });
  const raw = await startRawBed({
    server: bench.server,
    taskQueue: 'empty',
    say: '',
    toolText: '',
    maxCachedWorkflows: runs * rounds * 3,
  });
  const ours: Cost[] = [];
  const empty: Cost[] = [];
  for (let round = 0; round <= rounds; round++) {
    ours.push(
      await cost(async (position) => {
        const run = await bed.client.start('careful', 'Refund', { id: `instance-${round}-${position}` });
        const handle = client.workflow.getHandle(`default/${run.id}`);
        return { isParked: async () => (await handle.describe()).typedSearchAttributes.get(statusKey) === 'waiting' };
      }),
    );
    empty.push(
      await cost(async (position) => {
        const handle = await raw.client.workflow.start('emptyRun', { workflowId: `empty-${round}-${position}`, taskQueue: raw.taskQueue });
        return { isParked: async () => (await handle.describe()).historyLength >= 4 };
      }),
    );
  }
  const result = { ...summary(ours.slice(1)), empty: summary(empty.slice(1)) };
  await bed.close();
  await raw.close();
  await close();
  await bench.close();
  delete process.env['TEMPORAL_DEBUG'];
  return result;
}

interface Cost {
  readonly ms: number;
  readonly heapKb: number;
}

function summary(costs: readonly Cost[]): Cost {
  return { ms: rounded(median(costs.map(({ ms }) => ms))), heapKb: rounded(median(costs.map(({ heapKb }) => heapKb)), 1) };
}

/** Workflow code runs in this thread here, so that its heap can be read. */
function workerHeap(): number {
  for (let pass = 0; pass < 3; pass++) globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

async function cost(start: (position: number) => Promise<{ isParked(): Promise<boolean> }>): Promise<Cost> {
  const heapBefore = workerHeap();
  const cpuBefore = process.cpuUsage();
  const parked: { isParked(): Promise<boolean> }[] = [];
  for (let position = 0; position < runs; position++) parked.push(await start(position));
  const last = parked.at(-1);
  while (last !== undefined && !(await last.isParked()));
  for (const one of parked) while (!(await one.isParked()));
  const { user, system } = process.cpuUsage(cpuBefore);
  const heapAfter = workerHeap();
  return { ms: (user + system) / 1000 / runs, heapKb: (heapAfter - heapBefore) / 1024 / runs };
}
