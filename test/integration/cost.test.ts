import { temporal as protocol } from '@temporalio/proto';
import type { Temporal } from '../support/temporal';
import { openTemporal } from '../support/temporal';
import type { TestBed } from '../support/test-bed';
import { calls, script, startTestBed, text } from '../support/test-bed';

const turns = 20;
const { EventType } = protocol.api.enums.v1;

/** Events that stand for an action of Temporal Cloud. Local activities of one workflow task are one action, so markers count too many. */
const billed: readonly (keyof typeof EventType)[] = [
  'EVENT_TYPE_WORKFLOW_EXECUTION_STARTED',
  'EVENT_TYPE_ACTIVITY_TASK_SCHEDULED',
  'EVENT_TYPE_TIMER_STARTED',
  'EVENT_TYPE_MARKER_RECORDED',
  'EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES',
  'EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED',
  'EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED',
  'EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED',
];

/** What a run of so many turns may cost: what it costs today, and a little for the server's own moments. Whoever makes it dearer says why. */
describe('a run of twenty turns with a tool each', () => {
  let temporal: Temporal;
  let bed: TestBed;
  let events: readonly protocol.api.history.v1.IHistoryEvent[] = [];
  beforeAll(async () => {
    temporal = await openTemporal();
    const echo = calls({ name: 'echo', input: { text: 'hello' } });
    bed = await startTestBed(script(...Array.from({ length: turns }, () => echo), text('Done.')));
    const run = await bed.client.start('plain', 'Go.');
    await run.result();
    ({ events = [] } = (await temporal.handle(run.id).fetchHistory()) as { events?: typeof events });
  });
  afterAll(async () => {
    await bed.close();
    await temporal.close();
  });

  it('has at most 13 events a turn in its history, its start and end among them', () => {
    expect(events.length / turns).toBeLessThan(13);
  });

  it('takes at most 2.2 actions a turn, as Temporal Cloud bills them', () => {
    const actions = events.filter(({ eventType }) => billed.some((name) => EventType[name] === eventType));
    expect(actions.length / turns).toBeLessThan(2.2);
  });

  it('has at most 2.8 KB a turn, where the model and the tool say next to nothing', () => {
    const bytes = events.reduce((sum, event) => sum + protocol.api.history.v1.HistoryEvent.encode(event).finish().length, 0);
    expect(bytes / turns / 1024).toBeLessThan(2.8);
  });
});
