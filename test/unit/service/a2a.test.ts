import { approval, askHuman } from 'holdfast/middleware';
import type { ScriptedStep, TestConversation } from 'holdfast/testing';
import { scriptedModel, testConversation } from 'holdfast/testing';
import type { AgentMiddleware } from 'holdfast/workflow';
import type { Client } from '@a2a-js/sdk/client';
import type { Json } from '../../../contract/messages/messages';
import { a2aApp, askedBy, clientOf, data, rpc, saying, stateOf, text, textsOf, told } from '../../support/a2a-bed';
import { agentUnder, agentWith, echo, heldTool, logOf, tools } from '../../support/memory-bed';

const asks = approval({ tools: { echo: true } });
const callsThenSays: readonly ScriptedStep[] = [{ toolCalls: [echo('hi')] }, { text: 'Done.' }];

async function atWork(...more: readonly ScriptedStep[]) {
  const { held: slow, door } = heldTool();
  const model = scriptedModel([{ toolCalls: [{ name: 'slow', input: {} }] }, ...more, { text: 'Done.' }, { text: 'Next.' }]);
  const agent = agentWith({ tools: ['slow', 'echo'], middleware: [asks] });
  const chat = await testConversation(agent, { model, tools: { ...tools, slow } });
  const closing = new AbortController();
  return { chat, door, closing, client: await clientOf(a2aApp(chat, closing.signal)) };
}

async function contextWith(script: readonly ScriptedStep[], ...middleware: readonly AgentMiddleware[]) {
  const chat: TestConversation = await testConversation(agentUnder(...middleware), { model: scriptedModel(script), tools });
  const app = a2aApp(chat);
  const client: Client = await clientOf(app);
  return { chat, app, client };
}

const get = (client: Client, id: string, historyLength?: number) =>
  client.getTask({ tenant: '', id, ...(historyLength === undefined ? {} : { historyLength }) });
const cancel = (client: Client, id: string) => client.cancelTask({ tenant: '', id, metadata: undefined });
const list = async (client: Client, more: object = {}) =>
  client.listTasks({ tenant: '', contextId: 'test', status: 0, pageToken: '', statusTimestampAfter: undefined, ...more });
const codeOf = async (asked: Promise<unknown>): Promise<string> => {
  try {
    await asked;
    return 'nothing';
  } catch (error) {
    const { constructor, data: details } = error as { constructor: { name: string }; data?: { metadata: { code: string } }[] };
    return `${constructor.name.replace(/^JsonRpc|Error$/g, '')} ${details?.[0]?.metadata.code}`;
  }
};
const waiting = async (client: Client, taskId = '') => client.sendMessage(saying('Hi.', { taskId }));
const asTask = (sent: unknown) => sent as Awaited<ReturnType<typeof get>>;

