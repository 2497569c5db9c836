import type { HoldfastClient } from '../../client/index';
import { outcomeOf } from '../../client/reading/outcome';
import type { BatchHead, BatchLine, BatchResult } from '../../contract/batches';
import { runIdOfLine } from '../../contract/batches';
import { codeOf, errorTable, messageOf } from '../../contract/errors';
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
  const results = inOrder(keptLines(parts.store, batch), readsAtOnce, (line) =>
    resultOf(batch, line, parts).catch((error: unknown) => unreadable(batch, line, error)),
  );
  for await (const result of results) if (parts.status === undefined || result.status === parts.status) yield result;
}

async function resultOf(batch: BatchHead, line: BatchLine, { client, store, status: wanted }: ResultParts): Promise<BatchResult> {
  const of = { line: line.line, id: runIdOfLine(batch.id, line) };
  const error = await refusalOf(store, batch, line);
  if (error !== undefined) return { ...of, status: 'refused', error };
  const status = await client.batches.runOf(batch, line);
  if (status === undefined) return { ...of, status: 'pending' };
  if (wanted !== undefined && wanted !== 'unreadable' && status !== wanted && isEnded(status)) return { ...of, status };
  const outcome = outcomeOf(await client.run(of.id).view());
  if (outcome.status === 'tool-calls-pending') return { ...of, status: 'completed', toolCalls: outcome.toolCalls };
  if (outcome.status === 'completed') return { ...of, status: 'completed', output: outcome.output };
  return { ...of, ...outcome };
}

/** An outage ends the stream. */
function unreadable(batch: BatchHead, line: BatchLine, error: unknown): BatchResult {
  const code = codeOf(error) ?? 'internal';
  if (errorTable[code].status === 503) throw error;
  return { line: line.line, id: runIdOfLine(batch.id, line), status: 'unreadable', error: { code, message: messageOf(error) } };
}
