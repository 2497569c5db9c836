import type { ScheduleSpec } from '../../../contract/schedules';
import { actOf, applySchedule, changeOf, stateAfter } from '../../../client/schedules/apply-schedules';
import { cronExpressions, cronProblem } from '../../../client/schedules/cron';
import type { WantedSchedule } from '../../../client/schedules/schedule-spec';
import { problemOfSchedule, wantedSchedule } from '../../../client/schedules/schedule-spec';
import type { NextSchedule, StoredSchedule } from '../../../client/schedules/schedule-server';

const start = { agent: 'support', input: 'Close' };
const owner = { tenant: 'acme', taskQueue: 'queue' };
const wantedOf = (spec: Partial<ScheduleSpec> = {}): WantedSchedule =>
  wantedSchedule('night', { cron: '0 2 * * *', start, ...spec }, owner, { source: 'config' });

describe('a cron text', () => {
  it.each([
    ['0 2 * * *', ['0 2 * * *']],
    ['  */15   8-18 * * mon-FRI ', ['*/15 8-18 * * mon-FRI']],
    ['5,10-20/5 0 1 JAN,7 *', ['5,10-20/5 0 1 JAN,7 *']],
    ['0 0 29 2 *', ['0 0 29 2 *']],
    ['0 0 * * 7', ['0 0 * * 7']],
    ['0 0 */2 * 1', ['0 0 */2 * 1']],
    ['0 0 13 * 5', ['0 0 13 * *', '0 0 * * 5']],
    ['0 0 31 2 5', ['0 0 31 2 *', '0 0 * 2 5']],
  ])('%j is taken, with both days as in cron', (text, expressions) => {
    expect(cronProblem(text)).toBeUndefined();
    expect(cronExpressions(text)).toEqual(expressions);
  });

  it.each([
    ['', 'has 1 part and needs 5'],
    ['0 2 * *', 'has 4 parts and needs 5: minute, hour, day of the month, month, day of the week'],
    ['30 0 9 * * *', 'has 6 parts and needs 5: .* because Temporal reads a sixth part as the year'],
    ['CRON_TZ=Europe/Berlin 0 9 * * *', 'has 6 parts'],
    ['@every 90s', 'has 2 parts'],
    ['60 2 * * *', 'has the minute 60. Write \\*, numbers from 0 to 59'],
    ['0 24 * * *', 'has the hour 24'],
    ['0 22-4 * * *', 'has the hour 22-4'],
    ['0 2 0 * *', 'has the day of the month 0'],
    ['0 2 L * *', 'has the day of the month L'],
    ['0 2 * FOO *', 'has the month FOO. .* names such as FEB'],
    ['0 2 * * MONDAY', 'has the day of the week MONDAY'],
    ['0 2 * * 1#2', 'has the day of the week 1#2'],
    ['*/0 * * * *', 'has the minute \\*/0'],
    ['5/15 * * * *', 'has the minute 5/15'],
    ['1,,2 * * * *', 'has the minute 1,,2'],
    ['@daily', 'has 1 part and needs 5'],
  ])('%j is refused', (text, problem) => {
    expect(cronProblem(text)).toMatch(new RegExp(problem));
  });
});