it('the card of an agent says where its tasks are, by the name and the scheme that it was asked by', async () => {
  const { app } = await contextWith([]);
  const card = async (headers: Record<string, string>) =>
    (await (await app.request('http://agents.example/a2a/other/.well-known/agent-card.json', { headers })).json()) as Json;
  expect(await card({})).toMatchObject({
    name: 'other',
    supportedInterfaces: [{ url: 'http://agents.example/a2a/other', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    capabilities: { streaming: true },
  });
  expect(await card({ 'x-forwarded-proto': 'https' })).toMatchObject({
    supportedInterfaces: [{ url: 'https://agents.example/a2a/other' }],
  });
});

describe('a task', () => {
  it('has an artifact for each message of the agent, and what a conversation says before is not in it', async () => {
    const { client } = await contextWith([{ text: 'One.' }, { text: 'Looking.', toolCalls: [echo('hi')] }, { text: 'Two.' }]);
    await client.sendMessage(saying('First.'));
    const task = asTask(await client.sendMessage(saying('Second.')));
    expect([task.contextId, textsOf(task)]).toEqual(['test', ['Looking.', 'Two.']]);
  });

  it('is a turn, completed with what the agent has said, and the same one when the message comes again, also later and otherwise', async () => {
    const { chat, client } = await contextWith([{ text: 'Once.' }, { text: 'Twice.' }]);
    const message = saying('Hi.', { messageId: 'same' });
    const first = asTask(await client.sendMessage(message));
    expect([stateOf(first), textsOf(first)]).toEqual(['COMPLETED', ['Once.']]);
    expect(first.history.map(({ parts }) => parts[0]?.content?.value)).toEqual(['Hi.']);
    expect(await get(client, first.id)).toEqual(first);
    expect(await codeOf(told(client.resubscribeTask({ tenant: '', id: first.id })))).toBe('UnsupportedOperation task-ended');
    await client.sendMessage(saying('More.'));
    expect(asTask(await client.sendMessage(message))).toEqual(first);
    expect((await told(client.sendMessageStream(message))).task).toEqual(first);
    expect((await chat.view()).turn).toBe(2);
  });

  it('is in a context of its own when the message names none, and in the same one again', async () => {
    const { app } = await contextWith([{ text: 'Hello.' }]);
    const params = (said: string) => ({ message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: said }] } });
    const ids = await Promise.all(
      ['Hi.', 'Hi.', 'Another.'].map(async (said) => {
        const { body } = await rpc(app, 'SendMessage', params(said));
        return body.result?.task.contextId as string;
      }),
    );
    expect(ids[0]).toBe(ids[1]);
    expect(ids[0]).not.toBe(ids[2]);
  });

  it('says what failed, and the context takes the next message', async () => {
    const { client } = await contextWith([{ error: 'Out of order.', retryable: false }, { text: 'Better.' }]);
    const failed = asTask(await client.sendMessage(saying('Hi.')));
    expect(stateOf(failed)).toBe('FAILED');
    expect(failed.status?.message?.parts.map(({ content }) => content?.value)).toEqual([
      expect.stringContaining('Out of order'),
      { code: 'model-failed' },
    ]);
    expect(textsOf(asTask(await client.sendMessage(saying('Again?'))))).toEqual(['Better.']);
  });

  it('has data beside its text, as its JSON, and files', async () => {
    const { chat, client } = await contextWith([{ text: 'Seen.' }]);
    const file = {
      content: { $case: 'raw' as const, value: Buffer.from('abc') },
      metadata: undefined,
      filename: '',
      mediaType: 'image/png',
    };
    await client.sendMessage(saying([text('See:'), data({ order: 42 }), file]));
    const [said] = (await chat.transcript()).messages;
    expect(said?.message.parts).toEqual([
      { type: 'text', text: 'See:' },
      { type: 'text', text: '{"order":42}' },
      { type: 'file', mediaType: 'image/png', data: 'YWJj' },
    ]);
  });
});

describe('a stream', () => {
  it('ends with a question, a second one shows the task that waits, and the stream of the answer goes on with the same task', async () => {
    const { client } = await contextWith(callsThenSays, asks);
    const { task } = await told(client.sendMessageStream(saying('Hi.')));
    const again = await told(client.resubscribeTask({ tenant: '', id: task.id }));
    expect([stateOf(again.task), again.lines]).toEqual(['INPUT_REQUIRED', []]);
    const [asked] = askedBy(again.task);
    const answer = saying([data({ interruptId: asked?.interruptId ?? '', approved: true })], { taskId: task.id });
    const resumed = await told(client.sendMessageStream(answer));
    expect(resumed.task.id).toBe(task.id);
    const done = await get(client, task.id);
    expect([stateOf(done), textsOf(done)]).toEqual(['COMPLETED', ['Done.']]);
  });

  it('says that the service closes, and the task goes on', async () => {
    const { chat, door, closing, client } = await atWork();
    let id = '';
    const follow = async (): Promise<void> => {
      for await (const { payload } of client.sendMessageStream(saying('Hi.'))) {
        if (payload?.$case === 'task') id = payload.value.id;
        closing.abort();
      }
    };
    await expect(follow()).rejects.toThrow(/service closes/);
    door.open();
    await chat.turn(1);
    expect(stateOf(await get(client, id))).toBe('COMPLETED');
  });

  it('of a task at work shows the rest to somebody who comes later', async () => {
    const { door, client } = await atWork();
    const { id } = asTask(await client.sendMessage(saying('Hi.', {}, true)));
    const stream = client.resubscribeTask({ tenant: '', id });
    const { value } = await stream.next();
    expect(value?.payload?.$case).toBe('task');
    door.open();
    const lines: string[] = [];
    for await (const { payload } of stream) lines.push(payload?.$case ?? '');
    expect(lines).toEqual(['artifactUpdate', 'artifactUpdate', 'statusUpdate']);
  });
});

