import { tsToMs } from '@temporalio/common/lib/time';
import type { LanguageModel } from '../../activities/models/language-model';
import type { Run } from '../../client/runs/run';
import { gate } from '../support/gate';
import { logOf } from '../support/server-logs';
import { sharedBed } from '../support/shared-bed';
import { shownLines } from '../support/shown-lines';
import type { AskedModel } from '../support/streaming-model';
import { broken, sayingModel } from '../support/streaming-model';

/** Holds the first call until a reader has seen a piece, because ended calls have no deltas. */
function seen(): { readonly door: Promise<void>; readonly onLine: (line: string) => void } {
  const { pass, open } = gate();
  return { door: pass(), onLine: (line) => (line.startsWith('text-delta ') ? open() : undefined) };
}

describe('an agent that makes calls again', () => {
  const bed = sharedBed();
  const start = (model: AskedModel, agent: string): Promise<Run> => bed.scripted(model.model('') as LanguageModel).start(agent, 'Hi');
  const attemptsOf = async (run: Run): Promise<readonly number[]> => {
    const { events } = await bed.temporal.handle(run.id).fetchHistory();
    const models = (events ?? []).filter((event) => event.activityTaskScheduledEventAttributes?.activityType?.name === 'callModel');
    return (events ?? []).flatMap(({ activityTaskStartedEventAttributes: started }) =>
      models.some(({ eventId }) => eventId != null && started?.scheduledEventId?.equals(eventId)) ? [started?.attempt ?? 0] : [],
    );
  };

  it('waits with timers between calls of one attempt each, and shows what does not count as void', async () => {
    const { door, onLine } = seen();
    const run = await start(sayingModel(['One', door, broken()], ['Two', broken()], ['Good.']), 'tries');
    expect(await shownLines(run, onLine)).toEqual([
      'run-start',
      ...['model-start', 'attempt-start 1', 'text-delta One', 'attempt-void 1', 'model-retry 0 model-failed'],
      ...['model-start', 'attempt-start 1', 'text-delta Two', 'attempt-void 1', 'model-retry 1 model-failed'],
      ...['model-start', 'attempt-start 1', 'text-delta Good.', 'model-end Good.', 'run-end completed'],
    ]);
    expect(await attemptsOf(run)).toEqual([1, 1, 1]);
    const { events } = await bed.temporal.handle(run.id).fetchHistory();
    const waits = (events ?? []).flatMap(({ timerStartedEventAttributes: timer }) =>
      timer == null ? [] : [timer.startToFireTimeout?.nanos],
    );
    expect(waits).toEqual([20_000_000, 40_000_000]);
    expect(JSON.stringify(events?.map((event) => decoded(event.activityTaskCompletedEventAttributes?.result)))).not.toContain('One');
  });

  it('goes on as new in a backoff, and waits only for the rest of it', async () => {
    const model = sayingModel(['Half', broken()], ['Good.']);
    const run = await start(model, 'patient');
    let began = 0;
    for await (const event of run.events()) {
      if (event.type !== 'model-retry') continue;
      began = event.time;
      break;
    }
    await bed.temporal.goOnAsNew(run.id);
    expect(model.asked).toHaveLength(1);
    expect((await shownLines(run)).slice(-3)).toEqual(['text-delta Good.', 'model-end Good.', 'run-end completed']);
    const starts = (await logOf(run)).flatMap((event) => (event.type === 'model-start' ? [event.time] : []));
    expect((starts[1] ?? 0) - began).toBeGreaterThan(5900);
    const { events } = await bed.temporal.handle(run.id).fetchHistory();
    const waits = (events ?? []).flatMap(({ timerStartedEventAttributes }) => timerStartedEventAttributes?.startToFireTimeout ?? []);
    expect(waits).toHaveLength(1);
    const [rest] = waits.map(tsToMs);
    expect(rest).toBeLessThan(6000);
    expect(model.asked).toHaveLength(2);
  });
});

function decoded(result: { payloads?: { data?: Uint8Array | null }[] | null } | null | undefined): readonly string[] {
  return (result?.payloads ?? []).map(({ data }) => Buffer.from(data ?? []).toString('utf8'));
}
