import { defined } from '../../contract/defined';
import { Hono } from 'hono';
import { HoldfastError } from '../../contract/errors';
import type { RunView } from '../../contract/events';
import { isEnded } from '../../contract/events';
import type { Json } from '../../contract/messages/messages';
import { messagesOfInput } from '../../contract/messages/messages';
import {
  CallQuery,
  CancelBody,
  CancelManyBody,
  EventsQuery,
  LastEventId,
  ListQuery,
  NoBody,
  NoQuery,
  ResumeRunBody,
  RetryBody,
  RetryManyBody,
  StartBody,
  TerminateBody,
  TranscriptQuery,
  UpgradeManyBody,
} from './schemas';
import type { RunOutcome } from '../../contract/service';
import type { DryRun } from '../../client/dry-runs';
import type { Run } from '../../client/index';
import { checkJob } from '../../client/job-fit';
import type { ServiceParts } from './app';
import { askedAgent } from './asked-agent';
import { eachOf } from './bulk';
import { costOf } from '../../contract/prices';
import { eventStream } from './event-stream';
import { parse, parseBody, parseQuery } from './parse-request';
import { pricesIn } from './prices-in';

const heartbeatMs = 15_000;
/** Of many runs each waits so long at most: one that is busy must not keep the others from moving. */
const upgradeTimeout = '20s';

/** Starting, finding, following and cancelling runs. */
export function runRoutes(parts: ServiceParts): Hono {
  const { client, closing } = parts;
  const routes = new Hono();
  const eachRun = async (ids: readonly string[], act: (id: string) => Promise<unknown>): Promise<readonly RunOutcome[]> => {
    const failed = await eachOf(ids, act, parts);
    return ids.map((id, at) => ({ id, ...defined({ error: failed[at] }) }));
  };

  routes.post('/', async (context) => {
    const { agent, input, ...options } = await parseBody(context, StartBody);
    const asked = askedAgent(parts, agent, options.options);
    if (!asked.takesJob && messagesOfInput(input as Json) === undefined)
      throw new HoldfastError('input-invalid', `The agent "${agent}" takes a text, or a list of messages.`);
    if (asked.inputSchema !== undefined && input !== undefined) checkJob(agent, asked.inputSchema, input as Json);
    const run = await client.start(agent, input as Json, defined(options));
    const { ignored } = run;
    return context.json({ id: run.id, isNew: run.isNew, agent, ...(ignored.length === 0 ? {} : { ignored }) }, run.isNew ? 201 : 200);
  });

  routes.get('/', async (context) => {
    const page = await client.list(defined(parseQuery(context, ListQuery, ['tag'])));
    const noWorker = page.runs.some(({ status }) => status === 'running') ? await client.noWorker() : undefined;
    return context.json({ ...page, ...defined({ noWorker }) });
  });

  routes.post('/cancel', async (context) => {
    const { ids, dryRun = false, ...how } = await parseBody(context, CancelManyBody);
    return context.json({
      outcomes: await eachRun(ids, (id) => (dryRun ? client.dryRun(id, 'cancel') : client.run(id).cancel(defined(how)))),
    });
  });

  routes.post('/retry', async (context) => {
    const { ids, dryRun = false, ...how } = await parseBody(context, RetryManyBody);
    const retry = (id: string): Promise<unknown> =>
      dryRun ? client.dryRun(id, 'retry', defined(how)) : client.run(id).retry(defined(how));
    return context.json({ outcomes: await eachRun(ids, retry) });
  });

  routes.post('/upgrade', async (context) => {
    const { ids, dryRun = false } = await parseBody(context, UpgradeManyBody);
    const found = new Map<string, DryRun>();
    const upgrade = async (id: string): Promise<void> => {
      found.set(id, await (dryRun ? client.dryRun(id, 'upgrade') : client.run(id).upgrade({ timeout: upgradeTimeout })));
    };
    const outcomes = await eachRun(ids, upgrade);
    return context.json({ outcomes: outcomes.map((outcome) => ({ ...found.get(outcome.id), ...outcome })) });
  });

  routes.get('/:id', async (context) => {
    parseQuery(context, NoQuery);
    const view = await client.run(context.req.param('id')).view();
    const noWorker = view.status === 'running' ? await client.noWorker() : undefined;
    return context.json({ ...shown(view), ...defined({ cost: costOf(view, pricesIn(parts)), noWorker }) });
  });

  routes.get('/:id/transcript', async (context) => {
    const { shape = 'parts' } = parseQuery(context, TranscriptQuery);
    return context.json({ messages: await client.run(context.req.param('id')).transcript({ shape }) });
  });

  routes.get('/:id/interrupts', async (context) => {
    parseQuery(context, NoQuery);
    return context.json({ interrupts: await client.run(context.req.param('id')).interrupts() });
  });

  routes.get('/:id/calls/:address', async (context) => {
    const wanted = parseQuery(context, CallQuery);
    return context.json(await client.run(context.req.param('id')).call(context.req.param('address'), defined(wanted)));
  });

  routes.get('/:id/executions', async (context) => {
    parseQuery(context, NoQuery);
    return context.json(await client.run(context.req.param('id')).executions());
  });

  routes.get('/:id/events', async (context) => {
    const { from = 0, until = 'end', deltas = true } = parseQuery(context, EventsQuery);
    const header = context.req.header('last-event-id');
    const comesBack = header !== undefined && header !== '';
    const offset = comesBack ? parse(LastEventId, header, 'Last-Event-ID') + 1 : from;
    const run = client.run(context.req.param('id'));
    const view = await run.view();
    if (offset > view.nextOffset)
      throw new HoldfastError(
        'request-invalid',
        `${comesBack ? `Last-Event-ID is ${header}` : `from is ${from}`}, and the next event of this run has the offset ${view.nextOffset}: it is of another run. Begin without it.`,
      );
    // A browser's EventSource comes back whenever a stream ends, unless it is told that there is nothing more.
    if (header !== undefined && offset >= view.nextOffset && isEnded(view.status)) return context.body(null, 204);
    return eventStream((signal) => run.events({ from: offset, until, signal, deltas }), {
      heartbeatMs: parts.heartbeatMs ?? heartbeatMs,
      closing: closing ?? new AbortController().signal,
      logger: parts.logger,
    });
  });

  routes.post('/:id/cancel', async (context) => {
    const body = await parseBody(context, CancelBody);
    const run: Run = client.run(context.req.param('id'));
    await run.cancel(defined(body));
    return context.json({ id: run.id });
  });

  routes.post('/:id/resume', async (context) => {
    const body = await parseBody(context, ResumeRunBody);
    const run: Run = client.run(context.req.param('id'));
    await run.resume(defined(body));
    return context.json({ id: run.id });
  });

  routes.post('/:id/upgrade', async (context) => {
    await parseBody(context, NoBody);
    const run: Run = client.run(context.req.param('id'));
    return context.json({ id: run.id, ...(await run.upgrade()) });
  });

  routes.post('/:id/retry', async (context) => {
    const body = await parseBody(context, RetryBody);
    const run: Run = client.run(context.req.param('id'));
    await run.retry(defined(body));
    return context.json({ id: run.id });
  });

  routes.post('/:id/terminate', async (context) => {
    const { reason } = await parseBody(context, TerminateBody);
    const run: Run = client.run(context.req.param('id'));
    await run.terminate(reason);
    return context.json({ id: run.id });
  });
  return routes;
}

/** The view without the messages, which have a route of their own. */
function shown(view: RunView): Omit<RunView, 'messages'> {
  const { messages: _, ...rest } = view;
  return rest;
}
