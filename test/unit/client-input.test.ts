import { HoldfastClient } from '../../client/connect';
import { checkFit } from '../../client/answers';
import { startInputOf } from '../../client/start-input';
import { codeOf, messageOf } from '../../contract/errors';
import type { Interrupt } from '../../contract/interrupts';
import { limits } from '../../contract/limits';
import type { Json } from '../../contract/messages/messages';

const refusal = async (act: () => unknown): Promise<{ code: unknown; message: string }> => {
  try {
    await act();
  } catch (error) {
    return { code: codeOf(error) ?? error, message: messageOf(error) };
  }
  return { code: 'was taken', message: '' };
};

describe('a start whose options are none', () => {
  const start = (options: unknown) => refusal(() => startInputOf('default', 'plain', 'Hi', options as never, false));

  it.each<[string, unknown, string]>([
    ['null', null, 'The options of the start: they must be an object, not null.'],
    ['a text', 'fast', 'The options of the start: they must be an object, not "fast".'],
    ['numbers for tags', { tags: [1, {}] }, 'tags must be an array of strings, none of them empty or with the character NUL. It is '],
    [
      'one tag instead of a list',
      { tags: 'vip' },
      'tags must be an array of strings, none of them empty or with the character NUL. It is "vip".',
    ],
    ['an empty tag', { tags: [''] }, 'tags must be an array of strings, none of them empty or with the character NUL. It is '],
    ['a text for settings', { settings: 'hot' }, 'settings must be an object such as { temperature: 0 }. It is "hot".'],
    ['a number for a model', { model: 5 }, 'model must be the name of a model. It is 5.'],
    ['a text for values', { values: 'str' }, 'values must be an object with the values. It is "str".'],
    ['a list for values', { values: [1] }, 'values must be an object with the values. It is [1].'],
    ['null for values', { values: null }, 'values must be an object with the values. It is null.'],
    ['a text for stream', { stream: 'yes' }, 'stream must be true or false. It is "yes".'],
    ['a number for a deadline', { deadline: 5 }, 'deadline must be a duration such as "30d". It is 5.'],
    ['an object for who starts it', { by: {} }, 'by must be a name of 1 to 200 characters. It is {}.'],
    ['a text for options', { options: 'x' }, 'options must be an object. It is "x".'],
    ['a misspelt one', { dedline: '3d' }, 'there is no option "dedline"; did you mean deadline?'],
  ])('is refused with what to send: %s', async (_, options, message) => {
    expect(await start(options)).toEqual({ code: 'input-invalid', message: expect.stringContaining(message) });
  });

  it('is refused when its id is null, which would be another run each time', async () => {
    expect(await start({ id: null })).toMatchObject({ code: 'run-id-invalid' });
  });

  it.each<[string, unknown, string]>([
    ['a field that there is not', { options: { tool: [] } }, 'there is no option "tool"; did you mean tools?'],
    ['a tool twice', { options: { tools: ['a', 'a'] } }, 'tools must be an array of tool names, each once. It is ["a","a"].'],
    ['an alias as a text', { options: { toolAliases: { a: 'b' } } }, 'toolAliases.a must be an object with names, arguments. It is "b".'],
    [
      'an alias without its list',
      { options: { toolAliases: { a: { names: 'b' } } } },
      'toolAliases.a.names must be an array of strings. It is "b".',
    ],
    [
      'an argument without its list',
      { options: { toolAliases: { a: { arguments: { b: 'c' } } } } },
      'toolAliases.a.arguments.b must be an array of strings. It is "c".',
    ],
    [
      'a misspelt alias',
      { options: { toolAliases: { a: { name: ['b'] } } } },
      'there is no option "toolAliases.a.name"; did you mean names?',
    ],
    ['a text as options of a tool', { options: { toolOptions: { a: 'b' } } }, 'toolOptions.a are no object'],
    ['too much for one tool', { options: { toolOptions: { a: { b: 'x'.repeat(20_000) } } } }, '20008 bytes; at most 16384 fit'],
    ['no list of agents', { options: { agents: ['a'] } }, 'agents must be an object with options by the names of agents. It is ["a"].'],
    [
      'a text for an agent',
      { options: { agents: { a: 'b' } } },
      'agents.a must be an object with tools, toolAliases, toolOptions, model, settings, custom. It is "b".',
    ],
    ['a field of an agent', { options: { agents: { a: { tool: [] } } } }, 'there is no option "agents.a.tool"; did you mean tools?'],
    ['no model of an agent', { options: { agents: { a: { model: '' } } } }, 'agents.a.model must be the name of a model. It is "".'],
    [
      'settings of an agent',
      { options: { agents: { a: { settings: { heat: 1 } } } } },
      'there is no option "agents.a.settings.heat"; there are temperature, maxOutputTokens, topP, topK, presencePenal',
    ],
    [
      'a setting that there is not',
      { settings: { heat: 1 } },
      'The settings of the start: there is no option "heat"; there are temperature, maxOutputTokens, topP, topK, pres',
    ],
    ['a setting of another form', { settings: { maxOutputTokens: 0 } }, 'maxOutputTokens must be a whole number of at least 1. It is 0.'],
  ])('is refused by name: %s', async (_, options, message) => {
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
    refusal(() => startInputOf('default', 'plain', [{ role: 'user', parts: [{ type: 'text', text: 'Hi' }] }, message] as never, {}, false));
  const call = { type: 'tool-call', id: 'c', name: 't', input: {} };
  const result = { type: 'tool-result', callId: 'c', name: 't', output: 1 };
  const file = (data: unknown) => ({ role: 'user', parts: [{ type: 'file', mediaType: 'image/png', data }] });

  it.each<[string, unknown, string]>([
    ['a file that is a number', file(5), 'has a part 1, file, whose `data` is neither base64 nor { "url": "…" }'],
    ['a file that is nothing', file(null), 'whose `data` is neither base64'],
    ['a file at no address', file({ url: 5 }), 'whose `data` is neither base64'],
    [
      'extras of a part that are nothing',
      { role: 'user', parts: [{ type: 'text', text: 'Hi', extra: null }] },
      'with an `extra` that is no object',
    ],
    ['extras of a message that are a list', { role: 'user', parts: [], extra: [] }, 'has an `extra` that is no object'],
    ['a call of a user', { role: 'user', parts: [call] }, 'only an assistant calls tools; its role is user'],
    [
      'a result of the system',
      { role: 'system', parts: [result] },
      'has the role "tool" when its parts are tool results; its role is system',
    ],
    [
      'a text of a tool',
      { role: 'tool', parts: [result, { type: 'text', text: 'Hi' }] },
      'has a part 2, text, and a message has the role "tool"',
    ],
  ])('are refused with %s', async (_, message, problem) => {
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

  it.each<[string, () => unknown, string]>([
    [
      'events from -5',
      () => run.events({ from: -5 }).next(),
      'events: from must be the offset of an event, a whole number of at least 0. It is -5.',
    ],
    [
      'events from 1.5',
      () => run.events({ from: 1.5 }).next(),
      'events: from must be the offset of an event, a whole number of at least 0. It is 1.5.',
    ],
    [
      'events from NaN',
      () => run.events({ from: Number.NaN }).next(),
      'events: from must be the offset of an event, a whole number of at least 0. It is NaN.',
    ],
    [
      'events until whenever',
      () => run.events({ until: 'whenever' as never }).next(),
      'events: until must be "end" or "waiting". It is "whenever".',
    ],
    ['events of null', () => run.events(null as never).next(), 'events: the options must be an object, not null.'],
    ['an outcome of null', () => run.outcome(null as never), 'outcome: the options must be an object, not null.'],
    [
      'a list by an unknown status',
      () => client.list({ status: 'foo' as never }),
      'list: status must be "open", "running", "waiting", "idle", "completed", "failed" or "cancelled". It is "foo".',
    ],
    [
      'a list by the status of every object',
      () => client.list({ status: 'constructor' as never }),
      'list: status must be "open", "running", "waiting", "idle", "completed", "failed" or "cancelled". It is "constructor".',
    ],
    ['a list of none', () => client.list({ limit: 0 }), 'list: limit must be a whole number of at least 1. It is 0.'],
    ['a list of a part', () => client.list({ limit: 1.5 }), 'list: limit must be a whole number of at least 1. It is 1.5.'],
    [
      'more rows than a page has',
      () => client.list({ limit: 1001 }),
      'list: limit must be at most 1000; the page says how to get the next ones. It is 1001.',
    ],
    ['a filter that there is not', () => client.list({ tags: ['x'] } as never), 'list: there is no option "tags"; did you mean tag?'],
    [
      'a status of interrupts',
      () => client.interrupts({ status: 'open' } as never),
      'interrupts: there is no option "status"; there are agent, tag,',
    ],
    [
      'a tag that is none',
      () => client.list({ tag: 5 as never }),
      'list: tag must be a tag, or an array of at least one, without the character NUL. It is 5.',
    ],
    [
      'no tag at all',
      () => client.list({ tag: [] }),
      'list: tag must be a tag, or an array of at least one, without the character NUL. It is [].',
    ],
    [
      'a name of nobody',
      () => client.list({ startedBy: ' ' }),
      'list: startedBy must be a string that is not blank, without the character NUL. It is " ".',
    ],
    [
      'a time that is none',
      () => client.list({ since: 'yesterday' }),
      'list: since must be a time such as "2026-11-23T08:00:00Z" or "2026-11-23", or how long ago it is, such as "2h" or "3d". It is "yesterday".',
    ],
    ['a time without its zone', () => client.list({ until: '2026-11-23T08:00:00' }), 'list: until must be a time such as'],
    ['a date that is none', () => client.interrupts({ waitingSince: new Date('x') }), 'interrupts: waitingSince must be a time such as'],
    [
      'a number for who may answer',
      () => client.interrupts({ mayAnswer: 5 as never }),
      'interrupts: mayAnswer must be a string that is not blank, without the character NUL. It is 5.',
    ],
    [
      'who may answer runs that have ended',
      () => client.list({ mayAnswer: 'ada', status: 'failed' }),
      'list: mayAnswer is for runs that wait, and status is "failed"; leave one of them out.',
    ],
    [
      'a count that the server cannot make',
      () => client.list({ waitingSince: '2h', total: true }),
      'list: total counts on the server, which does not know waitingSince; leave one of them out.',
    ],
    [
      'a count of a tag with a quote',
      () => client.list({ tag: ['a', '"b"'], total: true }),
      'list: total counts on the server, which cannot look for a text with ", \\ or a control character; leave one of them out.',
    ],
    ['tags of isolated agents', () => client.list({ parent: 'r', tag: 'x' }), 'list: tag is one of the run that somebody started'],
    ['a tenant that is none', () => client.list({ tenant: 'a/b' }), 'list: tenant must be 1 to 200 letters, digits'],
    ['a cursor that is none', () => client.list({ after: 'abc' }), 'list: after must be the "next" of the page before. It is "abc".'],
    ['a list of null', () => client.list(null as never), 'list: the options must be an object, not null.'],
    ['an inbox of a text', () => client.interrupts('all' as never), 'interrupts: the options must be an object, not "all".'],
    ['an inbox of none', () => client.interrupts({ limit: 0 }), 'interrupts: limit must be a whole number of at least 1. It is 0.'],
    ['an approval with null', () => run.approve('i', null as never), 'The approval: the options must be an object, not null.'],
    ['a rejection with null', () => run.reject('i', 'no', null as never), 'The rejection: the options must be an object, not null.'],
    ['an answer with null', () => run.resume('i', 1, null as never), 'The answer: the options must be an object, not null.'],
    ['an answer to no text', () => run.resume(5 as never, 1), 'The id of the interrupt must be a string. It is 5.'],
    ['an answer of no name', () => run.approve('i', { by: {} as never }), 'by must be a name of 1 to 200 characters. It is {}.'],
    ['an answer to no hash', () => run.approve('i', { inputHash: 5 as never }), 'inputHash must be a string. It is 5.'],
  ])('is refused with what to send: %s', async (_, act, message) => {
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
    for (const act of acts)
      expect(await refusal(act)).toEqual({ code: 'request-invalid', message: 'This client is closed. Connect again for a new one.' });
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
