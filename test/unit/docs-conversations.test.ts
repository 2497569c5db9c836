import { connect } from 'holdfast/client';
import type { Conversation, HoldfastClient, MessageReceipt, Run } from 'holdfast/client';
import { scriptedModel, testConversation } from 'holdfast/testing';
import { defineTool } from 'holdfast/worker';
import type { Json } from 'holdfast/workflow';
import { agentsFor, textOf } from 'holdfast/workflow';
import { z } from 'zod';
import { describeExamples } from '../support/document-examples';

const tools = {};
const { defineAgent } = agentsFor<typeof tools>();
const refunds = defineAgent({ name: 'refunds', description: 'Issues refunds.', instructions: '', model: 'default', tools: [] });

const written: unknown[] = [];
const closed = jest.fn();

// The example is a program: it runs as soon as this file is loaded.
jest.mock('holdfast/client', () => ({ connect: () => served() }));

async function served(): Promise<object> {
  jest.spyOn(console, 'log').mockImplementation((text) => void written.push(text));
  const chat = await testConversation(refunds, { model: scriptedModel([{ text: 'Hello.' }, { text: 'Soon.' }]), tools });
  return { conversation: () => chat, close: closed };
}

/** Says something, waits for the turn, and gives the answer. */
async function ask(client: HoldfastClient, id: string, text: string, by: string): Promise<string> {
  const chat = client.conversation('support', id, { idle: '30d' });
  const { turn } = await chat.send(text, { by });
  if (turn === undefined) return 'No worker is there. The message waits.';
  await chat.turn(turn);
  const { messages } = await chat.transcript({ limit: 1 });
  return textOf(messages[0]!.message);
}

async function main(): Promise<void> {
  const client = await connect();
  console.log(await ask(client, 'chat-7', 'Where is order 42?', 'Ann'));
  console.log(await ask(client, 'chat-7', 'And order 43?', 'Ben'));
  await client.close();
}

void main();

it('asks twice in one conversation', async () => {
  while (closed.mock.calls.length === 0) await new Promise(setImmediate);
  expect(written).toEqual(['Hello.', 'Soon.']);
});

/** Makes the calls that wait for this page, also after it was opened again. */
export async function makeCalls(run: Pick<Run, 'interrupts' | 'resume'>, pick: (input: Json) => Promise<Json>): Promise<void> {
  for (const interrupt of await run.interrupts()) {
    if (interrupt.kind !== 'custom') continue;
    const { externalCall } = interrupt.info as { readonly externalCall?: { readonly input: Json } };
    if (externalCall === undefined) continue;
    const answer = await pick(externalCall.input).then(
      (output) => ({ output }),
      (error: unknown) => ({ error: String(error) }),
    );
    await run.resume(interrupt.id, answer);
  }
}

it('makes the calls of a turn that waits, and says why one came to nothing', async () => {
  const pickColor = defineTool({ description: 'Lets the user pick.', inputSchema: z.object({ of: z.string() }), external: true });
  const agent = agentsFor<{ pickColor: typeof pickColor }>().defineAgent({
    ...{ name: 'picks', description: 'Picks.', instructions: '', model: 'default' },
    tools: ['pickColor'],
  });
  const toolCalls = ['car', 'roof'].map((of) => ({ name: 'pickColor', input: { of } }));
  const model = scriptedModel([{ toolCalls }, { text: 'Done.' }]);
  const chat = await testConversation(agent, { model, tools: { pickColor } });
  await chat.send('Pick.');
  await makeCalls(chat.run, (input) =>
    (input as { of: string }).of === 'car' ? Promise.resolve('red') : Promise.reject(new Error('No.')),
  );
  expect(await chat.turn(1)).toMatchObject({ status: 'completed' });
  expect(model.requests[1]?.messages.flatMap(({ parts }) => parts).slice(-2)).toMatchObject([
    { output: 'red' },
    { output: 'Error: No.', isError: true },
  ]);
});

export const guide = defineAgent({
  name: 'guide',
  description: 'Shows people around an app.',
  instructions: 'Help people to find what they need.',
  model: 'default',
  tools: [],
  clientTools: ['openPage', 'pickColor'],
});

export function say(chat: Conversation, text: string): Promise<MessageReceipt> {
  const inputSchema = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] };
  return chat.send(text, { tools: [{ name: 'openPage', description: 'Opens a page of the app.', inputSchema }] });
}

it('tells the model of a tool that the page has', async () => {
  const model = scriptedModel([{ text: 'It is open.' }]);
  const chat = await testConversation(guide, { model, tools });
  await say(chat, 'Open my orders.');
  await chat.turn(1);
  expect(model.requests[0]?.tools).toMatchObject([{ name: 'openPage', description: 'Opens a page of the app.' }]);
});

it('answers twice, and ends when nobody writes for a month', async () => {
  const model = scriptedModel([{ text: 'Hello.' }, { text: 'It is on its way.' }]);
  const chat = await testConversation(refunds, { model, tools, idle: '30d' });
  await chat.send('Hi.');
  expect(await chat.send('Where is my order?')).toMatchObject({ turn: 2 });
  await chat.turn(2);
  await chat.run.advance('30d');
  expect((await chat.view()).ended).toEqual({ reason: 'idle' });
});

describeExamples(['guides/conversations'], __filename, 3);