describe('a question', () => {
  it('has a text for people, data with what an answer must be, as much history as somebody asks for, and keeps new tasks out', async () => {
    const { client } = await contextWith(callsThenSays, asks);
    const message = saying('Hi.');
    const task = asTask(await client.sendMessage(message));
    expect(await codeOf(client.sendMessage(saying('Never mind.')))).toBe('UnsupportedOperation interrupts-open');
    expect(asTask(await client.sendMessage(message))).toEqual(task);
    expect(stateOf(task)).toBe('INPUT_REQUIRED');
    expect(task.status?.message?.parts[0]?.content).toEqual({ $case: 'text', value: 'May echo be called? {"text":"hi"}' });
    expect(askedBy(task)).toEqual([
      expect.objectContaining({ kind: 'approval', tool: 'echo', input: { text: 'hi' }, answerSchema: expect.anything() }),
    ]);
    const histories = [undefined, 1, 0].map(async (length) => (await get(client, task.id, length)).history.length);
    expect(await Promise.all(histories)).toEqual([2, 1, 0]);
  });

  const answered = async (middleware: AgentMiddleware, script: readonly ScriptedStep[], answer: Parameters<typeof saying>[0]) => {
    const { chat, client } = await contextWith(script, middleware);
    const { id } = asTask(await waiting(client));
    const task = asTask(await client.sendMessage(saying(answer, { taskId: id })));
    const end = (await logOf(chat.run)).find(({ type }) => type === 'interrupt-end');
    return { task, answer: end?.type === 'interrupt-end' ? end.answer : undefined };
  };

  it.each<readonly [string, Parameters<typeof saying>[0], Json]>([
    ['an approval', [data({ approved: true })], { type: 'approve' }],
    ['edited arguments', [data({ approved: true, editedArgs: { text: 'no' } })], { type: 'approve', editedInput: { text: 'no' } }],
    ['a rejection', [data({ approved: false, reason: 'Too much.' })], { type: 'reject', feedback: 'Too much.' }],
    ['a decision in the form of Holdfast', [data({ type: 'respond', output: 'given' })], { type: 'respond', output: 'given' }],
    ['"yes"', 'Yes.', { type: 'approve' }],
    ['"approve"', 'approve', { type: 'approve' }],
    ['"no"', 'no', { type: 'reject' }],
  ])('takes %s', async (_, answer, counted) => {
    const { task, answer: seen } = await answered(asks, callsThenSays, answer);
    expect([stateOf(task), seen]).toEqual(['COMPLETED', counted]);
  });

  it('of the agent takes a text', async () => {
    const script = [{ toolCalls: [{ name: 'askHuman', input: { question: 'Which color?' } }] }, { text: 'Blue it is.' }];
    const { task, answer } = await answered(askHuman({}), script, 'blue');
    expect([stateOf(task), answer]).toEqual(['COMPLETED', 'blue']);
  });

  it('is asked again after a text that says nothing sure', async () => {
    const { task, answer } = await answered(asks, callsThenSays, 'Well, perhaps yes');
    expect([stateOf(task), answer, askedBy(task).length]).toEqual(['INPUT_REQUIRED', undefined, 1]);
    expect(task.status?.message?.parts[0]?.content?.value).toMatch(/not understood/);
  });

  it('of a call that the client makes takes its output or its error, and nothing else', async () => {
    const external: AgentMiddleware = {
      name: 'external',
      wrapToolCall: async (call, _, ctx) => {
        const info = { externalCall: { tool: call.name, callId: call.id, input: call.input } };
        return JSON.stringify(await ctx.interrupt(info, { kind: 'custom' }));
      },
    };
    const { client } = await contextWith(callsThenSays, external);
    const task = asTask(await waiting(client));
    expect(askedBy(task)).toEqual([expect.objectContaining({ kind: 'custom', tool: 'echo', input: { text: 'hi' } })]);
    const answer = (said: Json) => client.sendMessage(saying([data(said)], { taskId: task.id }));
    expect(await codeOf(answer({ anything: 1 }))).toBe('RequestMalformed answer-invalid');
    expect(stateOf(asTask(await answer({ output: 'made' })))).toBe('COMPLETED');
  });

  it('is answered by its id where it is not the first of its task: the same words again say nothing', async () => {
    const steps = [{ toolCalls: [echo('one')] }, { toolCalls: [echo('two')] }, { text: 'Done.' }];
    const { client, chat } = await contextWith(steps, asks);
    const { id } = asTask(await waiting(client));
    const yes = saying('yes', { taskId: id, messageId: 'yes-1' });
    expect(stateOf(asTask(await client.sendMessage(yes)))).toBe('INPUT_REQUIRED');
    const [second] = await chat.run.interrupts();
    expect(stateOf(asTask(await client.sendMessage(yes)))).toBe('INPUT_REQUIRED');
    expect(await codeOf(client.sendMessage(saying([data({ approved: true })], { taskId: id })))).toContain('answer-invalid');
    expect((await chat.run.interrupts()).map(({ id: open }) => open)).toEqual([second?.id]);
    const answer = saying([data({ interruptId: second?.id ?? '', approved: true })], { taskId: id });
    expect(stateOf(asTask(await client.sendMessage(answer)))).toBe('COMPLETED');
  });

  it('counts once when it comes twice at the same moment, and another one is refused', async () => {
    const { client } = await contextWith([{ toolCalls: [echo('hi')] }, { text: 'Done.' }], approval({ tools: { echo: true } }));
    const task = asTask(await waiting(client));
    const [asked] = askedBy(task);
    const answer = (approved: boolean) =>
      client.sendMessage(saying([data({ interruptId: asked!.interruptId, approved })], { taskId: task.id }));
    const settled = await Promise.allSettled([answer(true), answer(true), answer(false)]);
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
  });

  it('may be one of several: each is answered by its id, in any order', async () => {
    const { client } = await contextWith([{ toolCalls: [echo('a'), echo('b')] }, { text: 'Done.' }], asks);
    const task = asTask(await waiting(client));
    const [first, second] = askedBy(task).map(({ interruptId }) => interruptId);
    const answer = (said: Json) => client.sendMessage(saying([data(said)], { taskId: task.id }));
    expect(await codeOf(answer({ approved: true }))).toBe('RequestMalformed answer-invalid');
    expect(stateOf(asTask(await client.sendMessage(saying('yes', { taskId: task.id }))))).toBe('INPUT_REQUIRED');
    const half = asTask(await answer({ interruptId: second!, approved: true }));
    expect([stateOf(half), askedBy(half).map(({ interruptId }) => interruptId)]).toEqual(['INPUT_REQUIRED', [first]]);
    expect(stateOf(asTask(await answer({ interruptId: second!, approved: true })))).toBe('INPUT_REQUIRED');
    expect(await codeOf(answer({ interruptId: second!, approved: false }))).toBe('UnsupportedOperation interrupt-answered');
    expect(stateOf(asTask(await answer({ interruptId: first!, approved: true })))).toBe('COMPLETED');
  });

  it.each<readonly [string, Json, string]>([
    ['that nobody asked', { interruptId: 'forged', approved: true }, 'RequestMalformed interrupt-unknown'],
    ['with other arguments in mind', { approved: true, inputHash: 'other' }, 'UnsupportedOperation answer-stale'],
    ['with arguments that the tool does not take', { approved: true, editedArgs: { text: 1 } }, 'RequestMalformed answer-invalid'],
    ['that decides nothing', { approved: 'true' }, 'RequestMalformed answer-invalid'],
    ['of no form', 'yes', 'RequestMalformed answer-invalid'],
  ])('refuses an answer %s, and waits on', async (_, answer, refusal) => {
    const { client } = await contextWith(callsThenSays, asks);
    const { id } = asTask(await waiting(client));
    expect(await codeOf(client.sendMessage(saying([data(answer)], { taskId: id })))).toBe(refusal);
    expect(stateOf(await get(client, id))).toBe('INPUT_REQUIRED');
  });

  it('is answered by those alone who may, as `metadata` says', async () => {
    const { client } = await contextWith(callsThenSays, approval({ tools: { echo: { by: ['ann'] } } }));
    const { id } = asTask(await waiting(client));
    const answer = (by: string) => client.sendMessage(saying('yes', { taskId: id, metadata: { by } }));
    expect(await codeOf(answer('bob'))).toBe('UnsupportedOperation answer-forbidden');
    expect(stateOf(asTask(await answer('ann')))).toBe('COMPLETED');
  });
});

