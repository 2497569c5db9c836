import { HoldfastClient } from '../../../client/connect';
import { checkFit } from '../../../client/runs/answers';
import { startInputOf } from '../../../client/runs/start-input';
import { codeOf, messageOf } from '../../../contract/errors';
import type { Interrupt } from '../../../contract/interrupts';
import { limits } from '../../../contract/limits';
import type { Json } from '../../../contract/messages/messages';

const refusal = async (act: () => unknown): Promise<{ code: unknown; message: string }> => {
  try {
    await act();
  } catch (error) {
    return { code: codeOf(error) ?? error, message: messageOf(error) };
  }
  return { code: 'was taken', message: '' };
};

describe('a start whose options are none', () => {
  const start = (options: unknown) => refusal(() => startInputOf({ tenant: 'default', agent: 'plain' }, 'Hi', options as never));

  it.each<[string, unknown]>([
    ['The options of the start: they must be an object, not null.', null],
    ['The options of the start: they must be an object, not "fast".', 'fast'],
    ['tags must be an array of strings, none of them empty or with the character NUL. It is ', { tags: [1, {}] }],
    ['tags must be an array of strings, none of them empty or with the character NUL. It is "vip".', { tags: 'vip' }],
    ['tags must be an array of strings, none of them empty or with the character NUL. It is ', { tags: [''] }],
    ['tags must be an array of strings, none of them empty or with the character NUL. It is ', { tags: new Array(1) }],
    ['settings must be an object such as { temperature: 0 }. It is "hot".', { settings: 'hot' }],
    ['model must be the name of a model. It is 5.', { model: 5 }],
    ['values must be an object with the values. It is "str".', { values: 'str' }],
    ['values must be an object with the values. It is [1].', { values: [1] }],
    ['values must be an object with the values. It is null.', { values: null }],
    ['stream must be true or false. It is "yes".', { stream: 'yes' }],
    ['deadline must be a duration such as "30d". It is 5.', { deadline: 5 }],
    ['by must be a name of 1 to 200 characters. It is {}.', { by: {} }],
    ['options must be an object. It is "x".', { options: 'x' }],
    ['there is no option "dedline"; did you mean deadline?', { dedline: '3d' }],
  ])('is refused with what to send: %s', async (message, options) => {
    expect(await start(options)).toEqual({ code: 'input-invalid', message: expect.stringContaining(message) });
  });

  it('is refused when its id is null, which would be another run each time', async () => {
    expect(await start({ id: null })).toMatchObject({ code: 'run-id-invalid' });
  });

  it.each<[string, unknown]>([
    ['there is no option "tool"; did you mean tools?', { options: { tool: [] } }],
    ['tools must be an array of tool names, each once. It is ["a","a"].', { options: { tools: ['a', 'a'] } }],
    ['toolAliases.a must be an object with names, arguments. It is "b".', { options: { toolAliases: { a: 'b' } } }],
    ['toolAliases.a.names must be an array of strings. It is "b".', { options: { toolAliases: { a: { names: 'b' } } } }],
    ['toolAliases.a.arguments.b must be an array of strings. It is "c".', { options: { toolAliases: { a: { arguments: { b: 'c' } } } } }],
    ['there is no option "toolAliases.a.name"; did you mean names?', { options: { toolAliases: { a: { name: ['b'] } } } }],
    ['toolOptions.a are no object', { options: { toolOptions: { a: 'b' } } }],
    ['20008 bytes; at most 16384 fit', { options: { toolOptions: { a: { b: 'x'.repeat(20_000) } } } }],
    ['agents must be an object with options by the names of agents. It is ["a"].', { options: { agents: ['a'] } }],
    [
      'agents.a must be an object with tools, toolAliases, toolOptions, model, settings, custom. It is "b".',
      { options: { agents: { a: 'b' } } },
    ],
    ['there is no option "agents.a.tool"; did you mean tools?', { options: { agents: { a: { tool: [] } } } }],
    ['agents.a.model must be the name of a model. It is "".', { options: { agents: { a: { model: '' } } } }],
    [
      'there is no option "agents.a.settings.heat"; there are temperature, maxOutputTokens, topP, topK, presencePenal',
      { options: { agents: { a: { settings: { heat: 1 } } } } },
    ],
    [
      'The settings of the start: there is no option "heat"; there are temperature, maxOutputTokens, topP, topK, pres',
      { settings: { heat: 1 } },
    ],
    ['maxOutputTokens must be a whole number of at least 1. It is 0.', { settings: { maxOutputTokens: 0 } }],
  ])('is refused by name: %s', async (message, options) => {
    expect(await start(options)).toEqual({ code: 'options-invalid', message: expect.stringContaining(message) });
  });

  it('is refused with tags that are too many bytes together', async () => {
    const tags = Array.from({ length: 50 }, () => 'x'.repeat(200));
    expect(await start({ tags })).toEqual({
      code: 'input-invalid',
      message: `The tags have ${JSON.stringify(tags).length} bytes as JSON, all together; at most ${limits.tags} fit.`,
    });
  });
});