it.each<[Record<string, unknown>, string]>([
  [{}, 'needs either cron or every'],
  [{ cron: '0 2 * * *', every: '1h' }, 'needs either cron or every'],
  [{ every: '1h', zone: 'Europe/Berlin' }, 'zone belongs to cron'],
  [{ every: '9s' }, 'every must be whole seconds, and at least "10s". It is "9s"'],
  [{ every: '10500ms' }, 'whole seconds'],
  [{ every: 'often' }, 'is no duration'],
  [{ cron: '0 2 * * *', zone: 'Mars/X' }, 'zone must be the name of a time zone'],
  [{ cron: '0 2 * * *', zone: 'Europe/berlin' }, 'zone must be'],
  [{ cron: '0 2 * * *', zone: '+01:00' }, 'zone must be'],
  [{ cron: '0 2 * * *', overlap: 'queue' }, 'overlap must be "skip", "buffer-one"'],
  [{ cron: '0 2 * * *', catchUp: '1s' }, 'catchUp must be'],
  [{ cron: '0 2 * * *', note: ' ' }, 'note must be'],
  [{ cron: '0 2 * * *', crone: 1 }, 'did you mean cron?'],
  [{ cron: '0 2 * * *', start: { agent: 'a b', input: 1 } }, 'start.agent must be a name'],
  [{ cron: '0 2 * * *', start: { agent: 'a' } }, 'start.input must be anything. It is missing'],
  [{ cron: '0 2 * * *', start: { agent: 'a', input: null } }, 'The input is missing'],
  [{ cron: '0 2 * * *', start: { agent: 'a', input: 1, deadline: 'x' } }, '"x" is no duration'],
  [{ cron: '0 2 * * *', start: { agent: 'a', input: 1, id: 'x' } }, 'there is no option "start.id"'],
  [{ cron: '0 2 * * *', start: undefined }, 'needs either start or batch'],
  [{ cron: '0 2 * * *', batch: { agent: 'a', lines: () => [] } }, 'needs either start or batch'],
  ...(
    [
      [{ lines: () => [] }, 'batch.agent must be a name. It is missing'],
      [{ agent: 'a' }, 'batch.lines must be a function. It is missing'],
      [{ agent: 'a', lines: ['order'] }, 'batch.lines must be a function'],
      [{ agent: 'a', lines: () => [], concurrency: 101 }, 'batch.concurrency must be'],
      [{ agent: 'a', lines: () => [], perMinute: 0 }, 'batch.perMinute must be'],
      [{ agent: 'a', lines: () => [], tags: [''] }, 'tags must be an array of strings'],
      [{ agent: 'a', lines: () => [], id: 'x' }, 'there is no option "batch.id"'],
    ] as const
  ).map(([batch, problem]): [Record<string, unknown>, string] => [{ cron: '0 2 * * *', start: undefined, batch }, problem]),
])('the schedule %j is refused: %s', (spec, problem) => {
  expect(problemOfSchedule('night', { start, ...spec })).toContain(problem);
  expect(problemOfSchedule('every night', { cron: '0 2 * * *', start })).toContain('a name is 1 to 64 letters');
  expect(problemOfSchedule('night', { cron: '0 2 * * *', start, zone: 'US/Pacific' })).toBeUndefined();
});

it('the start of a schedule has no id, and the name of the schedule as starter and proof', () => {
  const { action, policies, spec, mark } = wantedOf({
    zone: 'Europe/Berlin',
    jitter: '1m',
    start: { ...start, tags: ['a'], deadline: '1h' },
  });
  expect(action).toMatchObject({
    workflowId: 'acme/night',
    taskQueue: 'queue',
    priority: { fairnessKey: 'acme' },
    workflowExecutionTimeout: 3_600_000,
    args: [{ start: { id: '', by: 'schedule:night', proof: 'schedule:night', agent: 'support', input: 'Close', tags: ['a'] } }],
    memo: { holdfastStart: expect.any(String), holdfastSchedule: mark },
  });
  expect(policies).toEqual({ overlap: 'SKIP', catchupWindow: 3_600_000 });
  expect(spec).toEqual({ cronExpressions: ['0 2 * * *'], timezone: 'Europe/Berlin', jitter: 60_000 });
  expect(wantedOf({ cron: undefined as never, every: '90s' }).spec).toEqual({ intervals: [{ every: 90_000 }] });
});

it('a batch of a schedule starts a batch that names the schedule, and another function is the same schedule', () => {
  const batch = { agent: 'clerk', lines: () => ['order'], perMinute: 60, tags: ['night'] };
  const wantedBatch = (more: Partial<typeof batch> = {}): WantedSchedule =>
    wantedSchedule('night', { cron: '0 2 * * *', batch: { ...batch, ...more } }, owner, { source: 'config' });
  const { action, mark } = wantedBatch();
  const head = { id: 'night', agent: 'clerk', concurrency: 20, perMinute: 60, tags: ['night'], lines: 0, hash: '', store: '', chunks: 0 };
  const author = { by: 'schedule:night', proof: 'schedule:night' };
  expect(action).toMatchObject({
    ...{ workflowType: 'agentBatch', workflowId: 'batch:acme/night', taskQueue: 'queue', priority: { fairnessKey: 'acme' } },
    args: [{ ...head, tenant: 'acme', author, queue: 'queue-batch', schedule: 'night' }],
    memo: { holdfastBatch: head, holdfastSchedule: mark },
  });
  expect(JSON.stringify(action)).not.toContain('lines":[');
  expect(wantedBatch({ lines: () => [] }).mark.hash).toBe(mark.hash);
  for (const more of [{ agent: 'other' }, { perMinute: 30 }, { tags: [] }]) expect(wantedBatch(more).mark.hash).not.toBe(mark.hash);
});

