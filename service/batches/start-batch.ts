import { createHash, randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { HoldfastClient } from '../../client/index';
import type { BatchHead, BatchLine, StartedBatch } from '../../contract/batches';
import { batchTag, runIdOfLine } from '../../contract/batches';
import { defined } from '../../contract/defined';
import { HoldfastError, messageOf } from '../../contract/errors';
import { limits, utf8Length } from '../../contract/limits';
import type { Json } from '../../contract/messages/messages';
import { isRunId } from '../../contract/names';
import { shown } from '../../contract/shown';
import { startInputOf } from '../../client/runs/start-input';
import type { AppParts } from '../parts';
import { inputCheck } from '../http/asked-agent';
import { json } from '../http/schemas';
import { LineWriter, isFinal } from './kept-lines';

/** The value of a line, or why the line has none. */
export type GivenLine = { readonly line: number } & ({ readonly value: unknown } | { readonly problem: string });

export interface BatchOptions {
  readonly agent: string;
  /** Default: made of the agent and the lines, so that equal lines are the same batch. */
  readonly id?: string;
  readonly tags?: readonly string[];
  readonly concurrency?: number;
  readonly perMinute?: number;
}

const shownProblems = 10;
const longestId = 190;

const WholeLine = z.strictObject({
  input: json,
  id: z.string().optional(),
  tags: z.array(z.string()).optional(),
  values: z.record(z.string(), json).optional(),
});

/** Begins the batch after the last line. A line that cannot be started refuses all lines. */
export async function startBatch(
  lines: AsyncIterable<GivenLine>,
  { agent, id, tags = [], concurrency = 20, perMinute }: BatchOptions,
  parts: Pick<AppParts, 'agents' | 'store'> & { readonly client: HoldfastClient },
): Promise<StartedBatch> {
  const { client, store } = parts;
  if (id !== undefined && (!isRunId(id) || id.length > longestId))
    throw new HoldfastError('run-id-invalid', `${shown(id)} is no id for a batch: it may have ${longestId} characters.`);
  const check = lineCheck(parts, { agent, id: id ?? 'batch', tags });
  const prefix = `batch/${randomUUID()}`;
  const writer = new LineWriter(store, prefix);
  const hash = createHash('sha256').update(agent);
  const problems: string[] = [];
  let count = 0;
  let bad = 0;
  let bytes = 0;
  const take = async (given: GivenLine): Promise<void> => {
    const whole = await check(given).catch((error: unknown) => {
      if (!isFinal(error)) throw error;
      bad += 1;
      if (problems.length < shownProblems) problems.push(`line ${given.line}: ${messageOf(error)}`);
      return undefined;
    });
    const text = JSON.stringify(whole ?? null);
    count += 1;
    bytes += utf8Length(text);
    if (count > limits.batchLines || bytes > limits.batchBytes) throw tooLarge();
    if (bad > 0) return;
    hash.update(text);
    await writer.add(text);
  };
  try {
    for await (const given of lines) await take(given);
    if (bad > 0) throw invalid(bad, problems);
    if (count === 0) throw new HoldfastError('batch-invalid', 'The batch has no line.');
    await writer.flush();
  } catch (error) {
    await writer.discard();
    throw error;
  }
  const digest = hash.digest('hex');
  const head: BatchHead = {
    id: id ?? `batch-${digest.slice(0, 12)}`,
    agent,
    lines: count,
    concurrency,
    tags,
    hash: digest,
    store: prefix,
    chunks: writer.chunks,
    ...defined({ perMinute }),
  };
  // After an error the batch may have begun all the same, so the lines stay.
  const { uses, ...started } = await client.batches.start(head).catch(async (error: unknown) => {
    if (isFinal(error)) await writer.discard();
    throw error;
  });
  if (!uses) await writer.discard();
  return started;
}

type OfBatch = Pick<BatchHead, 'id' | 'agent' | 'tags'>;

function lineCheck(
  parts: Parameters<typeof inputCheck>[0] & { readonly client: HoldfastClient },
  batch: OfBatch,
): (given: GivenLine) => Promise<BatchLine> {
  const { agent, tags } = batch;
  const { client } = parts;
  const checkInput = inputCheck(parts, agent);
  const { tenant } = client.place;
  return async (given) => {
    if ('problem' in given) throw new HoldfastError('request-invalid', given.problem);
    const whole: BatchLine = { line: given.line, ...startOfLine(given.value) };
    checkInput(whole.input);
    const { input, id, values, tags: own = [] } = whole;
    if (id !== undefined && !isRunId(id)) throw new HoldfastError('run-id-invalid', `${shown(id)} is no id for a run.`);
    const all = { id: runIdOfLine(batch.id, whole), tags: [...tags, ...own, batchTag(batch.id)], ...defined({ values }) };
    startInputOf({ tenant, agent }, input, all);
    await client.batches.checkLine(batch.id, whole, batch);
    return whole;
  };
}

/** An object with `input` that has no other field than `id`, `tags` and `values` is a start. Any other value is an input. */
function startOfLine(value: unknown): Omit<BatchLine, 'line'> {
  const start = WholeLine.safeParse(value);
  return start.success ? defined(start.data) : { input: value as Json };
}

function invalid(bad: number, problems: readonly string[]): HoldfastError {
  const some = bad > problems.length ? `, of which the first ${problems.length} are here` : '';
  const what = bad === 1 ? 'A line of the batch' : `${bad} lines of the batch`;
  return new HoldfastError('batch-invalid', `${what} cannot be started${some}:\n${problems.join('\n')}`);
}

function tooLarge(): HoldfastError {
  const most = `${limits.batchLines.toLocaleString('en')} lines and ${limits.batchBytes / 1024 / 1024} MB`;
  return new HoldfastError('input-too-large', `A batch has at most ${most}.`);
}
