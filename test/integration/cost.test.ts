import { temporal as protocol } from '@temporalio/proto';
import type { GenerateAnswer } from '../../activities/models/language-model';
import { sharedBed } from '../support/shared-bed';
import type { Answerer } from '../support/test-bed';
import { calls, script, text } from '../support/test-bed';

const turns = 20;
const { EventType } = protocol.api.enums.v1;

/**
 * Events that count as an action in Temporal Cloud's documentation. Queries, refused updates and heartbeats leave no history. Start
 * attributes, memo and workflow tasks are free.
 */
const billed: readonly (keyof typeof EventType)[] = [
  'EVENT_TYPE_WORKFLOW_EXECUTION_STARTED',
  'EVENT_TYPE_TIMER_STARTED',
  'EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES',
  'EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED',
  'EVENT_TYPE_SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED',
  'EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED',
  'EVENT_TYPE_WORKFLOW_EXECUTION_OPTIONS_UPDATED',
  // The child's own start is the second action.
  'EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED',
];

/** Every attempt of an activity is an action. */
function actionsIn(events: Events): number {
  const attempts = events.map(({ activityTaskStartedEventAttributes: started }) => started?.attempt ?? 0);
  return (
    events.filter(({ eventType }) => billed.some((name) => EventType[name] === eventType)).length +
    attempts.reduce((sum, one) => sum + one, 0)
  );
}

type Events = readonly protocol.api.history.v1.IHistoryEvent[];

const bed = sharedBed();

async function historyOf(id: string): Promise<Events> {
  return ((await bed.temporal.handle(id).fetchHistory()) as { events?: Events }).events ?? [];
}

/** Today's cost plus a little slack. A change that raises the cost must give the reason. */
describe('a run of twenty turns with a tool each', () => {
  const everyTurn = (call: GenerateAnswer): Answerer => script(...Array.from({ length: turns }, () => call), text('Done.'));
  const echoing = bed.scripted(everyTurn(calls({ name: 'echo', input: { text: 'hello' } })));

  async function played(model: typeof echoing): Promise<Events> {
    const run = await model.start('plain', 'Go.');
    await run.result();
    return historyOf(run.id);
  }

  const perTurn = (events: Events): Readonly<Record<'events' | 'actions' | 'kilobytes', number>> => ({
    events: events.length / turns,
    actions: actionsIn(events) / turns,
    kilobytes: events.reduce((sum, event) => sum + protocol.api.history.v1.HistoryEvent.encode(event).finish().length, 0) / turns / 1024,
  });

  it('has at most 13 events, 2.2 actions as Temporal Cloud bills them, and 2.8 KB a turn, where model and tool say next to nothing', async () => {
    const { events, actions, kilobytes } = perTurn(await played(echoing));
    expect(events).toBeLessThan(13);
    expect(actions).toBeLessThan(2.2);
    expect(kilobytes).toBeLessThan(2.8);
  });
});

/** Task ids grow with the server's age, so every id counts four bytes, as on a young server. */
function sizeOf(events: Events): number {
  const { HistoryEvent } = protocol.api.history.v1;
  return events.reduce((sum, event) => sum + HistoryEvent.encode({ ...event, taskId: null }).finish().length + 4, 0);
}

it('the history of a run that waits for an approval has at most 5.25 KB', async () => {
  const asking = bed.scripted(() => calls({ name: 'refund', input: { orderId: '42', amount: 80 } }));
  const run = await asking.start('guarded', 'Refund order 42.');
  await run.outcome();
  const { events } = await bed.temporal.handle(run.id).fetchHistory();
  expect(sizeOf(events ?? [])).toBeLessThan(5.25 * 1024);
});
