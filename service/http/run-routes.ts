import { defined } from '../../contract/defined';
import type { Hono } from 'hono';
import type { z } from 'zod';
import { HoldfastError } from '../../contract/errors';
import { isEnded } from '../../contract/events';
import type { Json } from '../../contract/messages/messages';
import {
  CancelBody,
  CancelManyBody,
  EventsQuery,
  ListQuery,
  PageQuery,
  NothingGiven,
  GoOnBody,
  RetryManyBody,
  StartBody,
  TerminateBody,
  TranscriptQuery,
  UpgradeManyBody,
  count,
} from './schemas';
import type { RunOutcome } from '../../contract/service';
import type { HoldfastClient } from '../../client/index';
import type { DryRun } from '../../client/runs/dry-runs';
import type { AppParts } from '../parts';
import { inputCheck } from './asked-agent';
import { eachOf } from './bulk';
import { current } from './current';
import { costOf } from '../../contract/prices';
import { eventStream } from './event-stream';
import { parse } from './parse-request';
import type { Operation } from './routes';
import { Routes, events, ok } from './routes';

/** A busy run must not keep other runs of a bulk upgrade from moving. */
const upgradeTimeout = '20s';

const outcomes = ok('RunOutcomes', 'What became of each. Without an error it is done, and with `dryRun` it could be.');

