import { ReadRun } from '../../../host/redis/read-run';
import { shortDelta } from '../../support/streaming-model';

const expire: (() => void)[] = [];
jest.mock('node:timers/promises', () => ({ setTimeout: () => new Promise<void>((resolve) => expire.push(resolve)) }));

const origin = { agent: 'a', runPath: ['a'], address: 'a/t1/model' };
const pieces = (from: number, ...deltas: readonly object[]): object => ({ line: 'l', from, origin, deltas });
const start = { type: 'attempt-start', attempt: 1 };
const text = (said: string): object => ({ type: 'text-delta', text: said, attempt: 1 });
const whole = pieces(0, start, text('a'));
const end = { line: 'l', settled: origin.address };
const lost = { ...pieces(0, { type: 'attempt-void', attempt: 1 }), line: 'm' };

let run: ReadRun;
let shown: string[];

function take(...entries: readonly (object | string)[]): void {
  const jsonOf = (entry: object | string): string => (typeof entry === 'string' ? entry : JSON.stringify(entry));
  run.take(entries.map((entry) => ({ id: '1-1', message: { json: jsonOf(entry) } })));
}

beforeEach(() => {
  expire.length = 0;
  run = new ReadRun('run');
  shown = [];
  run.add((delta) => void shown.push(shortDelta(delta)));
  take();
});

it.each([
  ['the end of the call', [pieces(3, text('c')), end], 'start a b c'],
  ['a second passes without one', [], 'start a b'],
])('the end of a call waits for its late deltas until %s', async (_, rest, wanted) => {
  take(whole);
  let isOver = false;
  const over = run.settled(origin.address).then(() => (isOver = true));
  take(pieces(2, text('b')));
  expire.shift()?.();
  await new Promise(setImmediate);
  expect(isOver).toBe(false);
  if (rest.length > 0) take(...rest);
  else expire.shift()?.();
  await over;
  expect(shown.join(' ')).toBe(wanted);
});

it.each([
  ['has ended', end, 'start a'],
  ['is void', lost, 'start a void'],
])('a call that %s is not shown a second time', (_, last, wanted) => {
  take(whole, last);
  take(whole, last);
  expect(shown.join(' ')).toBe(wanted);
});

it('a new attempt is shown to its end, also if the end of the attempt before comes again', () => {
  take(whole, end, { ...pieces(0, start), line: 'm' }, end, { ...pieces(1, text('b')), line: 'm' });
  expect(shown.join(' ')).toBe('start a start b');
});

it.each(['{oops', 'null', '{}', '{"settled":{}}', '{"line":"x","from":0,"origin":{"address":"x"},"deltas":[null,5]}', ''])(
  'an entry of another program is passed over: %s',
  (bad) => {
    take(bad, whole, bad);
    expect(shown.join(' ')).toBe('start a');
  },
);
