import type { Hono } from 'hono';
import { defined } from '../../contract/defined';
import type { AppParts } from '../parts';
import { askedAgent } from './asked-agent';
import { Routes, done, ok } from './routes';
import { BackfillBody, PauseBody, ScheduleBody } from './schemas';

export function scheduleRoutes(parts: AppParts): Hono {
  const routes = new Routes('Schedules')
    .add(
      'GET /',
      { may: 'runs:read', summary: 'Lists the schedules.', answers: ok('Schedules', 'All schedules, by name.') },
      async ({ client }) => ({ schedules: await client.schedules.list() }),
    )
    .add(
      'GET /:name',
      { may: 'runs:read', summary: 'Shows a schedule.', answers: ok('Schedule', 'The schedule, with its start.') },
      ({ name, client }) => client.schedules.get(name),
    )
    .add(
      'POST /:name',
      { may: 'runs:start', summary: 'Makes or changes a schedule.', body: ScheduleBody, answers: ok('Schedule', 'The schedule.') },
      ({ name, body, client }) => {
        askedAgent(parts, body.start.agent, undefined);
        return client.schedules.set(name, defined({ ...body, start: defined(body.start) }));
      },
    )
    .add(
      'POST /:name/pause',
      { may: 'runs:control', summary: 'Pauses a schedule.', body: PauseBody, answers: done },
      async ({ name, body: { note }, client }) => {
        await client.schedules.pause(name, note);
        return { id: name };
      },
    )
    .add(
      'POST /:name/backfill',
      {
        may: 'runs:control',
        summary: 'Starts the runs of past times.',
        body: BackfillBody,
        answers: ok('Backfill', 'The number of times.'),
      },
      ({ name, body, client }) => client.schedules.backfill(name, body),
    );
  const acts = [
    ['POST /:name/resume', 'Ends the pause of a schedule.', 'resume'],
    ['POST /:name/run', 'Starts a run of a schedule now.', 'runNow'],
    ['DELETE /:name', 'Deletes a schedule.', 'delete'],
  ] as const;
  for (const [route, summary, act] of acts)
    routes.add(route, { may: 'runs:control', summary, answers: done }, async ({ name, client }) => {
      await client.schedules[act](name);
      return { id: name };
    });
  return routes.app;
}
