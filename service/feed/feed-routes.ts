import { setTimeout as delay } from 'node:timers/promises';
import type { Hono } from 'hono';
import { z } from 'zod';
import type { HoldfastClient } from '../../client/index';
import type { FeedEvent } from '../../contract/feed';
import { HoldfastError } from '../../contract/errors';
import { frameStream } from '../http/event-stream';
import { Routes, events, ok } from '../http/routes';
import { count, shortText } from '../http/schemas';
import type { AppParts } from '../parts';
import { keepMsOf } from './feed-options';
import type { FeedEntry, PageAsked } from './feed-log';
import { FeedLog } from './feed-log';

const types = z.array(shortText).max(50);

const FeedQuery = z.strictObject({
  since: z.string().optional(),
  agent: shortText.optional(),
  run: shortText.optional(),
  startedBy: shortText.optional(),
  tag: types.optional(),
  type: types.optional(),
  limit: count.pipe(z.number().min(1).max(1000)).optional(),
});
type FeedQuery = z.infer<typeof FeedQuery>;

const pauseMs = 500;

export function feedRoutes(parts: AppParts): Hono {
  const logOf = (client: HoldfastClient): FeedLog => {
    if (parts.feed === undefined)
      throw new HoldfastError('feed-missing', 'The configuration has no `feed`, so the service collects no events of all runs.');
    return new FeedLog(parts.store, client.place.tenant, keepMsOf(parts.feed));
  };
  const page = {
    may: 'runs:read',
    summary: 'Reads events of all runs, each once, in an order that does not change.',
    query: FeedQuery,
    answers: ok('FeedPage', 'A page of events, and the cursor for the next page.'),
  } as const;
  const stream = {
    may: 'runs:read',
    summary: 'Follows the events of all runs. The header Last-Event-ID goes on behind an event.',
    query: FeedQuery.omit({ limit: true }),
    headers: { 'Last-Event-ID': 'The cursor of the last event that the reader has. It goes before `since`.' },
    answers: { 200: { says: 'Each event with its cursor as id.', type: events } },
  } as const;
  return new Routes('Runs')
    .add('GET /', page, ({ query, client }) => logOf(client).page(askedIn(query, client)))
    .add('GET /stream', stream, async ({ query, client, context, isKnown }) => {
      const asked = askedIn({ ...query, since: context.req.header('last-event-id') || query.since }, client);
      const log = logOf(client);
      // A refused cursor is an answer with a status.
      await log.page({ ...asked, limit: 1 });
      return frameStream((signal) => following(log, asked, signal), { ...parts, isKnown, first: 'retry: 1000\n\n', frameOf });
    }).app;
}

async function* following(log: FeedLog, asked: PageAsked, signal: AbortSignal): AsyncGenerator<FeedEvent> {
  for (let { since } = asked; !signal.aborted;) {
    const page = await log.page({ ...asked, since });
    yield* page.events;
    since = page.next;
    if (!page.more) await delay(pauseMs, undefined, { signal }).catch(() => undefined);
  }
}

function askedIn({ agent, run, startedBy, tag = [], type = [], since, limit = 100 }: FeedQuery, { caller }: HoldfastClient): PageAsked {
  const fits = async (entry: FeedEntry): Promise<boolean> => {
    if (agent !== undefined && entry.agent !== agent) return false;
    if (run !== undefined && entry.run !== run) return false;
    if (startedBy !== undefined && entry.startedBy !== startedBy) return false;
    if (!tag.every((one) => entry.tags.includes(one))) return false;
    if (type.length > 0 && !type.includes(entry.event.type)) return false;
    return caller?.mayWith === undefined || (await caller.mayWith('runs:read', { ...entry, id: entry.run })) === true;
  };
  return { since, limit, fits };
}

function frameOf(told: FeedEvent): string {
  return `id: ${told.cursor}\nevent: ${told.event.type}\ndata: ${JSON.stringify(told)}\n\n`;
}
