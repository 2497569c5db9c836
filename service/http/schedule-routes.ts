import type { Hono } from 'hono';
import { defined } from '../../contract/defined';
import type { AppParts } from '../parts';
import { askedAgent } from './asked-agent';
import { Routes, done, ok } from './routes';
import { BackfillBody, PauseBody, ScheduleBody } from './schemas';

export function scheduleRoutes(parts: AppParts): Hono {
  return new Routes('Schedules')
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
      'POST /:name/resume',
      { may: 'runs:control', summary: 'Ends the pause of a schedule.', answers: done },
      async ({ name, client }) => {
        await client.schedules.resume(name);
        return { id: name };
      },
    )
    .add(
      'POST /:name/run',
      { may: 'runs:control', summary: 'Starts a run of a schedule now.', answers: done },
      async ({ name, client }) => {
        await client.schedules.runNow(name);
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
    )
    .add('DELETE /:name', { may: 'runs:control', summary: 'Deletes a schedule.', answers: done }, async ({ name, client }) => {
      await client.schedules.delete(name);
      return { id: name };
    }).app;
}
