import { askedText } from '../../../worker/replay/asked-text';
import { differencesOf } from '../../../worker/replay/differences';
import type { Step } from '../../../worker/replay/steps';
import { lengthText } from '../../../worker/replay/words';

const step = (kind: Step['kind'], address: string, fields: Step['fields'] = {}, task = 3): Step => ({
  kind,
  address,
  agent: address.split('/')[0] ?? '',
  key: `${kind} ${address} 1`,
  task,
  time: 0,
  fields,
});
const user = (text: string): object => ({ role: 'user', parts: [{ type: 'text', text }] });
const model = (address: string, fields: Step['fields'] = {}, task = 3): Step =>
  step('model', address, { model: 'm', instructions: 'Be kind.', messages: [user('Hi')], ...fields }, task);
const messagesIn = (recorded: readonly Step[], today: readonly Step[], stoppedIn?: number): readonly string[] =>
  differencesOf({ recorded, today, ...(stoppedIn === undefined ? {} : { stoppedIn }) }).map(({ message }) => message);

describe('what differs in a replay', () => {
  it('is nothing between equal steps', () => {
    expect(differencesOf({ recorded: [model('a/t1/model')], today: [model('a/t1/model')] })).toEqual([]);
  });

  it('is told once where one change is in many requests', () => {
    const turns = ['a/t1/model', 'a/t2/model', 'a/t3/model'];
    const today = turns.map((address) => model(address, { instructions: 'Be brief.' }));
    expect(
      messagesIn(
        turns.map((address) => model(address)),
        today,
      ),
    ).toEqual(['The model call a/t1/model has other instructions: it was "Be kind.", and is "Be brief.". So do 2 later ones.']);
  });

  it('is told for each agent that has it', () => {
    const today = ['a/t1/model', 'b/t1/model'].map((address) => model(address, { model: 'other' }));
    expect(differencesOf({ recorded: [model('a/t1/model'), model('b/t1/model')], today }).map(({ address }) => address)).toEqual([
      'a/t1/model',
      'b/t1/model',
    ]);
  });

  it('of worker middleware has the names, and the options only where these are all that differs', () => {
    const with_ = (options: object): Step => model('a/t1/model', { 'worker middleware': [{ name: 'pii', options }] });
    const change = (recorded: Step, today: Step) => differencesOf({ recorded: [recorded], today: [today] })[0];
    expect(change(with_({ a: 1 }), model('a/t1/model'))).toMatchObject({ what: 'worker middleware', recorded: ['pii'], today: [] });
    expect(change(with_({ a: 1 }), with_({ a: 2 }))).toMatchObject({ recorded: [{ name: 'pii', options: { a: 1 } }] });
  });

  it('of messages is those that differ, and not what comes after them', () => {
    const recorded = [model('a/t1/model', { messages: [user('one'), user('two'), user('three')] })];
    const other = [model('a/t1/model', { messages: [user('one'), user('2'), user('three')] })];
    expect(differencesOf({ recorded, today: other })).toMatchObject([{ what: 'messages', recorded: user('two'), today: user('2') }]);
    const more = [model('a/t1/model', { messages: [user('one'), user('two'), user('new'), user('three')] })];
    expect(differencesOf({ recorded, today: more })).toMatchObject([{ what: 'messages', recorded: [], today: [user('new')] }]);
  });

  it('of a long text is shown where it differs', () => {
    const long = 'x'.repeat(500);
    const [message = ''] = messagesIn(
      [model('a/t1/model', { instructions: `${long} old end` })],
      [model('a/t1/model', { instructions: `${long} new end` })],
    );
    expect(message).toMatch(/…x+ old end", and is …x+ new end"/);
    expect(message.length).toBeLessThan(300);
  });

  it('is what came and what did not, in the task where the replay stopped', () => {
    const recorded = [model('a/t1/model'), step('tool', 'a/t1/pay.0', {}, 9), step('tool', 'a/t2/pay.0', {}, 20)];
    expect(messagesIn(recorded, [model('a/t1/model')], 9)).toEqual(['The tool call a/t1/pay.0 is not made any more.']);
    expect(messagesIn(recorded, [model('a/t1/model'), step('sleep', 'a/t1/model', { length: 90_000 }, 9)], 9)).toEqual([
      'The history has the tool call a/t1/pay.0 here. The code has the sleep of 1m 30s after a/t1/model instead.',
    ]);
    // The history has the call later, with other arguments.
    expect(messagesIn(recorded, [model('a/t1/model'), step('tool', 'a/t2/pay.0', { arguments: 1 }, 9)], 9)).toEqual([
      'The history has the tool call a/t1/pay.0 here. The code has the tool call a/t2/pay.0 instead.',
    ]);
  });

  it('stops an open run where a changed request is all that is to be seen in that task', () => {
    const recorded = [step('interrupt', 'a/t1/pay.0/approval', { kind: 'approval', deadline: 3_600_000 }, 9)];
    const today = [step('interrupt', 'a/t1/pay.0/approval', { kind: 'approval' }, 9)];
    expect(differencesOf({ recorded, today, stoppedIn: 9 })).toMatchObject([
      { kind: 'command', message: 'The approval a/t1/pay.0/approval has a changed deadline: it was "1h", and is none.' },
    ]);
  });

  it('names activities of the run itself only where nothing else is missing', () => {
    const parse = step('activity', 'a/t1/model', { activity: 'parseInput' }, 9);
    const pay = step('tool', 'a/t1/pay.0', { tool: 'pay' }, 9);
    expect(messagesIn([parse, pay], [], 9)).toEqual(['The tool call a/t1/pay.0 is not made any more.']);
    expect(messagesIn([parse], [], 9)).toEqual(['The activity parseInput after a/t1/model is not made any more.']);
    expect(messagesIn([parse], [])).toEqual([]);
  });
});

