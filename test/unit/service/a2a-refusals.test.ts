import { approval } from 'holdfast/middleware';
import { scriptedModel, testConversation } from 'holdfast/testing';
import type { Json } from '../../../contract/messages/messages';
import { limits } from '../../../contract/limits';
import { a2aApp, post, rpc } from '../../support/a2a-bed';
import { agentUnder, echo, tools } from '../../support/memory-bed';

const message = (more: Readonly<Record<string, unknown>> = {}): Json => ({
  message: { messageId: 'm1', contextId: 'test', role: 'ROLE_USER', parts: [{ text: 'Hi.' }], ...more },
});
const part = (given: Json): Json => message({ parts: [given] });

async function appWith() {
  const model = scriptedModel([{ toolCalls: [echo('hi')] }, { text: 'Done.' }]);
  const chat = await testConversation(agentUnder(approval({ tools: { echo: true } })), { model, tools });
  return { chat, app: a2aApp(chat) };
}

const errorOf = ({ status, body }: Awaited<ReturnType<typeof post>>) => [
  status,
  body.id,
  body.error?.code,
  body.error?.data?.[0]?.reason,
  body.error?.data?.[0]?.metadata?.code,
];

describe('a body', () => {
  it.each<readonly [string, string, number, string]>([
    ['is no JSON', '{', -32700, 'request-invalid'],
    ['is too large', JSON.stringify({ method: 'x'.repeat(3 * limits.runInput) }), -32700, 'input-too-large'],
    ['is nested too deep', `${'['.repeat(300)}${']'.repeat(300)}`, -32700, 'request-invalid'],
    ['is a list of requests', '[]', -32600, 'request-invalid'],
    ['is null', 'null', -32600, 'request-invalid'],
    ['has another version of JSON-RPC', '{"jsonrpc":"1.0","method":"GetTask"}', -32600, 'request-invalid'],
    ['has no method', '{"jsonrpc":"2.0"}', -32600, 'request-invalid'],
    ['has a method that is no text', '{"jsonrpc":"2.0","method":1}', -32600, 'request-invalid'],
    ['has a list as params', '{"jsonrpc":"2.0","method":"GetTask","params":[]}', -32600, 'request-invalid'],
    ['has no params', '{"jsonrpc":"2.0","method":"GetTask"}', -32602, 'request-invalid'],
  ])('that %s is an error of JSON-RPC', async (_, body, number, code) => {
    const { app } = await appWith();
    const [status, , seen, , ours] = errorOf(await post(app, body));
    expect([status, seen, ours]).toEqual([200, number, code]);
  });

  it('of a form is refused: a page of another site can send that without asking', async () => {
    const { app } = await appWith();
    const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'SendMessage', params: message() });
    expect(errorOf(await post(app, body, { 'content-type': 'text/plain' }))[2]).toBe(-32700);
  });
});