it('the hash changes with each part of the text, and with nothing else', () => {
  const texts: Partial<ScheduleSpec>[] = [
    { cron: '0 3 * * *' },
    { zone: 'Asia/Tokyo' },
    { overlap: 'allow-all' },
    { catchUp: '2h' },
    { jitter: '1m' },
    { paused: true },
    { note: 'x' },
    { start: { ...start, input: 'Open' } },
    { start: { ...start, deadline: '1h' } },
    {},
  ];
  expect(new Set(texts.map((text) => wantedOf(text).mark.hash)).size).toBe(texts.length);
  expect(wantedOf().mark.hash).toBe(wantedOf().mark.hash);
});

type State = StoredSchedule['state'];

function stored(wanted: WantedSchedule, state: Partial<State> = {}, source: 'config' | 'api' = 'config'): StoredSchedule {
  return {
    name: 'night',
    action: wanted.action as StoredSchedule['action'],
    mark: { ...wanted.mark, source },
    state: { paused: wanted.mark.paused ?? false, note: wanted.mark.note, ...state },
  } as StoredSchedule;
}

const removed = { paused: true, note: 'removed from the configuration' };

describe('a schedule of the configuration', () => {
  it.each([
    ['that is new', undefined, wantedOf(), 'made'],
    ['that is the same', stored(wantedOf()), wantedOf(), 'same'],
    ['that a person has paused', stored(wantedOf(), { paused: true, note: 'holidays' }), wantedOf(), 'same'],
    ['that has changed', stored(wantedOf()), wantedOf({ note: 'x' }), 'changed'],
    ['that is gone', stored(wantedOf()), undefined, 'paused'],
    ['that is gone, and was paused', stored(wantedOf(), { paused: true, note: 'holidays' }), undefined, 'same'],
    ['that is back', stored(wantedOf(), removed), wantedOf(), 'resumed'],
    ['that is back, as a paused one', stored(wantedOf({ paused: true }), removed), wantedOf({ paused: true }), 'same'],
    ['whose name a client has', stored(wantedOf(), {}, 'api'), wantedOf(), 'taken'],
    ['that is none, beside that of a client', stored(wantedOf(), {}, 'api'), undefined, 'same'],
    ['that is none and never was', undefined, undefined, 'same'],
  ] as const)('%s', (_, now, wanted, act) => {
    expect(actOf(now, wanted, 'queue')).toBe(act);
  });

  it('of another task queue stays', () => {
    expect(actOf(stored(wantedOf()), undefined, 'other')).toBe('same');
    expect(actOf(stored(wantedOf()), wantedOf(), 'other')).toBe('taken');
  });

  it.each([
    ['a pause by a person stays', {}, { paused: true, note: 'holidays' }, {}, { paused: true, note: 'holidays' }],
    ['a new note wins', { note: 'a' }, { paused: true, note: 'holidays' }, { note: 'b' }, { paused: true, note: 'b' }],
    ['a new pause wins', {}, {}, { paused: true }, { paused: true, note: '' }],
    ['an ended pause wins', { paused: true }, { note: 'x' }, {}, { paused: false, note: '' }],
    ['a resume by a person stays', { paused: true }, { paused: false, note: 'go' }, { paused: true }, { paused: false, note: 'go' }],
    ['a pause by the removal ends', {}, removed, { note: 'b' }, { paused: false, note: 'b' }],
  ])('%s', (_, before, state, after, expected) => {
    const change = changeOf(wantedOf(after));
    const now = stored(wantedOf(before), state);
    expect(stateAfter(now, after)).toEqual(expected);
    expect(change(now)).toEqual(change(now));
    expect(change(now).state).toEqual(expected);
  });

  it('is read again after each change, because the server drops a change that came too late', async () => {
    let now: StoredSchedule | undefined;
    let dropped = 1;
    const did: string[] = [];
    const server = {
      find: () => Promise.resolve(now),
      create: () => {
        did.push('create');
        // Another service was faster, with an earlier text.
        now = stored(wantedOf({ note: 'earlier' }));
        return Promise.resolve();
      },
      update: (_: string, next: NextSchedule) => {
        did.push('update');
        if (dropped-- > 0 || now === undefined) return Promise.resolve();
        const { action, state } = next(now) as unknown as WantedSchedule & { state: State };
        now = stored({ ...wantedOf(), action, mark: action.memo?.['holdfastSchedule'] as WantedSchedule['mark'] }, state);
        return Promise.resolve();
      },
    };
    expect(await applySchedule(server, 'night', wantedOf(), (one) => actOf(one, wantedOf(), 'queue'))).toBe('changed');
    expect(did).toEqual(['create', 'update', 'update']);
    expect(now?.mark.hash).toBe(wantedOf().mark.hash);
  });
});
