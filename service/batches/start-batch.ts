import { createHash, randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { HoldfastClient } from '../../client/index';
import type { BatchLine, BatchOptions, KeptLines, StartedBatch } from '../../contract/batches';
import { batchTag, defaultConcurrency, runIdOfLine } from '../../contract/batches';
import { isRecord } from '../../contract/check';
import { defined } from '../../contract/defined';
import { HoldfastError, isFinal, messageOf } from '../../contract/errors';
import { limits, utf8Length } from '../../contract/limits';
import type { Json } from '../../contract/messages/messages';
import { isRunId } from '../../contract/names';
import { shown } from '../../contract/shown';
import { startInputOf } from '../../client/runs/start-input';
import type { AppParts } from '../parts';
import { inputCheck } from '../http/asked-agent';
import { parse } from '../http/parse-request';
import { json } from '../http/schemas';
import { LineWriter, discardLines } from './kept-lines';

/** The value of a line, or why the line has none. */
export type GivenLine = { readonly line: number } & ({ readonly value: unknown } | { readonly problem: string });

type LineParts = Pick<AppParts, 'agents' | 'store'> & { readonly client: HoldfastClient };

const shownProblems = 10;
const longestId = 190;

const WholeLine = z.strictObject({
  input: json,
  id: z.string().optional(),
  tags: z.array(z.string()).optional(),
  values: z.record(z.string(), json).optional(),
});

/** Begins the batch after the last line. */
export async function startBatch(
  lines: AsyncIterable<GivenLine>,
  { id, tags = [], concurrency = defaultConcurrency, ...given }: BatchOptions & { readonly id?: string },
  parts: LineParts,
): Promise<StartedBatch> {
  const { client, store } = parts;
  if (id !== undefined && (!isRunId(id) || id.length > longestId))
    throw new HoldfastError('run-id-invalid', `${shown(id)} is no id for a batch: it may have ${longestId} characters.`);
  const kept = await keepLines(lines, { id: id ?? 'batch', tags, ...given }, parts);
  const head = { ...given, ...kept, tags, concurrency, id: id ?? `batch-${kept.hash.slice(0, 12)}` };
  // After an error the batch may have begun all the same, so the lines stay.
  const { uses, ...started } = await client.batches.start(head).catch(async (error: unknown) => {
    if (isFinal(error)) await discardLines(store, kept);
    throw error;
  });
  if (!uses) await discardLines(store, kept);
  return started;
}

/** A line that cannot be started refuses all lines. */
export async function keepLines(
  lines: AsyncIterable<GivenLine>,
  batch: BatchOptions & { readonly id: string },
  parts: LineParts,
): Promise<KeptLines> {
  const check = lineCheck(parts, batch);
  const prefix = `batch/${randomUUID()}`;
  const writer = new LineWriter(parts.store, prefix);
  const hash = createHash('sha256').update(batch.agent);
  const problems: string[] = [];
  const of = { lines: 0, bad: 0, bytes: 0 };
  const take = async (given: GivenLine): Promise<void> => {
    const whole = await check(given).catch((error: unknown) => {
      if (!isFinal(error)) throw error;
      of.bad += 1;
      if (problems.length < shownProblems) problems.push(`line ${given.line}: ${messageOf(error)}`);
      return undefined;
    });
    const text = JSON.stringify(whole ?? null);
    of.lines += 1;
    of.bytes += utf8Length(text);
    if (of.lines > limits.batchLines || of.bytes > limits.batchBytes) throw tooLarge();
    if (of.bad > 0) return;
    hash.update(text);
    await writer.add(text);
  };
  try {
    for await (const given of lines) await take(given);
    if (of.bad > 0) throw invalid(of.bad, problems);
    if (of.lines === 0) throw new HoldfastError('batch-invalid', 'The batch has no line.');
    await writer.flush();
  } catch (error) {
    await discardLines(parts.store, { store: prefix, chunks: writer.chunks });
    throw error;
  }
  return { lines: of.lines, hash: hash.digest('hex'), store: prefix, chunks: writer.chunks };
}

function lineCheck(parts: LineParts, batch: BatchOptions & { readonly id: string }): (given: GivenLine) => Promise<BatchLine> {
  const { agent, tags = [] } = batch;
  const { client } = parts;
  const checkInput = inputCheck(parts, agent);
  const { tenant } = client.place;
  return async (given) => {
    if ('problem' in given) throw new HoldfastError('request-invalid', given.problem);
    const whole: BatchLine = { line: given.line, ...startOfLine(given.value) };
    checkInput(whole.input);
    const { input, values, tags: own = [] } = whole;
    const all = { id: runIdOfLine(batch.id, whole), tags: [...tags, ...own, batchTag(batch.id)] };
    startInputOf({ tenant, agent }, input, { ...all, ...defined({ values }) });
    await client.batches.checkLine({ ...all, agent });
    return whole;
  };
}

/** An object with `input` that has no other field than `id`, `tags` and `values` is a start. Any other value is an input. */
function startOfLine(value: unknown): Omit<BatchLine, 'line'> {
  const isStart = isRecord(value) && 'input' in value && Object.keys(value).every((field) => field in WholeLine.shape);
  return isStart ? defined(parse(WholeLine, value, 'The start')) : { input: value as Json };
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