describe('a message', () => {
  it.each<readonly [string, Json]>([
    ['is not there', {}],
    ['is a text', { message: 'Hi.' }],
    ['has no id', message({ messageId: undefined })],
    ['has an empty id', message({ messageId: '' })],
    ['has a number as its id', message({ messageId: 1 })],
    ['has an object as its context', message({ contextId: { a: 1 } })],
    ['has no role', message({ role: undefined })],
    ['is of the agent', message({ role: 'ROLE_AGENT' })],
    ['has no parts', message({ parts: [] })],
    ['has parts that are no list', message({ parts: { text: 'Hi.' } })],
    ['has an empty part', part({})],
    ['has a part of two kinds', part({ text: 'Hi.', url: 'https://a.example' })],
    ['has a number as text', part({ text: 1 })],
    ['has a file that is not base64', part({ raw: '%%%' })],
    ['has a list as metadata', message({ metadata: [] })],
    ['has a field that nobody knows', message({ by: 'ada' })],
    ['has a time as historyLength', { ...(message() as object), configuration: { historyLength: '3d' } }],
    ['has a context that no conversation can have', message({ contextId: 'a b' })],
    ['says nothing', part({ text: '' })],
    ['is too large', part({ text: 'x'.repeat(limits.runInput + 1) })],
    ['is to a task in another context', message({ taskId: 'other~m1' })],
    ['is by nobody that there can be', message({ metadata: { by: 1 } })],
  ])('that %s is refused, and begins nothing', async (_, params) => {
    const { app, chat } = await appWith();
    for (const method of ['SendMessage', 'SendStreamingMessage']) {
      const [status, id, number, reason, code] = errorOf(await rpc(app, method, params));
      expect([status, id, number, reason]).toEqual([200, 7, -32602, 'INVALID_PARAMS']);
      expect(code).toMatch(/^(request-invalid|input-invalid|input-too-large|run-id-invalid)$/);
    }
    expect((await chat.view()).turn).toBe(0);
  });

  it('may have null for what it does not have', async () => {
    const { app } = await appWith();
    const { body } = await rpc(app, 'SendMessage', {
      ...(message({ taskId: null, metadata: null, extensions: [] }) as object),
      configuration: null,
      tenant: '',
    });
    expect(body.result.task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
  });

  it('with the id of another message is refused, and is the same task with the same content', async () => {
    const { app, chat } = await appWith();
    const { body } = await rpc(app, 'SendMessage', message());
    expect((await rpc(app, 'SendMessage', message())).body.result.task.id).toBe(body.result.task.id);
    expect(errorOf(await rpc(app, 'SendMessage', message({ parts: [{ text: 'Bye.' }] }))).slice(2)).toEqual([
      -32602,
      'INVALID_PARAMS',
      'run-id-in-use',
    ]);
    expect((await chat.view()).turn).toBe(1);
  });

  it('that asks for push notifications begins nothing, as there are none', async () => {
    const { app, chat } = await appWith();
    const params = { ...(message() as object), configuration: { taskPushNotificationConfig: { url: 'http://a.example' } } };
    expect(errorOf(await rpc(app, 'SendMessage', params)).slice(2)).toEqual([
      -32003,
      'PUSH_NOTIFICATION_NOT_SUPPORTED',
      'protocol-unsupported',
    ]);
    expect((await chat.view()).turn).toBe(0);
  });
});

describe('data that begins a context with an agent that takes jobs', () => {
  const inputSchema = { type: 'object', properties: { orderId: { type: 'string' } }, required: ['orderId'] };
  const sent = async (parts: Json) => {
    const chat = await testConversation(agentUnder(), { model: scriptedModel([{ text: 'Done.' }]), tools });
    const answer = await rpc(a2aApp(chat, undefined, inputSchema), 'SendMessage', message({ parts }));
    return { answer, said: (await chat.run.view()).messages.length };
  };

  it('is refused by its place where it does not fit, and nothing begins', async () => {
    const { answer, said } = await sent([{ data: { order: '42' } }]);
    expect(errorOf(answer).slice(2)).toEqual([-32602, 'INVALID_PARAMS', 'input-invalid']);
    expect(answer.body.error?.message).toContain('orderId is missing');
    expect(said).toBe(0);
  });

  it.each<readonly [string, Json]>([
    ['where it fits', [{ data: { orderId: '42' } }]],
    ['as a text, which is no job', [{ text: 'Where is my order?' }]],
  ])('is taken %s', async (_, parts) => {
    const { answer, said } = await sent(parts);
    expect(answer.body.error).toBeUndefined();
    expect(said).toBe(2);
  });
});

describe('the id of a task', () => {
  it.each(['', '~', 'test', 'test~', '~m1', 'test~m2', 'test~m1~m1', 'te st~m1', 'x'.repeat(10_000), 'test~\u0000', '../test~m1'])(
    'that is not of one is TaskNotFound in every method: %j',
    async (id) => {
      const { app } = await appWith();
      await rpc(app, 'SendMessage', message());
      for (const method of ['GetTask', 'CancelTask', 'SubscribeToTask'])
        expect(errorOf(await rpc(app, method, { id })).slice(2)).toEqual([-32001, 'TASK_NOT_FOUND', 'task-unknown']);
    },
  );

  it('of another agent is TaskNotFound, and nothing is told of it', async () => {
    const { app } = await appWith();
    const { body } = await rpc(app, 'SendMessage', message());
    const { id } = body.result.task;
    const asked = { jsonrpc: '2.0', id: 7, method: 'GetTask', params: { id } };
    const foreign = await post(app, JSON.stringify(asked), {}, 'other');
    expect(errorOf(foreign).slice(2)).toEqual([-32001, 'TASK_NOT_FOUND', 'task-unknown']);
    expect(foreign.body.error.message).not.toContain('"agent"');
    const answer = { ...asked, method: 'SendMessage', params: message({ messageId: 'm2', taskId: id, parts: [{ text: 'yes' }] }) };
    expect(errorOf(await post(app, JSON.stringify(answer), {}, 'other'))[2]).toBe(-32001);
    expect(errorOf(await post(app, JSON.stringify({ ...asked, method: 'CancelTask' }), {}, 'other'))[2]).toBe(-32001);
  });
});

describe('what the service does not speak', () => {
  it.each<readonly [string, number, string]>([
    ['NoSuchMethod', -32601, 'METHOD_NOT_FOUND'],
    ['message/send', -32601, 'METHOD_NOT_FOUND'],
    ['constructor', -32601, 'METHOD_NOT_FOUND'],
    ['GetExtendedAgentCard', -32007, 'EXTENDED_AGENT_CARD_NOT_CONFIGURED'],
    ['CreateTaskPushNotificationConfig', -32003, 'PUSH_NOTIFICATION_NOT_SUPPORTED'],
    ['GetTaskPushNotificationConfig', -32003, 'PUSH_NOTIFICATION_NOT_SUPPORTED'],
    ['ListTaskPushNotificationConfigs', -32003, 'PUSH_NOTIFICATION_NOT_SUPPORTED'],
    ['DeleteTaskPushNotificationConfig', -32003, 'PUSH_NOTIFICATION_NOT_SUPPORTED'],
  ])('%s', async (method, number, reason) => {
    const { app } = await appWith();
    expect(errorOf(await rpc(app, method, {}))).toEqual([200, 7, number, reason, 'protocol-unsupported']);
  });

  it.each([
    ['0.3', -32009],
    ['2.0', -32009],
    ['', -32009],
    ['1.0', undefined],
    ['1.0.2', undefined],
  ])('version "%s" of the protocol', async (version, number) => {
    const { app } = await appWith();
    expect(errorOf(await rpc(app, 'SendMessage', message(), { 'a2a-version': version }))[2]).toBe(number);
  });

  it('an agent that is not there', async () => {
    const { app } = await appWith();
    for (const path of ['/a2a/nobody', '/a2a/nobody/.well-known/agent-card.json']) {
      const method = path.endsWith('json') ? 'GET' : 'POST';
      const response = await app.request(path, { method });
      expect([response.status, await response.json()]).toMatchObject([404, { error: { code: 'agent-unknown' } }]);
    }
  });
});

it.each<readonly [string, Json]>([
  ['of no context', {}],
  ['of a context that no conversation can have', { contextId: 'a b' }],
  ['of pages of nothing', { contextId: 'test', pageSize: 0 }],
  ['of pages of too much', { contextId: 'test', pageSize: 101 }],
  ['from a page that is not of it', { contextId: 'test', pageToken: 'x' }],
  ['of a state that there is not', { contextId: 'test', status: 'TASK_STATE_HAPPY' }],
  ['after a time that is none', { contextId: 'test', statusTimestampAfter: 'yesterday' }],
])('a list %s is refused', async (_, params) => {
  const { app } = await appWith();
  expect(errorOf(await rpc(app, 'ListTasks', params)).slice(0, 3)).toEqual([200, 7, -32602]);
});
