import { randomUUID } from 'node:crypto';
import type { Hono } from 'hono';
import { createLogger } from '../../host/logger';
import { createApp } from '../../service/http/app';
import { memoryStore } from '../support/memory-store';
import { sharedBed } from '../support/shared-bed';
import { eventually } from '../support/temporal';
import { text } from '../support/test-bed';

const bed = sharedBed();
const tenant = `t-${randomUUID()}`;
let app: Hono;
beforeAll(() => {
  const agents = ['plain', 'other'].map((name) => ({ name, description: 'Under test.', takesJob: false }));
  const identify = (request: Request): object | undefined => {
    const [user = '', role = ''] = (request.headers.get('x-who') ?? '').split('/');
    // A guest may do what concerns the agent `other`.
    const may = user === 'guest' ? (_: string, run: { readonly agent: string }) => run.agent === 'other' : undefined;
    return { tenant: user === 'stranger' ? 'elsewhere' : tenant, user, roles: [role], ...(may === undefined ? {} : { may }) };
  };
  const parts = { client: bed.client, agents, access: { identify: identify as never }, store: memoryStore() };
  app = createApp({ ...parts, logger: createLogger({ level: 'silent' }) });
});

async function ask(
  who: string,
  route: string,
  sent?: object,
): Promise<{ readonly status: number; readonly body: Record<string, unknown> }> {
  const [method = '', path = ''] = route.split(' ');
  const body = sent === undefined ? {} : { body: JSON.stringify(sent) };
  const response = await app.request(path, { method, headers: { 'x-who': who, 'content-type': 'application/json' }, ...body });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const spec = { cron: '0 0 1 1 *', start: { agent: 'plain', input: 'Close' } };
const refused = (code: string): object => ({ body: { error: expect.objectContaining({ code }) } });

it('who sets a schedule is kept, and who pauses it stands in the note', async () => {
  expect(await ask('ann/operator', 'POST /schedules/night', spec)).toMatchObject({
    status: 200,
    body: { name: 'night', source: 'api', setBy: 'ann', paused: false, start: spec.start, overlap: 'skip', catchUp: '1h', zone: 'UTC' },
  });
  expect(await ask('bob/operator', 'POST /schedules/night/pause', { note: 'holidays' })).toEqual({ status: 200, body: { id: 'night' } });
  expect(await ask('rea/reader', 'GET /schedules/night')).toMatchObject({ body: { paused: true, note: 'holidays (bob, identify)' } });
  expect(await ask('ann/operator', 'POST /schedules/night', { ...spec, cron: '0 0 2 1 *' })).toMatchObject({
    body: { cron: '0 0 2 1 *', paused: true },
  });
  await ask('ann/operator', 'POST /schedules/night/resume');
  expect(await ask('rea/reader', 'GET /schedules/night')).toMatchObject({ body: { paused: false } });
  await eventually(async () => expect((await ask('rea/reader', 'GET /schedules')).body['schedules']).toHaveLength(1));
});

it('the run of a schedule is a run of the person who set the schedule, so four eyes exclude the person', async () => {
  const { model } = bed.scripted(() => text('Closed.'));
  await ask('ann/operator', 'POST /schedules/now', { ...spec, start: { ...spec.start, model } });
  expect(await ask('ann/operator', 'POST /schedules/now/run')).toMatchObject({ status: 200 });
  await eventually(async () => {
    const { runs } = (await ask('rea/reader', 'GET /schedules/now')).body as { runs: readonly { id: string }[] };
    expect(await ask('rea/reader', `GET /runs/${runs[0]?.id ?? 'none'}`)).toMatchObject({
      body: { status: 'completed', output: 'Closed.', startedBy: 'ann' },
    });
  });
});

it.each([
  ['rea/reader', 'POST /schedules/x', spec, 'action-forbidden'],
  ['rea/reader', 'POST /schedules/night/pause', {}, 'action-forbidden'],
  ['ann/operator', 'POST /schedules/x', { ...spec, cron: '0 0 1 1 * *' }, 'schedule-invalid'],
  ['ann/operator', 'POST /schedules/x', { ...spec, start: { agent: 'nobody', input: 'Hi' } }, 'agent-unknown'],
  ['ann/operator', 'POST /schedules/x', { ...spec, when: 'now' }, 'request-invalid'],
  ['ann/operator', 'POST /schedules/x', { cron: spec.cron, batch: { agent: 'plain' } }, 'request-invalid'],
  ['ann/operator', 'POST /schedules/night/backfill', { since: '2027-01-01', until: '2020-01-01' }, 'request-invalid'],
  ['ann/operator', 'GET /schedules/none', undefined, 'schedule-unknown'],
  ['stranger/admin', 'GET /schedules/night', undefined, 'schedule-unknown'],
  ['stranger/admin', 'DELETE /schedules/night', undefined, 'schedule-unknown'],
  ['guest/admin', 'GET /schedules/night', undefined, 'schedule-unknown'],
  ['guest/admin', 'POST /schedules/night', { ...spec, start: { agent: 'other', input: 'Hi' } }, 'schedule-unknown'],
  ['guest/admin', 'POST /schedules/x', spec, 'schedule-unknown'],
])('%s %s is refused', async (who, route, body, code) => {
  expect(await ask(who, route, body)).toMatchObject(refused(code));
});
