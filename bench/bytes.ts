import type { Connection } from '@temporalio/client';
import { z } from 'zod';
import { defineTool } from '../activities/tools/tools';
import { connectTemporal } from '../host/connection';
import { english } from '../test/support/english';
import { databaseBytes } from './database-size';
import type { BenchBed } from './setup';
import { benchTools, rounded, startBed, startServer, turnModel } from './setup';

const sizes = [20, 100, 400];
/** Of the model's text, and of the tool's result. */
const saidBytes = 1600;
const parkedRuns = 200;

const tools = {
  ...benchTools,
  look: defineTool({ description: 'New words.', inputSchema: z.object({ n: z.number() }), execute: () => english(saidBytes) }),
};

/** What a run writes, where the model and the tool say 1.6 KB of English each in a turn; and what a run that waits for an approval has in the database. */
export async function benchBytes(): Promise<object> {
  const bench = await startServer();
  const { connection, close } = await connectTemporal(bench.server);
  const compressed = await bytesOf(bench, connection, { sizes, compress: true });
  const plain = await bytesOf(bench, connection, { sizes: [100], compress: false });
  const parkedKb: Record<string, number> = {};
  for (const compress of [true, false]) parkedKb[compress ? 'compressed' : 'plain'] = await parked(bench, compress);
  await close();
  await bench.close();
  return { turns: sizes, compressed, plain, parkedKb };
}

interface Kind {
  readonly sizes: readonly number[];
  readonly compress: boolean;
}

async function bytesOf(bench: BenchBed, connection: Connection, { sizes: wanted, compress }: Kind): Promise<object> {
  const bytesPerTurn: number[] = [];
  for (const turns of wanted) {
    const models = turnModel(turns, 'look', () => english(saidBytes));
    const bed = await startBed(bench, `bytes-${turns}-${compress}`, { models, tools, compress });
    const run = await bed.client.start('worker', 'Work.');
    await run.result();
    bytesPerTurn.push((await historyBytes(connection, bench.server.namespace, `default/${run.id}`)) / turns);
    await bed.close();
  }
  const [fewest = 1] = bytesPerTurn;
  const most = bytesPerTurn.at(-1) ?? 0;
  return {
    bytesPerTurn: bytesPerTurn.map(Math.round),
    ofContent: bytesPerTurn.map((bytes) => rounded(bytes / (2 * saidBytes), 3)),
    ...(bytesPerTurn.length === 1 ? {} : { growth: rounded(most / fewest, 3) }),
  };
}

/** Of all executions of a run, which goes on as new after some thousand events. */
async function historyBytes({ workflowService }: Connection, namespace: string, workflowId: string): Promise<number> {
  let bytes = 0;
  for (let runId: string | undefined = ''; runId !== undefined;) {
    const execution: { workflowId: string; runId?: string } = { workflowId, ...(runId === '' ? {} : { runId }) };
    const { workflowExecutionInfo } = await workflowService.describeWorkflowExecution({ namespace, execution });
    bytes += Number(workflowExecutionInfo?.historySizeBytes ?? 0);
    const { history } = await workflowService.getWorkflowExecutionHistory({ namespace, execution, maximumPageSize: 1 });
    const before = history?.events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId;
    runId = before == null || before === '' ? undefined : before;
  }
  return bytes;
}

/** By how much the database grows for each of many runs. */
async function parked(bench: BenchBed, compress: boolean): Promise<number> {
  const say = english(200);
  const call = { type: 'tool-call' as const, id: 'call-0', name: 'refund', input: { orderId: '42', amount: 80 } };
  const generate = () => Promise.resolve({ parts: [{ type: 'text' as const, text: say }, call] });
  const models = { providers: { bench: { model: () => ({ generate }) } } };
  const bed = await startBed(bench, `parked-${compress}`, { models, compress });
  const park = async (count: number): Promise<void> => {
    const runs = await Promise.all(Array.from({ length: count }, () => bed.client.start('careful', english(200))));
    for (const run of runs) for await (const event of run.events({ until: 'waiting', deltas: false })) void event;
  };
  await park(20);
  const before = databaseBytes(bench.directory);
  await park(parkedRuns);
  const grown = databaseBytes(bench.directory) - before;
  await bed.close();
  return rounded(grown / parkedRuns / 1024, 1);
}
