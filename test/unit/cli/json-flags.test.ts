import { withChanges } from '../../../cli/json-flags';

describe('withChanges', () => {
  const input = { orderId: '42', amount: 80, to: { name: 'Ada', ways: ['mail', 'post'] } };

  it.each([
    [['amount=40'], { ...input, amount: 40 }],
    [['amount=40', 'orderId="7"'], { ...input, orderId: '7', amount: 40 }],
    [['orderId=abc'], { ...input, orderId: 'abc' }],
    [['note=a=b'], { ...input, note: 'a=b' }],
    [['to.name=Bob'], { ...input, to: { ...input.to, name: 'Bob' } }],
    [['to.ways.1=phone'], { ...input, to: { ...input.to, ways: ['mail', 'phone'] } }],
    [['to.ways.2=phone'], { ...input, to: { ...input.to, ways: ['mail', 'post', 'phone'] } }],
    [['new.inner=1'], { ...input, new: { inner: 1 } }],
    [['__proto__=1'], JSON.parse(JSON.stringify(input).replace(/}$/, ',"__proto__":1}'))],
  ])('takes %j', (changes, expected) => {
    const before = JSON.stringify(input);
    expect(JSON.stringify(withChanges(input, changes))).toBe(JSON.stringify(expected));
    expect(JSON.stringify(input)).toBe(before);
  });

  it('makes arguments where there were none', () => {
    expect(withChanges(null, ['amount=1'])).toEqual({ amount: 1 });
  });

  it.each([
    ['amount', '--set must be <name>=<value>, such as amount=40. It is "amount".'],
    ['=4', '--set must be <name>=<value>, such as amount=40. It is "=4".'],
    ['a..b=4', '--set must be <name>=<value>, such as amount=40. It is "a..b=4".'],
    ['amount.cents=4', '--set amount.cents=4: "cents" would stand inside of 80, which is no object.'],
    ['to.ways.x=4', '--set to.ways.x=4: "x" stands for a place in an array. Write a number, 0 to 2.'],
    ['to.ways.9=4', '--set to.ways.9=4: "9" stands for a place in an array. Write a number, 0 to 2.'],
    ['amount={', 'The value is not JSON'],
  ])('refuses %j', (change, message) => {
    expect(() => withChanges(input, [change])).toThrow(message);
  });
});
