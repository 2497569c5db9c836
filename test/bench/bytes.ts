import type { Connection } from '@temporalio/client';
import { connectTemporal } from '../../host/connection';
import { english } from '../support/english';
import { rounded } from './report/numbers';
import type { BenchServer } from './setup';
import { benchModels, benchTools, named, park, startBed, startServer, task } from './setup';
import { databaseBytes } from './usage';

const sizes = [20, 100, 400];
const saidBytes = 1600;
const parkedRuns = 200;

/** Bytes written by a run with 1.6 KB of English from model and tool in each turn, and bytes of a parked run. */
export async function benchBytes(): Promise<object> {
  const bench = await startServer();
  const { connection, close } = await connectTemporal(bench.server);
  const compressed = await bytesOf(bench, connection, sizes, true);
  const plain = await bytesOf(bench, connection, [100], false);
  const parkedKb = { compressed: await parked(bench, true), plain: await parked(bench, false) };
  await close();
  await bench.close();
  return { turns: sizes, compressed, plain, parkedKb };
}

async function bytesOf(bench: BenchServer, connection: Connection, wanted: readonly number[], compress: boolean): Promise<object> {
  const bytesPerTurn: number[] = [];
  for (const turns of wanted) {
    const models = benchModels(() => english(saidBytes));
    const tools = benchTools({ look: () => english(saidBytes) });
    const bed = await startBed(bench, `bytes-${turns}-${compress}`, { models, tools, compress });
    const run = await bed.client.start('worker', task('work', turns));
    await run.result();
    bytesPerTurn.push((await historyBytes(connection, bench.server.namespace, `default/${run.id}`)) / turns);
    await bed.close();
  }
  return { bytesPerTurn: bytesPerTurn.map(Math.round), ofContent: bytesPerTurn.map((bytes) => rounded(bytes / (2 * saidBytes), 3)) };
}

/** Sums all executions of the run, which continues as new after some thousand events. */
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

/** Returns the database's growth per parked run. */
async function parked(bench: BenchServer, compress: boolean): Promise<number> {
  const name = `parked-${compress}`;
  const bed = await startBed(bench, name, { models: benchModels(() => english(200)), compress });
  await park(bed.client, named(`${name}-warm`, 20));
  const before = databaseBytes(bench.directory);
  await park(bed.client, named(name, parkedRuns));
  const grown = databaseBytes(bench.directory) - before;
  await bed.close();
  return rounded(grown / parkedRuns / 1024, 1);
}
