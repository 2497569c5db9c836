import { isInside } from '../../../contract/record/agent-paths';
import { askedCall } from '../../../service/projection/asked-call';

describe('the address of an interrupt', () => {
  it.each([
    ['the call that asks', ['support', 't4', 'pay.0', 'approval'], 'support/t4/pay.0', true],
    ['the call of a later turn', ['support#2', 't4', 'pay.0', 'approval'], 'support/t4/pay.0', true],
    ['a call of a team in a later turn', ['team#2', 'clerk', 't1', 'pay.0'], 'team#2/clerk/t1/pay.0', true],
    ['a call of a later round of an agent', ['team', 'clerk#2', 't1', 'pay.0'], 'team/clerk/t1/pay.0', false],
    ['another call', ['support', 't4', 'pay.10', 'approval'], 'support/t4/pay.1', false],
  ])('is or is not inside of %s', (_, address, place, expected) => {
    expect(isInside(address, place)).toBe(expected);
  });

  it('finds its call in a later turn of a conversation', () => {
    const calls = [
      { callId: 'c', path: 'support' },
      { callId: 'other', path: 'support' },
    ];
    expect(askedCall(calls, { callId: 'c', address: ['support#2', 't4', 'pay.0', 'approval'] })).toBe(calls[0]);
    expect(askedCall(calls, { callId: 'c', address: ['sales#2', 't4', 'pay.0', 'approval'] })).toBeUndefined();
  });
});