describe('a task at work', () => {
  it('is told at once to a client that does not wait, and takes no further message', async () => {
    const { door, client } = await atWork();
    const task = asTask(await client.sendMessage(saying('Hi.', {}, true)));
    expect(stateOf(task)).toBe('WORKING');
    expect(await codeOf(client.sendMessage(saying('Faster!', { taskId: task.id })))).toBe('UnsupportedOperation conversation-busy');
    const next = asTask(await client.sendMessage(saying('And then?', {}, true)));
    expect([stateOf(next), stateOf(await get(client, next.id))]).toEqual(['SUBMITTED', 'SUBMITTED']);
    door.open();
  });

  it('has another one after it, which is waited for and followed from its own beginning', async () => {
    const { door, client } = await atWork();
    await client.sendMessage(saying('Hi.', {}, true));
    const waited = client.sendMessage(saying('And then?'));
    const stream = client.sendMessageStream(saying('And then?'));
    const { value: first } = await stream.next();
    expect(first?.payload?.$case === 'task' ? stateOf(first.payload.value) : '').toBe('SUBMITTED');
    door.open();
    expect(textsOf(asTask(await waited))).toEqual(['Next.']);
    const states: string[] = [];
    for await (const { payload } of stream) if (payload?.$case === 'statusUpdate') states.push(stateOf(payload.value));
    expect(states).toEqual(['WORKING', 'COMPLETED']);
  });

  it('that comes to ask something keeps the tasks waiting that come after it', async () => {
    const { chat, door, client } = await atWork({ toolCalls: [echo('hi')] });
    const { id } = asTask(await client.sendMessage(saying('Hi.', {}, true)));
    await client.sendMessage(saying('And then?', { messageId: 'next' }, true));
    const message = saying('And then?', { messageId: 'next' });
    const next = client.sendMessage(message);
    door.open();
    expect(stateOf(asTask(await next))).toBe('SUBMITTED');
    await chat.run.outcome();
    expect(asTask(await client.sendMessage(message)).status?.message?.parts[0]?.content?.value).toMatch(/waits for somebody/);
    expect(stateOf(asTask(await client.sendMessage(saying('yes', { taskId: id }))))).toBe('COMPLETED');
    expect(textsOf(asTask(await client.sendMessage(message)))).toEqual(['Next.']);
  });

  it('is canceled when its tools are through', async () => {
    const { chat, door, client } = await atWork();
    const { id } = asTask(await client.sendMessage(saying('Hi.', {}, true)));
    const cancelled = cancel(client, id);
    for await (const event of chat.run.events()) if (event.type === 'conversation-change') break;
    door.open();
    expect(stateOf(await cancelled)).toBe('CANCELED');
  });
});