describe('messages that a run begins with', () => {
  const start = (message: unknown) =>
    refusal(() =>
      startInputOf({ tenant: 'default', agent: 'plain' }, [{ role: 'user', parts: [{ type: 'text', text: 'Hi' }] }, message] as never, {}),
    );
  const call = { type: 'tool-call', id: 'c', name: 't', input: {} };
  const result = { type: 'tool-result', callId: 'c', name: 't', output: 1 };
  const file = (data: unknown) => ({ role: 'user', parts: [{ type: 'file', mediaType: 'image/png', data }] });

  it.each<[string, unknown]>([
    ['has a part 1, file, whose `data` is neither base64 nor { "url": "…" }', file(5)],
    ['whose `data` is neither base64', file(null)],
    ['whose `data` is neither base64', file({ url: 5 })],
    ['with an `extra` that is no object', { role: 'user', parts: [{ type: 'text', text: 'Hi', extra: null }] }],
    ['has an `extra` that is no object', { role: 'user', parts: [], extra: [] }],
    ['only an assistant calls tools; its role is user', { role: 'user', parts: [call] }],
    ['has the role "tool" when its parts are tool results; its role is system', { role: 'system', parts: [result] }],
    ['has a part 2, text, and a message has the role "tool"', { role: 'tool', parts: [result, { type: 'text', text: 'Hi' }] }],
  ])('are refused: %s', async (problem, message) => {
    expect(await start(message)).toEqual({ code: 'input-invalid', message: expect.stringContaining(`Message 2 of the input`) });
    expect(await start(message)).toMatchObject({ message: expect.stringContaining(problem) });
  });

  it.each<[string, unknown]>([
    ['a call', { role: 'assistant', parts: [{ type: 'text', text: 'Wait.', extra: {} }, call] }],
    ['a result', { role: 'tool', parts: [result] }],
    ['files', { role: 'user', parts: [...file('aGk=').parts, ...file({ url: 'https://example.org/a.png' }).parts] }],
  ])('are taken with %s', async (_, message) => {
    expect(await start(message)).toMatchObject({ code: 'was taken' });
  });
});