export function runRoutes(parts: AppParts): Hono {
  const eachRun = async (
    client: HoldfastClient,
    ids: readonly string[],
    act: (id: string) => Promise<unknown>,
  ): Promise<readonly RunOutcome[]> => {
    const failed = await eachOf(ids, act, { ...parts, client });
    return ids.map((id, at) => ({ id, ...defined({ error: failed[at] }) }));
  };
  const start: Operation<StartBody, unknown, 'Started'> = {
    may: 'runs:start',
    summary: 'Starts a run. The same id with the same agent and input is the same run.',
    body: StartBody,
    answers: { 201: { says: 'The run is new.', name: 'Started' }, ...ok('Started', 'The run was there.') },
  };
  const follow: Operation<unknown, z.infer<typeof EventsQuery>> = {
    may: 'runs:read',
    summary: 'Follows the log of a run. The header Last-Event-ID goes on behind an event.',
    query: EventsQuery,
    headers: { 'Last-Event-ID': 'The offset of the last event that the reader has. It goes before `from`.' },
    answers: {
      200: { says: 'Each event with its offset as id.', type: events },
      204: { says: 'The reader has all of a run that has ended.' },
    },
  };
  const call = ok('RunCall', 'The call. Of a long request the last messages, or those before a position.');

  return new Routes('Runs')
    .add('POST /', start, async ({ body, context, client }) => {
      const { agent, input, ...options } = body;
      inputCheck(parts, agent, options.options)(input as Json | undefined);
      const run = await client.start(agent, input as Json, defined(options));
      const { id, isNew, ignored } = run;
      return context.json({ id, isNew, agent, ...(ignored.length === 0 ? {} : { ignored }) }, isNew ? 201 : 200);
    })
    .add(
      'GET /',
      { may: 'runs:read', summary: 'Lists runs, newest first.', query: ListQuery, answers: ok('RunPage', 'A page of runs.') },
      async ({ query, client }) => {
        const page = await client.list(defined(query));
        const noWorker = page.runs.some(({ status }) => status === 'running') ? await client.noWorker() : undefined;
        return { ...page, ...defined({ noWorker }) };
      },
    )
    .add(
      'POST /cancel',
      { may: 'runs:control', summary: 'Asks many runs to stop.', body: CancelManyBody, answers: outcomes },
      async ({ body, client }) => {
        const { ids, dryRun = false, ...how } = body;
        return {
          outcomes: await eachRun(client, ids, (id) => (dryRun ? client.dryRun(id, 'cancel') : client.run(id).cancel(defined(how)))),
        };
      },
    )
    .add(
      'POST /retry',
      { may: 'runs:control', summary: 'Goes on with many runs that have failed.', body: RetryManyBody, answers: outcomes },
      async ({ body, client }) => {
        const { ids, dryRun = false, ...how } = body;
        const retry = (id: string): Promise<unknown> =>
          dryRun ? client.dryRun(id, 'retry', defined(how)) : client.run(id).retry(defined(how));
        return { outcomes: await eachRun(client, ids, retry) };
      },
    )
    .add(
      'POST /upgrade',
      { may: 'runs:control', summary: 'Moves many runs to the newest build.', body: UpgradeManyBody, answers: outcomes },
      async ({ body, client }) => {
        const { ids, dryRun = false } = body;
        const found = new Map<string, DryRun>();
        const upgrade = async (id: string): Promise<void> => {
          found.set(id, await (dryRun ? client.dryRun(id, 'upgrade') : client.run(id).upgrade({ timeout: upgradeTimeout })));
        };
        const upgraded = await eachRun(client, ids, upgrade);
        return { outcomes: upgraded.map((outcome) => ({ ...found.get(outcome.id), ...outcome })) };
      },
    )
    .add('GET /:id', { may: 'runs:read', summary: 'Shows a run.', answers: ok('Run', 'How it stands.') }, async ({ id, client }) => {
      const { messages: _, ...view } = await client.run(id).view();
      const noWorker = view.status === 'running' ? await client.noWorker() : undefined;
      return { ...view, ...defined({ cost: costOf(view, current(parts.prices) ?? {}), noWorker }) };
    })
    .add(
      'GET /:id/transcript',
      {
        may: 'runs:read',
        summary: 'Reads the messages of a run.',
        query: TranscriptQuery,
        answers: ok('Messages', 'The messages, in the shape that was asked for.'),
      },
      async ({ id, query, client }) => ({
        messages: (await client.run(id).transcript({ shape: 'parts', ...defined(query) })) as readonly Json[],
      }),
    )
    .add(
      'GET /:id/interrupts',
      { may: 'runs:read', summary: 'Lists what a run waits for.', answers: ok('Interrupts', 'Open interrupts.') },
      async ({ id, client }) => ({ interrupts: await client.run(id).interrupts() }),
      'Interrupts',
    )
    .add(
      'GET /:id/calls/:address',
      {
        may: 'runs:read',
        summary: 'Shows what a model or a tool was asked in one call, and what came back.',
        query: PageQuery,
        answers: call,
      },
      ({ id, address, query, client }) => client.run(id).call(address, defined(query)),
    )
    .add(
      'GET /:id/executions',
      {
        may: 'runs:read',
        summary: 'Lists the executions that a run has gone through in Temporal, with their builds.',
        answers: ok('RunExecutions', 'The executions, the oldest first.'),
      },
      ({ id, client }) => client.run(id).executions(),
    )
    .add('GET /:id/events', follow, async ({ id, query, context, client, isKnown }) => {
      const { from = 0, until = 'end', deltas = true } = query;
      const header = context.req.header('last-event-id');
      const comesBack = header !== undefined && header !== '';
      const offset = comesBack ? parse(count, header, 'Last-Event-ID') + 1 : from;
      const run = client.run(id);
      const view = await run.view();
      if (offset > view.nextOffset)
        throw new HoldfastError(
          'request-invalid',
          `${comesBack ? `Last-Event-ID is ${header}` : `from is ${from}`}, and the next event of this run has the offset ${view.nextOffset}: it is of another run. Begin without it.`,
        );
      // A browser's EventSource returns after each end of a stream, unless the answer is 204.
      if (header !== undefined && offset >= view.nextOffset && isEnded(view.status)) return context.body(null, 204);
      return eventStream((signal) => run.events({ from: offset, until, signal, deltas }), { ...parts, isKnown });
    })
    .change('cancel', { may: 'runs:control', summary: 'Asks a run to stop.', body: CancelBody }, ({ id, body, client }) =>
      client.run(id).cancel(defined(body)),
    )
    .change('resume', { may: 'runs:control', summary: 'Lets a cancelled run go on.', body: GoOnBody }, ({ id, body, client }) =>
      client.run(id).resume(defined(body)),
    )
    .change('retry', { may: 'runs:control', summary: 'Goes on with a run that has failed.', body: GoOnBody }, ({ id, body, client }) =>
      client.run(id).retry(defined(body)),
    )
    .change(
      'terminate',
      { may: 'runs:control', summary: 'Ends a run at once, without its code.', body: TerminateBody },
      ({ id, body: { reason }, client }) => client.run(id).terminate(reason),
    )
    .add(
      'POST /:id/upgrade',
      {
        may: 'runs:control',
        summary: 'Moves a run to the newest build.',
        body: NothingGiven,
        answers: ok('Upgraded', 'Its build, and whether it moved.'),
      },
      async ({ id, client }) => ({ id, ...(await client.run(id).upgrade()) }),
    ).app;
}
