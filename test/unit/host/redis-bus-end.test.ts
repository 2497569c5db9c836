import { ReadRun } from '../../../host/redis/read-run';
import { shortDelta } from '../../support/streaming-model';

const expire: (() => void)[] = [];
jest.mock('node:timers/promises', () => ({ setTimeout: () => new Promise<void>((resolve) => expire.push(resolve)) }));

const origin = { agent: 'a', runPath: ['a'], address: 'a/t1/model' };
const pieces = (from: number, ...bodies: readonly object[]): object => ({ line: 'l', from, origin, deltas: bodies });
const text = (said: string): object => ({ type: 'text-delta', text: said, attempt: 1 });

it.each([
  ['the end of the call', [pieces(3, text('c')), { settled: origin.address }], 'start a b c'],
  ['a second passes without one', [], 'start a b'],
])('the end of a call waits for its late deltas until %s', async (_, rest, wanted) => {
  expire.length = 0;
  const run = new ReadRun('run');
  const shown: string[] = [];
  run.add((delta) => void shown.push(shortDelta(delta)));
  const take = (...entries: readonly object[]): void =>
    run.take(entries.map((json) => ({ id: '1-1', message: { json: JSON.stringify(json) } })));
  take(pieces(0, { type: 'attempt-start', attempt: 1 }, text('a')));
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
