import type { HoldfastClient } from '../../client/index';
import { outcomeOf } from '../../client/reading/outcome';
import type { BatchHead, BatchLine, BatchResult } from '../../contract/batches';
import { runIdOfLine } from '../../contract/batches';
import { isEnded } from '../../contract/events';
import type { ServiceStore } from '../store/store';
import { inOrder } from './in-order';
import { keptLines, refusalOf } from './kept-lines';

const readsAtOnce = 8;

interface ResultParts {
  readonly client: HoldfastClient;
  readonly store: ServiceStore;
  /** Absent: results of all lines. */
  readonly status?: BatchResult['status'] | undefined;
}

/** A result for each line, in the order of the lines. Every run is read by its id, because lists of the server lag. */
export async function* batchResults(batch: BatchHead, parts: ResultParts): AsyncGenerator<BatchResult> {
  for await (const result of inOrder(keptLines(parts.store, batch), readsAtOnce, (line) => resultOf(batch, line, parts)))
    if (parts.status === undefined || result.status === parts.status) yield result;
}

async function resultOf(batch: BatchHead, line: BatchLine, { client, store, status: wanted }: ResultParts): Promise<BatchResult> {
  const of = { line: line.line, id: runIdOfLine(batch.id, line) };
  const error = await refusalOf(store, batch, line);
  if (error !== undefined) return { ...of, status: 'refused', error };
  const status = await client.batches.runOf(batch, line);
  if (status === undefined) return { ...of, status: 'pending' };
  // The rest is not asked for.
  if (wanted !== undefined && status !== wanted && isEnded(status)) return { ...of, status };
  const outcome = outcomeOf(await client.run(of.id).view());
  switch (outcome.status) {
    case 'tool-calls-pending':
      return { ...of, status: 'completed', toolCalls: outcome.toolCalls };
    case 'completed':
      return { ...of, status: outcome.status, output: outcome.output };
    default:
      return { ...of, ...outcome };
  }
}
