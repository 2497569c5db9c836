import type { Connection } from '@temporalio/client';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { connectTemporal } from '../host/connection';
import { rounded, median, randomWords, startBed, startServer, turnModel } from './setup';

interface HistoryBench {
  readonly agent: string;
  readonly sizes: readonly number[];
  readonly rounds: number;
}
/** 1.5 KB in the model's text and 1.5 KB in the tool's result. */
const sayBytes = 1500;
const toolBytes = 1500;

/** What a run of so many model and tool turns costs in history, with 3 KB of new words each. No compressing codec. */
export function benchHistory(): Promise<object> {
  return measureHistory({ agent: 'worker', sizes: [50, 100, 400], rounds: 5 });
}

/** The same for an agent whose messages are kept short by contextEditing and summarization. */
export function benchHistoryCompacted(): Promise<object> {
  return measureHistory({ agent: 'compacted', sizes: [75, 150, 300], rounds: 5 });
}

export async function measureHistory({ agent, sizes, rounds }: HistoryBench): Promise<object> {
  const bench = await startServer();
  const { connection, close } = await connectTemporal(bench.server);
  const historyBytes: number[] = [];
  const contentBytes: number[] = [];
  const storageBytes: number[] = [];
  const chains: number[] = [];
  const summaries: number[] = [];
  for (const turns of sizes) {
    const measured: { history: number; content: number; storage: number; runs: number; summed: number }[] = [];
    let said = 0;
    let summed = 0;
    const say = (model: string): string => {
      const words = randomWords(sayBytes);
      said += words.length;
      if (model === 'summary') summed += 1;
      return words;
    };
    const bed = await startBed(bench, `history-${turns}`, { models: turnModel(turns, 'words', say), compress: false });
    for (let round = 0; round < rounds; round++) {
      const stored = storedBytes(bench.directory);
      const run = await bed.client.start(agent, 'Work.', { id: `history-${turns}-${round}` });
      await run.result();
      // Each turn's text and its tool's result; of a run that was compacted the transcript has them no more.
      const content = said + turns * toolBytes;
      const chain = await chainBytes(connection, bench.server.namespace, `default/${run.id}`);
      measured.push({ history: chain.bytes, runs: chain.runs, content, summed, storage: storedBytes(bench.directory) - stored });
      said = 0;
      summed = 0;
    }
    await bed.close();
    historyBytes.push(median(measured.map(({ history }) => history)));
    contentBytes.push(median(measured.map(({ content }) => content)));
    storageBytes.push(median(measured.map(({ storage }) => storage)));
    chains.push(median(measured.map(({ runs }) => runs)));
    summaries.push(median(measured.map((one) => one.summed)));
  }
  await close();
  await bench.close();
  const ratios = historyBytes.map((bytes, index) => rounded(bytes / (contentBytes[index] ?? 1), 3));
  return {
    turns: sizes,
    historyBytes,
    contentBytes,
    storageBytes,
    ratios,
    runsInChain: chains,
    summaries,
    ...growthOf(sizes, historyBytes),
  };
}

/** What a turn more costs from one size to the next. The last of it against the first is 1 where history grows as the turns do. */
function growthOf(
  sizes: readonly number[],
  bytes: readonly number[],
): { readonly bytesPerTurn: readonly number[]; readonly growth: number } {
  const bytesPerTurn = sizes.slice(1).map((turns, index) => {
    const [fewer = 0, before = 0, after = 0] = [sizes[index], bytes[index], bytes[index + 1]];
    return Math.round((after - before) / (turns - fewer));
  });
  return { bytesPerTurn, growth: rounded((bytesPerTurn.at(-1) ?? 0) / (bytesPerTurn[0] ?? 1), 2) };
}

async function chainBytes(connection: Connection, namespace: string, workflowId: string): Promise<{ bytes: number; runs: number }> {
  let bytes = 0;
  let runs = 0;
  for (let runId: string | undefined; ;) {
    const execution: { workflowId: string; runId?: string } = runId === undefined ? { workflowId } : { workflowId, runId };
    const { workflowExecutionInfo } = await connection.workflowService.describeWorkflowExecution({ namespace, execution });
    bytes += Number(workflowExecutionInfo?.historySizeBytes ?? 0);
    runs += 1;
    const page = await connection.workflowService.getWorkflowExecutionHistory({
      namespace,
      execution: { workflowId, runId: workflowExecutionInfo?.execution?.runId ?? '' },
      maximumPageSize: 1,
    });
    const previous = page.history?.events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId;
    if (previous === undefined || previous === null || previous === '') return { bytes, runs };
    runId = previous;
  }
}

function storedBytes(directory: string): number {
  try {
    const folder = join(directory, 'snapshots');
    return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  } catch {
    return 0;
  }
}
