import type { RunEvent } from '../../../contract/events';
import { WholeCalls } from '../../parity/whole-calls';

const call = { agent: 'a', runPath: ['a'], tool: 'pay', callId: 'c' };

function shown(events: readonly object[]): readonly unknown[] {
  const calls = new WholeCalls();
  return events.flatMap((event, offset) => calls.shown({ ...event, offset } as RunEvent) ?? []);
}

it('a log with a lost call is shown as the log of a run that lost none', () => {
  const whole = [
    { type: 'tool-start', ...call, address: 'a/t1/pay.0' },
    { type: 'tool-end', ...call, address: 'a/t1/pay.0' },
    { type: 'run-end' },
  ];
  const lost = [
    { type: 'tool-start', ...call, address: 'a/t1/pay.0' },
    { type: 'tool-reconcile', ...call, address: 'a/t1/pay.0+2', said: 'undone' },
    { type: 'tool-start', ...call, address: 'a/t1/pay.0+3', again: true },
    { type: 'tool-end', ...call, address: 'a/t1/pay.0+3' },
    { type: 'run-end' },
  ];
  expect(shown(lost)).toEqual(shown(whole));
  expect(shown(whole)).toEqual(whole.map((event, offset) => ({ ...event, offset })));
});
