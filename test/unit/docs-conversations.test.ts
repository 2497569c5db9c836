import type { HoldfastClient } from 'holdfast/client';
import { scriptedModel, testConversation } from 'holdfast/testing';
import { agentsFor, textOf } from 'holdfast/workflow';
import { describeExamples } from '../support/document-examples';

const tools = {};
const { defineAgent } = agentsFor<typeof tools>();
const refunds = defineAgent({ name: 'refunds', description: 'Issues refunds.', instructions: '', model: 'default', tools: [] });

/** Says something, waits for the turn, and gives the answer. */
export async function ask(client: Pick<HoldfastClient, 'conversation'>, id: string, text: string, from: string): Promise<string> {
  const chat = client.conversation('support', id, { idle: '30d' });
  const { turn } = await chat.send(text, { from });
  if (turn === undefined) return 'No worker is there. The message waits.';
  await chat.turn(turn);
  const { messages } = await chat.transcript({ limit: 1 });
  return textOf(messages[0]!.message);
}

it('asks twice in one conversation', async () => {
  const chat = await testConversation(refunds, { model: scriptedModel([{ text: 'Hello.' }, { text: 'Soon.' }]), tools });
  const client = { conversation: () => chat } as unknown as HoldfastClient;
  expect(await ask(client, 'c1', 'Hi.', 'Ann')).toBe('Hello.');
  expect(await ask(client, 'c1', 'When?', 'Ben')).toBe('Soon.');
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