describe('what a run asks for, as a text', () => {
  it('has each step, and of later requests what is new', () => {
    const later = [user('Hi'), { role: 'assistant', parts: [{ type: 'tool-call', id: 'c', name: 'pay', input: { b: 1, a: 2 } }] }];
    const text = askedText([
      model('a/t1/model', { instructions: 'Be kind.\nBe brief.', tools: ['pay', 'ask'] }),
      step('interrupt', 'a/t1/pay.0/approval', { kind: 'approval', tool: 'pay', deadline: 3 * 86_400_000 }),
      step('tool', 'a/t1/pay.0', { tool: 'pay', arguments: { b: 1, a: 2 } }),
      step('activity', 'a/t1/pay.0', { activity: 'parseInput' }),
      step('sleep', 'a/t1/pay.0', { length: 1500 }),
      model('a/t2/model', { instructions: 'Be kind.\nBe brief.', messages: later }),
      step('end', 'a', { end: 'completed', output: 'Done.' }),
    ]);
    expect(text).toBe(
      [
        'a/t1/model',
        '  model: m',
        '  instructions:',
        '    Be kind.',
        '    Be brief.',
        '  messages:',
        '    user: Hi',
        '  tools: pay, ask',
        '',
        'approval a/t1/pay.0/approval',
        '  tool: pay',
        '  deadline: 3d',
        '',
        'a/t1/pay.0',
        '  arguments: {"a":2,"b":1}',
        '',
        'sleep of 2s after a/t1/pay.0',
        '',
        'a/t2/model',
        '  messages:',
        '    (1 as before)',
        '    assistant: calls pay {"a":2,"b":1}',
        '  tools: none',
        '',
        'end of the run (completed)',
        '  output: Done.',
      ].join('\n'),
    );
  });

  it.each([
    [1, '1ms'],
    [999, '999ms'],
    [59_999, '1m'],
    [5_400_000, '1h 30m'],
    [86_400_000, '1d'],
  ])('writes %d ms as %s', (ms, text) => expect(lengthText(ms)).toBe(text));
});