describe('a call of the client that is none', () => {
  const connection = {
    connection: { plugins: [], options: { address: '127.0.0.1:7233' } } as never,
    namespace: 'default',
    close: async () => undefined,
  };
  const client = new HoldfastClient(connection);
  const run = client.run('r1');
  const noOffset = 'events: from must be the offset of an event, a whole number of at least 0.';
  const noStatus = 'list: status must be "open", "running", "waiting", "idle", "completed", "failed" or "cancelled".';

  it.each<[string, () => unknown]>([
    [`${noOffset} It is -5.`, () => run.events({ from: -5 }).next()],
    [`${noOffset} It is 1.5.`, () => run.events({ from: 1.5 }).next()],
    [`${noOffset} It is NaN.`, () => run.events({ from: Number.NaN }).next()],
    ['events: until must be "end" or "waiting". It is "whenever".', () => run.events({ until: 'whenever' as never }).next()],
    ['events: the options must be an object, not null.', () => run.events(null as never).next()],
    ['outcome: the options must be an object, not null.', () => run.outcome(null as never)],
    [`${noStatus} It is "foo".`, () => client.list({ status: 'foo' as never })],
    [`${noStatus} It is "constructor".`, () => client.list({ status: 'constructor' as never })],
    ['list: limit must be a whole number of at least 1. It is 0.', () => client.list({ limit: 0 })],
    ['list: limit must be a whole number of at least 1. It is 1.5.', () => client.list({ limit: 1.5 })],
    ['list: limit must be at most 1000; the page says how to get the next ones. It is 1001.', () => client.list({ limit: 1001 })],
    ['list: there is no option "tags"; did you mean tag?', () => client.list({ tags: ['x'] } as never)],
    ['interrupts: there is no option "status"; there are agent, tag,', () => client.interrupts({ status: 'open' } as never)],
    ['list: tag must be a tag, or an array of at least one, without the character NUL. It is 5.', () => client.list({ tag: 5 as never })],
    ['list: tag must be a tag, or an array of at least one, without the character NUL. It is [].', () => client.list({ tag: [] })],
    ['list: startedBy must be a string that is not blank, without the character NUL. It is " ".', () => client.list({ startedBy: ' ' })],
    ['or how long ago it is, such as "2h" or "3d". It is "yesterday".', () => client.list({ since: 'yesterday' })],
    ['list: until must be a time such as', () => client.list({ until: '2026-11-23T08:00:00' })],
    ['interrupts: waitingSince must be a time such as', () => client.interrupts({ waitingSince: new Date('x') })],
    [
      'interrupts: mayAnswer must be a string that is not blank, without the character NUL. It is 5.',
      () => client.interrupts({ mayAnswer: 5 as never }),
    ],
    [
      'list: mayAnswer is for runs that wait, and status is "failed"; leave one of them out.',
      () => client.list({ mayAnswer: 'ada', status: 'failed' }),
    ],
    [
      'list: total counts on the server, which does not know waitingSince; leave one of them out.',
      () => client.list({ waitingSince: '2h', total: true }),
    ],
    [
      'total counts on the server, which cannot look for a text with ", \\ or a control character; leave',
      () => client.list({ tag: ['a', '"b"'], total: true }),
    ],
    ['list: tag is one of the run that somebody started', () => client.list({ parent: 'r', tag: 'x' })],
    ['list: after must be the "next" of the page before. It is "abc".', () => client.list({ after: 'abc' })],
    ['list: the options must be an object, not null.', () => client.list(null as never)],
    ['interrupts: the options must be an object, not "all".', () => client.interrupts('all' as never)],
    ['interrupts: limit must be a whole number of at least 1. It is 0.', () => client.interrupts({ limit: 0 })],
    ['The approval: the options must be an object, not null.', () => run.approve('i', null as never)],
    ['The rejection: the options must be an object, not null.', () => run.reject('i', 'no', null as never)],
    ['The answer: the options must be an object, not null.', () => run.resume('i', 1, null as never)],
    ['The id of the interrupt must be a string. It is 5.', () => run.resume(5 as never, 1)],
    ['by must be a name of 1 to 200 characters. It is {}.', () => run.approve('i', { by: {} as never })],
    ['inputHash must be a string. It is 5.', () => run.approve('i', { inputHash: 5 as never })],
  ])('is refused with what to send: %s', async (message, act) => {
    expect(await refusal(act)).toEqual({ code: 'request-invalid', message: expect.stringContaining(message) });
  });

  it('rejects, and does not throw, what approve cannot take', async () => {
    const approving = run.approve('i', null as never);
    await expect(approving).rejects.toMatchObject({ code: 'request-invalid' });
  });

  it('says that the client is closed, whatever is called then', async () => {
    const closed = new HoldfastClient(connection);
    const open = closed.run('r1');
    await closed.close();
    await closed.close();
    const acts: readonly (() => unknown)[] = [
      () => closed.start('plain', 'Hi'),
      () => closed.list(),
      () => closed.interrupts(),
      () => closed.run('r2').view(),
      () => open.view(),
      () => open.events().next(),
      () => open.outcome(),
      () => open.result(),
      () => open.approve('i'),
      () => open.cancel(),
      () => open.terminate(),
    ];
    for (const act of acts) expect(await refusal(act)).toEqual({ code: 'client-closed', message: 'This client is closed.' });
  });
});

