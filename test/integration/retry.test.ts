import { tsToMs } from '@temporalio/common/lib/time';
import type { LanguageModel } from '../../activities/models/models';
import type { Run } from '../../client/run';
import type { Delta } from '../../contract/deltas';
import type { RunEvent } from '../../contract/events';
import { textOf } from '../../contract/messages/messages';
import { names } from '../../contract/names';
import { fixtureTools } from '../fixtures/tools';
import { gate } from '../support/gate';
import type { AskedModel, Said } from '../support/streaming-model';
import { broken, modelsSaying } from '../support/streaming-model';
import type { Temporal } from '../support/temporal';
import { openTemporal } from '../support/temporal';
import type { TestBed } from '../support/test-bed';
import { startTestBed } from '../support/test-bed';

/** Events in short, without what differs from run to run. */
function line(event: RunEvent | Delta): string {
  switch (event.type) {
    case 'text-delta':
      return `delta ${event.text}`;
    case 'model-end':
      return `model-end ${textOf(event.message)}`;
    case 'model-retry':
      return `model-retry ${event.attempt} ${event.error.code}${event.failover === undefined ? '' : ` ${event.failover.model}`}`;
    case 'run-end':
      return `run-end ${event.status}`;
    default:
      return event.type;
  }
}

async function linesOf(
  run: Run,
  options: Parameters<Run['events']>[0] = {},
  onLine: (line: string) => void = () => undefined,
): Promise<readonly string[]> {
  const lines: string[] = [];
  for await (const event of run.events(options)) {
    lines.push(line(event));
    onLine(line(event));
  }
  return lines;
}

/** Where the first call waits until its reader has seen something of it. What ends before is read from the history, which has no deltas. */
function seen(): { readonly door: Promise<void>; readonly onLine: (line: string) => void } {
  const { pass, open } = gate();
  return { door: pass(), onLine: (line) => (line.startsWith('delta ') ? open() : undefined) };
}

