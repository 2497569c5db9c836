import { textOf } from '../../../contract/messages/messages';
import { agentWith } from '../../support/memory-bed';
import { agents, servedConversation } from '../../support/served-conversation';
import { answerOf, appOn } from '../../support/service-app';

describe('POST /conversations/:id/messages', () => {
  it('answers with the turn in which the message takes effect', async () => {
    const { ask, chat } = await servedConversation(['Hello Ann.', 'It is 4.']);
    expect(await ask('POST', '/messages', { message: 'I am Ann.', id: 'a', by: 'Ann' })).toEqual({
      status: 200,
      body: { id: 'a', turn: 1 },
    });
    await chat.turn(1);
    expect(await ask('POST', '/messages', { message: 'I am Ann.', id: 'a' })).toEqual({ status: 200, body: { id: 'a', turn: 1 } });
    const parts = [{ type: 'text', text: '2 + 2?' }];
    expect(await ask('POST', '/messages', { message: parts, mode: 'now' })).toMatchObject({ status: 200, body: { turn: 2 } });
    await chat.turn(2);
    expect((await chat.transcript()).messages.map(({ message }) => textOf(message))).toEqual([
      'I am Ann.',
      'Hello Ann.',
      '2 + 2?',
      'It is 4.',
    ]);
  });

  it('hands on with what a conversation begins, and nothing where no agent is named', async () => {
    const { ask, opened } = await servedConversation(['One.']);
    await ask('POST', '/messages', {
      agent: 'support',
      message: 'Hi',
      idle: '30d',
      window: 5,
      title: 'Talk',
      build: 'pinned',
      tags: ['vip'],
      by: 'ann',
    });
    await ask('POST', '/messages', { message: 'Hi' });
    expect(opened).toEqual([
      ['support', 'c', { idle: '30d', window: 5, title: 'Talk', build: 'pinned', tags: ['vip'] }],
      [undefined, 'c'],
    ]);
  });

  it('hands on the tools that a message brings, and refuses what the agent does not take before anything begins', async () => {
    const agent = agentWith({ tools: ['echo'], clientTools: ['locate'] });
    const { ask, chat, model, opened } = await servedConversation(['There.'], { agent });
    const refused = { status: 400, body: { error: { code: 'client-tools-refused' } } };
    const other = [{ name: 'pay' }];
    expect(await ask('POST', '/messages', { agent: 'support', message: 'Hi', tools: other })).toMatchObject(refused);
    expect(opened).toEqual([]);
    expect(await ask('POST', '/messages', { message: 'Hi', tools: other })).toMatchObject(refused);
    const wrong = { status: 400, body: { error: { code: 'request-invalid' } } };
    for (const tools of ['all', [{}], [{ name: 'locate', execute: 'x' }], [{ name: 'locate', inputSchema: { type: 'string' } }]])
      expect(await ask('POST', '/messages', { message: 'Hi', tools })).toMatchObject(wrong);
    expect(await ask('POST', '/messages', { message: 'Hi', tools: [{ name: 'locate' }] })).toMatchObject({
      status: 200,
      body: { turn: 1 },
    });
    await chat.turn(1);
    expect(model.requests.map(({ tools }) => tools.map(({ name }) => name))).toEqual([['echo', 'locate']]);
  });

  it('answers 202 while nobody knows the turn', async () => {
    const { ask, chat } = await servedConversation([]);
    jest.spyOn(chat, 'send').mockResolvedValue({ id: 'a' });
    expect(await ask('POST', '/messages', { message: 'Hi', id: 'a', mode: 'next-step' })).toEqual({ status: 202, body: { id: 'a' } });
    expect(chat.send).toHaveBeenCalledWith('Hi', { id: 'a', mode: 'next-step', wait: '20s' });
  });

  it.each<[string, unknown, number, string]>([
    ['an agent that there is not', { agent: 'suport', message: 'Hi' }, 404, 'agent-unknown'],
    ['tools that the project does not have', { agent: 'support', message: 'Hi', options: { tools: ['nope'] } }, 400, 'options-invalid'],
    ['how it begins, without an agent', { message: 'Hi', title: 'Talk' }, 400, 'request-invalid'],
    ['no message', { agent: 'support' }, 400, 'request-invalid'],
    ['an empty message', { message: '' }, 400, 'input-invalid'],
    ['parts without a text', { message: [{ type: 'text', text: '' }] }, 400, 'input-invalid'],
    ['a message that calls a tool', { message: [{ type: 'tool-call', id: 'c', name: 'refund', input: {} }] }, 400, 'input-invalid'],
    ['a file without its data', { message: [{ type: 'file', mediaType: 'image/png', data: 5 }] }, 400, 'input-invalid'],
    ['a mode that there is not', { message: 'Hi', mode: 'soon' }, 400, 'request-invalid'],
    ['an id that is none', { message: 'Hi', id: 'no id' }, 400, 'request-invalid'],
    ['a field that there is not', { message: 'Hi', text: 'Hi' }, 400, 'request-invalid'],
    ['when it was sent', { message: 'Hi', at: 1 }, 400, 'request-invalid'],
    ['300 KB', { message: 'x'.repeat(300 * 1024) }, 413, 'input-too-large'],
    ['5 MB', { message: 'x'.repeat(5 * 1024 * 1024) }, 413, 'input-too-large'],
  ])('refuses %s', async (_, body, status, code) => {
    const { ask, chat } = await servedConversation([]);
    expect(await ask('POST', '/messages', body)).toMatchObject({ status, body: { error: { code } } });
    expect((await chat.view()).turn).toBe(0);
  });
});

