import { millisecondsOf, parseDuration } from '../../../contract/duration';
import { HoldfastError, codeOf, errorTable, isErrorCode, messageOf } from '../../../contract/errors';
import { misfitOf } from '../../../contract/interrupts';
import { jsonSize, utf8Length } from '../../../contract/limits';
import { canonicalJson, isMessage, messagesOfInput, notJson, textOf, toolCallsOf } from '../../../contract/messages/messages';
import { isName, isRunId, runIdOf, workflowIdOf } from '../../../contract/names';
import { errorOf } from '../../support/failures';

describe('a duration', () => {
  it.each([
    ['500ms', 500],
    ['30s', 30_000],
    ['1.5h', 5_400_000],
    [' 3 Days ', 259_200_000],
    ['1 week', 604_800_000],
    ['2 min', 120_000],
  ])('%s is %d milliseconds', (text, milliseconds) => expect(parseDuration(text)).toBe(milliseconds));

  it.each(['', 'soon', '3', '-1s', '1 fortnight', '1h30m', '1e3s', '0s', '0.0001ms', '1 constructor', '9999999999999w'])(
    '%p is none',
    (text) => expect(parseDuration(text)).toBeUndefined(),
  );

  it('has to be one where somebody needs it, and else is an error with their code', () => {
    expect(millisecondsOf('2h', 'input-invalid')).toBe(7_200_000);
    expect(() => millisecondsOf('soon', 'input-invalid')).toThrow(
      errorOf('input-invalid', /"soon" is no duration; write for example "30s"/),
    );
    expect(() => millisecondsOf('0s', 'input-invalid')).toThrow('"0s" is no duration: the shortest is "1ms".');
    expect(() => millisecondsOf('100000d', 'input-invalid')).toThrow('the longest is "3653d", ten years.');
  });
});

describe('the length of a text in bytes', () => {
  it.each(['', 'plain', 'é', '日本語', '👍🏽', 'a\u0000b', '\ud83d', 'x\ud83dy', '\udc4d', '\ud83dé', '\ud83d\ud83d', '👨‍👩‍👧'])(
    'is that of its UTF-8: %p',
    (text) => {
      expect(utf8Length(text)).toBe(Buffer.byteLength(text));
    },
  );

  it('of JSON is that of its text', () => {
    expect(jsonSize({ a: 'é' })).toBe(10);
    expect(jsonSize(undefined)).toBe(0);
  });
});

describe('what is no JSON', () => {
  class Own {
    readonly field = 1;
  }
  it.each([
    [undefined, 'the value is a undefined'],
    [1n, 'the value is a bigint'],
    [Symbol('s'), 'the value is a symbol'],
    [() => 1, 'the value is a function'],
    [Number.POSITIVE_INFINITY, 'the value is Infinity'],
    [{ a: { b: [1, new Date(0)] } }, 'a.b[1] is a Date'],
    [{ map: new Map() }, 'map is a Map'],
    [[new Own()], '[0] is a Own'],
    [{ a: [undefined] }, 'a[0] is a undefined'],
    [/x/, 'the value is a RegExp'],
  ])('is told with its place: %p', (value, problem) => expect(notJson(value)).toBe(problem));

  it.each([null, 0, '', false, [], {}, { left: undefined }, { deep: [{ er: [1, 'x', null] }] }, Object.create(null)])(
    'is not %p',
    (value) => expect(notJson(value)).toBeUndefined(),
  );

  it('is found in a value that contains itself', () => {
    const loop: Record<string, unknown> = {};
    loop['self'] = loop;
    expect(notJson(loop)).toMatch(/contains itself/);
  });
});

describe('canonical JSON', () => {
  it('does not depend on the order of keys or on keys without a value', () => {
    expect(canonicalJson({ b: [1, { d: 1, c: 2 }], a: undefined })).toBe('{"b":[1,{"c":2,"d":1}]}');
    expect(canonicalJson({ c: 1, a: 2 })).toBe(canonicalJson({ a: 2, c: 1 }));
    expect(canonicalJson([undefined, null])).toBe('[null,null]');
    expect(canonicalJson(undefined)).toBe('null');
  });

  it('tells values apart that differ', () => {
    const values = [1, '1', null, [], {}, [1], { a: 1 }, { a: '1' }, 'null', true, 'true'];
    expect(new Set(values.map(canonicalJson)).size).toBe(values.length);
  });
});

