import { HttpAgent } from '@ag-ui/client';
import { z } from 'zod';
import { approval } from '../../../middleware/index';
import type { TestConversation } from '../../../testing/index';
import { scriptedModel, testConversation } from '../../../testing/index';
import { defineTool } from '../../../worker/index';
import { aguiApp, postTo } from '../../support/agui-bed';
import { agentWith, echo, tools } from '../../support/memory-bed';

const pickColor = defineTool({ description: 'Lets the user pick.', inputSchema: z.object({ of: z.string() }), external: true });

function clientOf(chat: TestConversation): HttpAgent {
  const app = aguiApp(chat);
  return new HttpAgent({
    url: 'http://service/agui/agent',
    threadId: chat.id,
    fetch: (url, init) => Promise.resolve(app.request(url, init)),
  });
}

async function say(client: HttpAgent, id: string, content = 'Go on.'): Promise<void> {
  client.addMessage({ id, role: 'user', content });
  await client.runAgent();
}

const idsOf = ({ messages }: HttpAgent): readonly string[] => messages.map(({ id, role }) => `${role} ${id}`);

it('an input of AG-UI may have null for what is not there', async () => {
  const chat = await testConversation(agentWith(), { model: scriptedModel([{ text: 'Hi.' }]), tools });
  const source = { type: 'url', value: 'https://example.com/a.png', mimeType: null };
  const content = [
    { type: 'text', text: 'Look.' },
    { type: 'image', source },
  ];
  const optional = ['protocolVersion', 'parentRunId', 'state', 'tools', 'context', 'forwardedProps', 'resume'];
  const absent = Object.fromEntries(optional.map((name) => [name, null]));
  const messages = [{ id: 'u1', role: 'user', content, name: null }];
  const { status, events } = await postTo(aguiApp(chat), '/agui/agent', { threadId: chat.id, runId: 'r1', messages, ...absent });
  expect([status, events.at(-1)]).toMatchObject([200, { type: 'RUN_FINISHED', result: 'Hi.' }]);
  expect(events.some((event) => Object.values(event).includes(null))).toBe(false);
});

describe('a client of AG-UI', () => {
  const picking = (more: Parameters<typeof scriptedModel>[0]) =>
    scriptedModel([{ toolCalls: [{ name: 'pickColor', input: { of: 'car' } }] }, ...more]);

  it('has the result of a tool of its own once, and where it stood, whatever is said later', async () => {
    const agent = agentWith({ tools: ['echo', 'pickColor'], middleware: [approval({ tools: { echo: true } })] });
    const model = picking([{ text: 'Red it is.' }, { toolCalls: [echo('x')] }, { text: 'Done.' }]);
    const client = clientOf(await testConversation(agent, { model, tools: { ...tools, pickColor } }));
    await say(client, 'u1');
    client.addMessage({ id: 'mine', role: 'tool', toolCallId: 'call-1-1', content: 'red' });
    await client.runAgent();
    const first = idsOf(client);
    expect(first.map((line) => line.replace(/ agent.*/, ''))).toEqual(['user u1', 'assistant', 'tool mine', 'assistant']);
    await say(client, 'u2');
    expect(client.pendingInterrupts).toHaveLength(1);
    expect(idsOf(client).slice(0, -1)).toEqual([...first, 'user u2']);
  });

  it('gives a result of texts as their text', async () => {
    const model = picking([{ text: 'Red it is.' }]);
    const client = clientOf(await testConversation(agentWith({ tools: ['pickColor'] }), { model, tools: { pickColor } }));
    await say(client, 'u1');
    client.addMessage({ id: 'mine', role: 'tool', toolCallId: 'call-1-1', content: [{ type: 'text', text: 'red' }] });
    await client.runAgent();
    expect(model.requests[1]?.messages.at(-1)?.parts).toMatchObject([{ type: 'tool-result', output: 'red' }]);
  });

  it('gets rid of a question that has expired by cancelling it', async () => {
    const agent = agentWith({ middleware: [approval({ tools: { echo: { expires: '1h' } } })] });
    const model = scriptedModel([{ toolCalls: [echo('x')] }, { text: 'Never mind.' }, { text: 'Hi.' }]);
    const chat = await testConversation(agent, { model, tools });
    const client = clientOf(chat);
    await say(client, 'u1');
    const [asked] = client.pendingInterrupts;
    await chat.run.advance('2h');
    await client.runAgent({ resume: [{ interruptId: asked?.id ?? '', status: 'cancelled' }] });
    expect([client.pendingInterrupts, client.messages.at(-1)]).toMatchObject([[], { content: 'Never mind.' }]);
    await say(client, 'u2');
    expect(client.messages.at(-1)).toMatchObject({ content: 'Hi.' });
  });

  it('tries again by the same messages when the turn has failed, and has its message once', async () => {
    const model = scriptedModel([{ error: 'No.' }, { toolCalls: [echo('x')] }, { text: 'Done.' }]);
    const chat = await testConversation(agentWith({ middleware: [approval({ tools: { echo: true } })] }), { model, tools });
    const client = clientOf(chat);
    const codes: (string | undefined)[] = [];
    client.addMessage({ id: 'u1', role: 'user', content: 'Go on.' });
    await client.runAgent({}, { onRunErrorEvent: ({ event }) => void codes.push(event.code) });
    await client.runAgent();
    expect([codes.length, client.pendingInterrupts.length]).toEqual([1, 1]);
    expect(client.messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
    const [asked] = client.pendingInterrupts;
    await client.runAgent({ resume: [{ interruptId: asked?.id ?? '', status: 'resolved', payload: { approved: true } }] });
    expect(client.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
    const requests = model.requests.length;
    client.setMessages(client.messages.slice(0, 1));
    await client.runAgent();
    expect([client.messages.at(-1), model.requests.length]).toMatchObject([{ content: 'Done.' }, requests]);
  });
});