describe('cancelling', () => {
  it('withdraws the approval that waits, and stops the turn', async () => {
    const { chat, client } = await contextWith(callsThenSays, asks);
    const { id } = asTask(await waiting(client));
    expect(stateOf(await cancel(client, id))).toBe('CANCELED');
    const log = await logOf(chat.run);
    expect(log.map(({ type }) => type)).not.toContain('tool-start');
    expect(log).toContainEqual(expect.objectContaining({ type: 'interrupt-end', reason: 'cancel' }));
    expect(await codeOf(cancel(client, id))).toBe('TaskNotCancelable task-ended');
  });

  it('withdraws a question, whose answer comes too late then', async () => {
    const script = [{ toolCalls: [{ name: 'askHuman', input: { question: 'Which color?' } }] }, { text: 'Another one.' }];
    const { client } = await contextWith(script, askHuman({}));
    const { id } = asTask(await waiting(client));
    expect(stateOf(await cancel(client, id))).toBe('CANCELED');
    expect(await codeOf(client.sendMessage(saying('blue', { taskId: id })))).toBe('UnsupportedOperation task-ended');
    expect(stateOf(asTask(await client.sendMessage(saying('Hi again.'))))).toBe('COMPLETED');
  });

  it('takes a message back that waits for its turn', async () => {
    const { chat, client } = await contextWith([{ text: 'Never.' }]);
    await chat.pause();
    const task = asTask(await client.sendMessage(saying('Hi.')));
    expect(stateOf(task)).toBe('SUBMITTED');
    expect(stateOf(await get(client, task.id))).toBe('SUBMITTED');
    expect((await list(client)).tasks.map(({ id }) => id)).toEqual([task.id]);
    expect(stateOf(await cancel(client, task.id))).toBe('CANCELED');
    expect(stateOf(await get(client, task.id))).toBe('CANCELED');
  });
});