describe('the check of an answer against its schema', () => {
  const asking = (answerSchema: Json): readonly Interrupt[] => [
    { id: 'i', address: ['a'], agent: 'a', kind: 'question', info: '?', answerSchema },
  ];
  const code = { type: 'object', properties: { code: { type: 'string', pattern: '^(a+)+$' } } };

  it('takes what fits, and refuses what does not, with its place', async () => {
    expect(await refusal(() => checkFit(asking(code), 'i', { code: 'aaa' }))).toMatchObject({ code: 'was taken' });
    expect(await refusal(() => checkFit(asking(code), 'i', { code: 'abc' }))).toEqual({
      code: 'answer-invalid',
      message: expect.stringContaining('does not fit: code:'),
    });
  });

  it('is right about a pattern that would take JavaScript for ever with the answer', async () => {
    expect(await refusal(() => checkFit(asking(code), 'i', { code: `${'a'.repeat(50_000)}!` }))).toEqual({
      code: 'answer-invalid',
      message: expect.stringContaining('does not fit: code: must match pattern "^(a+)+$"'),
    });
    expect(await refusal(() => checkFit(asking(code), 'i', { code: 'a'.repeat(50_000) }))).toMatchObject({ code: 'was taken' });
  });

  it('says that a text is too long for a pattern with look-around', async () => {
    const ahead: Json = { not: { pattern: '^(?=a)' } };
    expect(await refusal(() => checkFit(asking(ahead), 'i', 'b'.repeat(1000)))).toMatchObject({ code: 'was taken' });
    expect(await refusal(() => checkFit(asking(ahead), 'i', 'b'.repeat(1001)))).toEqual({
      code: 'answer-invalid',
      message: expect.stringContaining(
        'answer: a text of 1001 characters cannot be checked against the pattern "^(?=a)", only one of 1000',
      ),
    });
  });

  it.each<[string, Json, Json]>([
    ['a format', { format: 'email' }, 'ann'],
    ['a format with a name that is no method of zod', { format: 'date-time' }, '2026-02-30T00:00:00Z'],
    ['a time', { format: 'time' }, '25:00:00Z'],
    ['what must not be', { not: { type: 'string' } }, 'a'],
    ['a condition', { if: { type: 'string' }, then: { minLength: 2 } }, 'a'],
    [
      'items that are the same',
      { uniqueItems: true },
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
    ],
    ['itself', { type: ['array', 'null'], items: { $ref: '#' } }, [[1]]],
  ])('knows %s', async (_, schema, answer) => {
    expect(await refusal(() => checkFit(asking(schema), 'i', answer))).toMatchObject({ code: 'answer-invalid' });
  });

  it('leaves a schema that cannot be read to the code that asked', async () => {
    expect(await refusal(() => checkFit(asking({ type: 'nonsense' }), 'i', 1))).toMatchObject({ code: 'was taken' });
  });

  it('leaves one that leads back to itself without end to the run', async () => {
    const endless: Json = { type: 'number', allOf: [{ $ref: '#' }, { $ref: '#' }] };
    expect(await refusal(() => checkFit(asking(endless), 'i', 1))).toMatchObject({ code: 'was taken' });
    expect(await refusal(() => checkFit(asking(endless), 'i', 'a'))).toMatchObject({ code: 'answer-invalid' });
  });
});