describe('an error', () => {
  it('has a status and says what to change, for every code', () => {
    for (const [code, { status, fix }] of Object.entries(errorTable)) {
      expect(code).toMatch(/^[a-z]+(-[a-z]+)*$/);
      expect(status).toBeGreaterThanOrEqual(400);
      expect(status).toBeLessThan(600);
      expect(fix).toMatch(/^[A-Z].{10,}\.$/);
    }
  });

  it('is known by its code, also from another realm', () => {
    expect(codeOf({ code: 'tool-failed' })).toBe('tool-failed');
    expect(codeOf(new HoldfastError('cancelled', 'Stopped.'))).toBe('cancelled');
    for (const none of [undefined, null, 'tool-failed', { code: 'ECONNRESET' }, { code: 'toString' }, new Error('x')])
      expect(codeOf(none)).toBeUndefined();
    expect(isErrorCode('hasOwnProperty')).toBe(false);
  });

  it('has a text, whatever was thrown', () => {
    const loop: Record<string, unknown> = {};
    loop['self'] = loop;
    const texts = ['a', 'b', 'c', '{"d":1}', '5', 'null', 'undefined', '[object Object]'];
    expect([new Error('a'), 'b', { message: 'c' }, { d: 1 }, 5, null, undefined, loop].map(messageOf)).toEqual(texts);
  });
});

describe('messages', () => {
  it.each([
    [{ role: 'user', parts: [] }, true],
    [{ role: 'user', parts: [{ type: 'text', text: '' }] }, true],
    [{ role: 'tool', parts: [{ type: 'anything' }] }, false],
    [{ role: 'assistant', parts: [{ type: 'text' }] }, false],
    [{ role: 'assistant', parts: [{ type: 'tool-call', name: 'x', input: {} }] }, false],
    [{ role: 'robot', parts: [] }, false],
    [{ role: 'user', parts: 'text' }, false],
    [{ role: 'user', parts: [null] }, false],
    [{ role: 'user' }, false],
    [null, false],
    ['text', false],
  ])('%p is one: %p', (value, is) => expect(isMessage(value)).toBe(is));

  it('of an input are its text, its list, or none', () => {
    expect(messagesOfInput('Hi')).toEqual([{ id: 'input.0', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }]);
    expect(messagesOfInput([])).toBeUndefined();
    expect(messagesOfInput({ orderId: '42' })).toBeUndefined();
    expect(messagesOfInput([{ role: 'user', parts: [] }, { role: 'nobody' }])).toBeUndefined();
  });

  it('tell their text and their tool calls', () => {
    const message = {
      role: 'assistant' as const,
      parts: [
        { type: 'reasoning' as const, text: 'hm' },
        { type: 'text' as const, text: 'a' },
        { type: 'tool-call' as const, id: '1', name: 't', input: {}, extra: { signature: 'x' } },
        { type: 'text' as const, text: 'b' },
      ],
    };
    expect(textOf(message)).toBe('ab');
    expect(toolCallsOf(message)).toEqual([{ id: '1', name: 't', input: {} }]);
  });
});

describe('names', () => {
  it.each(['a', '42', 'ticket-981', 'a.b_c:d@e', 'x'.repeat(200)])('%p is the id of a run', (id) => expect(isRunId(id)).toBe(true));
  it.each(['', '-a', 'a/b', 'a b', 'x'.repeat(201), 'ä', 5, undefined])('%p is none', (id) => expect(isRunId(id)).toBe(false));
  it.each(['a', '_a', 'lookup_order-2', 'x'.repeat(64)])('%p is a name', (name) => expect(isName(name)).toBe(true));
  it.each(['', '1a', 'a.b', 'a/b', 'x'.repeat(65)])('%p is no name', (name) => expect(isName(name)).toBe(false));
  it('keep tenants apart', () => {
    expect(workflowIdOf('acme', 'r1')).toBe('acme/r1');
    expect(runIdOf('acme/r1')).toBe('r1');
  });
});

describe('an answer', () => {
  const base = { id: 'i', address: [], agent: 'a' };
  it('in doubt says that it did not happen, or what came of it', () => {
    const doubt = { ...base, kind: 'in-doubt' as const, info: null };
    expect(misfitOf(doubt, { happened: false })).toBeUndefined();
    expect(misfitOf(doubt, { happened: true, result: null })).toBeUndefined();
    for (const wrong of [{ happened: true }, { happened: 'no' }, [], null, 'no'])
      expect(misfitOf(doubt, wrong as never)).toMatch(/in-doubt call takes/);
  });
  it('to a question is anything here', () => expect(misfitOf({ ...base, kind: 'question', info: null }, null)).toBeUndefined());
});
