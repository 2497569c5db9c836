import { Readable } from 'node:stream';
import type { Hono } from 'hono';
import { z } from 'zod';
import { batchLineStatuses } from '../../contract/batches';
import { defined } from '../../contract/defined';
import { HoldfastError, messageOf } from '../../contract/errors';
import { limits } from '../../contract/limits';
import { checkType, parseJson } from '../http/parse-request';
import { Routes, done, ok } from '../http/routes';
import { count, json } from '../http/schemas';
import type { AppParts } from '../parts';
import { linesOf } from './json-lines';
import { batchResults } from './results';
import type { GivenLine } from './start-batch';
import { startBatch } from './start-batch';

const jsonLines = 'application/jsonl';

const BatchStartQuery = z.strictObject({
  agent: z.string(),
  id: z.string().optional(),
  concurrency: count.pipe(z.number().min(1).max(limits.batchConcurrency)).optional(),
  perMinute: count.pipe(z.number().min(1)).optional(),
  tag: z.array(z.string().min(1)).optional(),
});
const BatchListQuery = z.strictObject({ limit: count.pipe(z.number().min(1).max(1000)).optional(), after: z.string().optional() });
const StopBody = z.strictObject({ cancelRuns: z.boolean().optional() });
const ResultQuery = z.strictObject({ status: z.enum(batchLineStatuses).optional() });

export function batchRoutes(parts: AppParts): Hono {
  const start = {
    may: 'runs:start',
    summary: 'Starts a run for each JSON line. The same id with the same agent and lines is the same batch.',
    query: BatchStartQuery,
    ownBody: json,
    bodyType: jsonLines,
    answers: { 201: { says: 'The batch is new.', name: 'StartedBatch' }, ...ok('StartedBatch', 'The batch was there.') },
  } as const;
  const results = {
    may: 'runs:read',
    summary: 'Streams a result for each line, in the order of the lines.',
    query: ResultQuery,
    answers: { 200: { says: 'JSON lines.', type: jsonLines } },
  } as const;
  const list = {
    may: 'runs:read',
    summary: 'Lists batches.',
    query: BatchListQuery,
    answers: ok('BatchPage', 'A page of batches.'),
  } as const;
  const stop = { may: 'runs:control', summary: 'Starts no more runs of a batch.', body: StopBody, answers: done } as const;
  return new Routes('Batches')
    .add('POST /', start, async ({ query, context, client }) => {
      checkType(context, jsonLines, 'application/x-ndjson');
      const { tag: tags, ...options } = query;
      const started = await startBatch(givenLines(context.req.raw.body), defined({ ...options, tags }), { ...parts, client });
      return context.json(started, started.isNew ? 201 : 200);
    })
    .add('GET /', list, ({ query, client }) => client.batches.list(defined(query)))
    .add('GET /:id', { may: 'runs:read', summary: 'Shows a batch.', answers: ok('Batch', 'How it stands.') }, ({ id, client }) =>
      client.batches.view(id),
    )
    .add('POST /:id/stop', stop, async ({ id, body, client }) => {
      await client.batches.stop(id, defined(body));
      return { id };
    })
    .add('GET /:id/results', results, async ({ id, query: { status }, client, isKnown }) => {
      const texts = textsOf(batchResults(await client.batches.head(id), { client, store: parts.store, status }), isKnown, parts);
      // An error before the first result has a status.
      const first = await texts.next();
      const stream = Readable.toWeb(Readable.from(first.done === true ? [] : withFirst(first.value, texts)));
      return new Response(stream as ReadableStream<Uint8Array>, { headers: { 'content-type': jsonLines, 'cache-control': 'no-store' } });
    }).app;
}

async function* withFirst<Item>(first: Item, rest: AsyncIterable<Item>): AsyncGenerator<Item> {
  yield first;
  yield* rest;
}

async function* givenLines(body: ReadableStream<Uint8Array> | null): AsyncGenerator<GivenLine> {
  for await (const given of linesOf((body ?? []) as AsyncIterable<Uint8Array>)) {
    if ('problem' in given) yield given;
    else yield { line: given.line, ...valueOf(given.text) };
  }
}

function valueOf(text: string): { readonly value: unknown } | { readonly problem: string } {
  try {
    return { value: parseJson(text, 'it') };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

const linesOfLook = 500;

async function* textsOf(
  results: AsyncIterable<object>,
  isKnown: () => Promise<boolean>,
  { closing, logger }: Pick<AppParts, 'closing' | 'logger'>,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  let count = 0;
  try {
    for await (const result of results) {
      if (closing.aborted) throw new HoldfastError('service-closing', 'The service closes.');
      if (count++ % linesOfLook === 0 && !(await isKnown())) throw new HoldfastError('identity-invalid', 'The key has ended.');
      yield encoder.encode(`${JSON.stringify(result)}\n`);
    }
  } catch (error) {
    logger.warn('A stream of results broke off', { error });
    throw error;
  }
}
