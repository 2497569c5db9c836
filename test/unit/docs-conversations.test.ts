import { connect } from 'holdfast/client';
import type { HoldfastClient } from 'holdfast/client';
import { scriptedModel, testConversation } from 'holdfast/testing';
import { agentsFor, textOf } from 'holdfast/workflow';
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
async function ask(client: HoldfastClient, id: string, text: string, from: string): Promise<string> {
  const chat = client.conversation('support', id, { idle: '30d' });
  const { turn } = await chat.send(text, { from });
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

it('answers twice, and ends when nobody writes for a month', async () => {
  const model = scriptedModel([{ text: 'Hello.' }, { text: 'It is on its way.' }]);
  const chat = await testConversation(refunds, { model, tools, idle: '30d' });
  await chat.send('Hi.');
  expect(await chat.send('Where is my order?')).toMatchObject({ turn: 2 });
  await chat.turn(2);
  await chat.run.advance('30d');
  expect((await chat.view()).ended).toEqual({ reason: 'idle' });
});

describeExamples(['guides/conversations'], __filename, 2);