describe('an agent that makes calls again', () => {
  let bed: TestBed;
  let temporal: Temporal;
  let model: AskedModel;
  let scripts: Readonly<Record<string, readonly (readonly Said[])[]>> = {};
  beforeAll(async () => {
    temporal = await openTemporal();
    bed = await startTestBed(() => ({ parts: [] }), {
      tools: fixtureTools,
      models: { providers: { test: { model: (name: string) => latest(name) } } },
    });
  });
  afterAll(async () => {
    await bed.close();
    await temporal.close();
  });

  // The worker keeps the model that it got for a name.
  const latest = (name: string): LanguageModel => ({
    generate: async (request) => (await model.model(name)).generate(request),
    async *stream(request) {
      const { stream } = await model.model(name);
      if (stream !== undefined) yield* stream(request);
    },
  });

  /** Starts a run whose models say this, call by call. */
  const start = (agent: string, said: typeof scripts, options: { stream?: boolean } = {}): Promise<Run> => {
    scripts = said;
    model = modelsSaying((name) => scripts[name] ?? []);
    return bed.client.start(agent, 'Hi', options);
  };
  const attemptsOf = async (run: Run): Promise<readonly number[]> => {
    const { events } = await temporal.handle(run.id).fetchHistory();
    const models = (events ?? []).filter((event) => event.activityTaskScheduledEventAttributes?.activityType?.name === 'callModel');
    return (events ?? []).flatMap(({ activityTaskStartedEventAttributes: started }) =>
      models.some(({ eventId }) => eventId != null && started?.scheduledEventId?.equals(eventId)) ? [started?.attempt ?? 0] : [],
    );
  };

  it('waits with timers between calls of one attempt each, and shows what does not count as void', async () => {
    const { door, onLine } = seen();
    const run = await start('tries', { model: [['One', door, broken()], ['Two', broken()], ['Good.']] });
    expect(await linesOf(run, {}, onLine)).toEqual([
      'run-start',
      ...['model-start', 'attempt-start', 'delta One', 'attempt-void', 'model-retry 0 model-failed'],
      ...['model-start', 'attempt-start', 'delta Two', 'attempt-void', 'model-retry 1 model-failed'],
      ...['model-start', 'attempt-start', 'delta Good.', 'model-end Good.', 'run-end completed'],
    ]);
    expect(await attemptsOf(run)).toEqual([1, 1, 1]);
    const { events } = await temporal.handle(run.id).fetchHistory();
    const waits = (events ?? []).flatMap(({ timerStartedEventAttributes: timer }) =>
      timer == null ? [] : [timer.startToFireTimeout?.nanos],
    );
    expect(waits).toEqual([20_000_000, 40_000_000]);
    // Nobody asks about half answers here, so none is in the history.
    expect(JSON.stringify(events?.map((event) => decoded(event.activityTaskCompletedEventAttributes?.result)))).not.toContain('One');
  });

  it('has the same durable events when it does not stream', async () => {
    const run = await start('tries', { model: [[broken()], ['Good.']] }, { stream: false });
    expect(await linesOf(run)).toEqual([
      ...['run-start', 'model-start', 'model-retry 0 model-failed', 'model-start', 'model-end Good.', 'run-end completed'],
    ]);
  });

  it('fails when no retry is left', async () => {
    const run = await start('tries', { model: [['a', broken()], [broken()], ['b', broken('The end.')]] });
    const lines = await linesOf(run);
    expect(lines.slice(-4)).toEqual(['attempt-start', 'delta b', 'attempt-void', 'run-end failed']);
    expect(await run.outcome()).toMatchObject({
      error: { code: 'model-retries-exhausted', message: expect.stringMatching(/in 3 calls\. .*The end\./) as string },
    });
  });

  it('shows to shouldRetry what was said, whole or half, and persists what it changes', async () => {
    const { door, onLine } = seen();
    const run = await start('choosy', { model: [['Half', door, broken()], ['Bad ', 'idea.'], ['Good.']] });
    const lines = await linesOf(run, {}, onLine);
    expect(lines.filter((text) => !text.startsWith('delta'))).toEqual([
      'run-start',
      ...['model-start', 'attempt-start', 'attempt-void', 'model-retry 0 model-failed'],
      ...['model-start', 'attempt-start', 'attempt-void', 'model-retry 1 model-response-rejected'],
      ...['model-start', 'attempt-start', 'model-end Good.', 'run-end completed'],
    ]);
    const reasons: unknown[] = [];
    for await (const event of run.events({ deltas: false })) if (event.type === 'model-retry') reasons.push(event.rejectReason);
    expect(reasons).toEqual([
      { said: 'Half', failed: 'The line is dead.' },
      { said: 'Bad idea.', failed: null },
    ]);
    expect((await run.transcript()).map(textOf)).toEqual(['Hi', 'Not: Half', 'Not: Bad idea.', 'Good.']);
    expect(model.asked.map(({ settings }) => settings.temperature)).toEqual([undefined, 0, 0]);
  });

  it('voids a rejected answer, and tells of it, before the run ends without another one', async () => {
    const run = await start('choosy', { model: [['Bad 1'], ['Bad 2'], ['Bad 3']] });
    const last = ['attempt-start', 'delta Bad 3', 'attempt-void', 'model-retry 2 model-response-rejected', 'run-end failed'];
    expect((await linesOf(run)).slice(-5)).toEqual(last);
  });

  it('asks another model when one has no retries left', async () => {
    const run = await start('turns', { model: [['a', broken()], [broken()]], other: [['Good.']] });
    expect((await linesOf(run, { deltas: false })).filter((text) => text !== 'model-start')).toEqual([
      ...[
        'run-start',
        'model-retry 0 model-failed',
        'model-retry 1 model-retries-exhausted test/other',
        'model-end Good.',
        'run-end completed',
      ],
    ]);
    expect(model.names).toEqual(['model', 'model', 'other']);
  });

  it('goes on as new in a backoff, and waits only for the rest of it', async () => {
    const run = await start('patient', { model: [['Half', broken()], ['Good.']] });
    const before = await temporal.executionOf(run.id);
    let began = 0;
    for await (const event of run.events()) {
      if (event.type !== 'model-retry') continue;
      began = event.time;
      break;
    }
    await temporal.handle(run.id).signal(names.continueAsNewSignal);
    await temporal.untilAnotherExecution(run.id, before);
    expect(model.asked).toHaveLength(1);
    expect((await linesOf(run)).slice(-3)).toEqual(['delta Good.', 'model-end Good.', 'run-end completed']);
    const starts: number[] = [];
    for await (const event of run.events({ deltas: false })) if (event.type === 'model-start') starts.push(event.time);
    expect((starts[1] ?? 0) - began).toBeGreaterThan(5900);
    // The timer of the new execution: six seconds but for what had passed.
    const { events } = await temporal.handle(run.id).fetchHistory();
    const waits = (events ?? []).flatMap(({ timerStartedEventAttributes }) => timerStartedEventAttributes?.startToFireTimeout ?? []);
    expect(waits).toHaveLength(1);
    const [rest] = waits.map(tsToMs);
    expect(rest).toBeLessThan(6000);
    expect(model.asked).toHaveLength(2);
  });

  it('goes on as new while a wrap of the second attempt waits for a person', async () => {
    const run = await start('careful', { model: [[broken()], ['Good.']] });
    const before = await temporal.executionOf(run.id);
    await linesOf(run, { until: 'waiting' });
    await temporal.handle(run.id).signal(names.continueAsNewSignal);
    await temporal.untilAnotherExecution(run.id, before);
    const [interrupt] = await run.interrupts();
    await run.resume(interrupt?.id ?? '', true);
    expect(await run.outcome()).toMatchObject({ status: 'completed', output: 'Good.' });
    expect(model.asked).toHaveLength(2);
  });

  it('is cancelled in a backoff, and in a stream, without another call', async () => {
    const resting = await start('patient', { model: [[broken()], ['Never.']] });
    for await (const event of resting.events()) if (event.type === 'model-retry') break;
    await resting.cancel();
    expect((await resting.outcome()).status).toBe('cancelled');
    expect(model.asked).toHaveLength(1);
    const never = gate();
    const streaming = await start('choosy', { model: [['Bad half', never.pass()], ['Never.']] });
    await never.reached;
    for await (const event of streaming.events()) if (event.type === 'text-delta') break;
    await streaming.cancel();
    expect((await linesOf(streaming)).slice(-2)).toEqual(['model-end Bad half', 'run-end cancelled']);
    expect(model.asked).toHaveLength(1);
    never.open();
  });
});

function decoded(result: { payloads?: { data?: Uint8Array | null }[] | null } | null | undefined): readonly string[] {
  return (result?.payloads ?? []).map(({ data }) => Buffer.from(data ?? []).toString('utf8'));
}
