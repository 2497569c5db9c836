import { replayFailure } from '../../../worker/replay/replay-failure';

const violation = (said: string): Error =>
  Object.assign(new Error(`Replay failed. Details: Failure { failure: Some(Failure { message: "[TMPRL1100] ${said}", source: "" }) }`), {
    name: 'DeterminismViolationError',
  });
const history = {
  events: ['gardener/t1/model', undefined, 'gardener/t2/water.0'].map((activityId, position) => ({
    eventId: (position + 5) as never,
    ...(activityId === undefined ? {} : { activityTaskScheduledEventAttributes: { activityId } }),
  })),
};

describe('a replay that failed', () => {
  it.each([
    ['HistoryEvent(id: 7, ActivityTaskScheduled)', 'The code at gardener/t2/water.0 changed: this history makes that call there'],
    ['HistoryEvent(id: 6, TimerStarted)', 'The code after gardener/t1/model changed: it does not do again event 6 of this history'],
    ['HistoryEvent(id: 2, TimerStarted)', 'The code changed: it does not do again what this history has'],
    ['something else', 'The code changed: it does not do again what this history has'],
  ])('names the place of %s', (event, place) => {
    const failure = replayFailure(violation(`Nondeterminism error: ${event}`), 'plants.json', history);
    expect(failure).toMatchObject({ code: 'frame-changed', message: `${place} (plants.json; Nondeterminism error: ${event})` });
    expect(JSON.parse(JSON.stringify({ failure }))).toMatchObject({ failure: { code: 'frame-changed', message: failure.message } });
  });

  it('for another reason has its code, or says that the code failed', () => {
    const other = Object.assign(new Error('too large'), { code: 'payload-too-large' });
    expect(replayFailure(other, 'plants.json', history)).toMatchObject({ code: 'payload-too-large' });
    expect(replayFailure(new Error('no'), 'plants.json', history)).toMatchObject({
      code: 'run-failed',
      message: 'The replay of plants.json failed: no',
    });
  });
});