describe('what waits, over HTTP', () => {
  it('is listed, changed and withdrawn', async () => {
    const { ask, chat } = await servedConversation(['One.']);
    expect(await ask('POST', '/pause', { by: 'ann' })).toEqual({ status: 200, body: { id: 'c' } });
    await ask('POST', '/messages', { message: 'a', id: 'a', by: 'Ann' });
    await ask('POST', '/messages', { message: 'b', id: 'b' });
    expect(await ask('PATCH', '/queue/a', { message: 'A', by: 'ann' })).toEqual({ status: 200, body: { id: 'a' } });
    expect(await ask('DELETE', '/queue/b?by=ann')).toEqual({ status: 200, body: { id: 'b' } });
    expect((await ask('GET', '/queue')).body.messages).toMatchObject([
      { id: 'a', by: 'Ann', mode: 'after-turn', message: { parts: [{ text: 'A' }] } },
    ]);
    expect((await ask('GET', '')).body).toMatchObject({ id: 'test', status: 'idle', paused: true, turn: 0, queue: [{ id: 'a' }] });
    expect(await ask('POST', '/unpause', {})).toMatchObject({ status: 200 });
    await chat.turn(1);
    expect(await ask('DELETE', '/queue/a')).toMatchObject({ status: 404, body: { error: { code: 'message-unknown' } } });
    expect(await ask('PATCH', '/queue/a', { message: 'A' })).toMatchObject({ status: 404, body: { error: { code: 'message-unknown' } } });
  });

  it.each<[string, string, unknown, string]>([
    ['PATCH', '/queue/a', { message: '' }, 'input-invalid'],
    ['PATCH', '/queue/no id', { message: 'x' }, 'request-invalid'],
    ['DELETE', '/queue/no id', undefined, 'request-invalid'],
    ['DELETE', '/queue/a?who=ann', undefined, 'request-invalid'],
    ['POST', '/pause', { who: 'ann' }, 'request-invalid'],
    ['POST', '/end', { mode: 'soon' }, 'request-invalid'],
    ['POST', '/title', { title: '' }, 'request-invalid'],
    ['GET', '/transcript?limit=0', undefined, 'request-invalid'],
    ['GET', '/transcript?limit=501', undefined, 'request-invalid'],
    ['GET', '/queue?limit=5', undefined, 'request-invalid'],
  ])('%s %s with %j is refused', async (method, path, body, code) => {
    const { ask } = await servedConversation([]);
    expect(await ask(method, path, body)).toMatchObject({ status: 400, body: { error: { code } } });
  });
});

describe('a conversation over HTTP', () => {
  it('is read by page, has a title, and ends: it takes no message any more', async () => {
    const { ask, chat } = await servedConversation(['a1', 'a2']);
    for (const turn of [1, 2]) {
      await ask('POST', '/messages', { message: `q${turn}` });
      await chat.turn(turn);
    }
    const { messages, before } = (await ask('GET', '/transcript?limit=2')).body;
    expect(messages).toMatchObject([
      { turn: 2, message: { role: 'user' } },
      { turn: 2, message: { role: 'assistant' } },
    ]);
    expect((await ask('GET', `/transcript?limit=2&before=${before}`)).body.messages).toMatchObject([{ turn: 1 }, { turn: 1 }]);
    expect(await ask('POST', '/title', { title: 'Numbers', by: 'ann' })).toMatchObject({ status: 200 });
    expect(await ask('POST', '/end', { by: 'ann' })).toEqual({ status: 200, body: { id: 'c' } });
    expect(await ask('POST', '/messages', { message: 'Hi' })).toMatchObject({
      status: 409,
      body: { error: { code: 'conversation-ended' } },
    });
    expect((await ask('GET', '')).body).toMatchObject({
      title: 'Numbers',
      status: 'ended',
      turn: 2,
      usage: {},
      nextOffset: expect.any(Number),
    });
  });

  it('is no run of another kind', async () => {
    const view = { id: 'r', status: 'running' };
    const app = appOn({ run: () => ({ view: () => Promise.resolve(view) }) }, { agents });
    expect(await answerOf(app, 'GET', '/conversations/r')).toMatchObject({ status: 409, body: { error: { code: 'not-a-conversation' } } });
  });
});