it('the list of a context has its tasks, the newest first, by page and by state, also asked for without a status, and without artifacts unless asked', async () => {
  const { client } = await contextWith([{ text: 'One.' }, { error: 'No.', retryable: false }, { text: 'Three.' }]);
  const ids: string[] = [];
  for (const said of ['a', 'b', 'c']) ids.unshift(asTask(await client.sendMessage(saying(said))).id);
  const all = await list(client, { includeArtifacts: true });
  expect([all.totalSize, all.tasks.map(({ id }) => id)]).toEqual([3, ids]);
  expect(all.tasks.map(textsOf)).toEqual([['Three.'], [], ['One.']]);
  expect((await list(client)).tasks.flatMap(({ artifacts }) => artifacts)).toEqual([]);
  const page = await list(client, { pageSize: 2 });
  expect((await list(client, { pageSize: 2, pageToken: page.nextPageToken })).tasks.map(({ id }) => id)).toEqual(ids.slice(2));
  expect((await list(client, { status: 4 })).tasks.map(({ id }) => id)).toEqual([ids[1]]);
  const ofOlderSdk = await client.listTasks({ contextId: 'test' } as Parameters<Client['listTasks']>[0]);
  expect(ofOlderSdk.tasks.map(({ id }) => id)).toEqual(ids);
  expect((await list(client, { statusTimestampAfter: '2999-01-01T00:00:00Z' })).tasks).toEqual([]);
});
