import { scriptedModel, testConversation } from 'holdfast/testing';
import { defineTool } from 'holdfast/worker';
import type { Json } from 'holdfast/workflow';
import { agentsFor } from 'holdfast/workflow';
import { z } from 'zod';
import { conversationExamples, runExamples } from '../../support/document-examples';

const written: unknown[] = [];
const closed = jest.fn();

// The example is a program and runs at import.
jest.mock('holdfast/client', () => ({ connect: () => served() }));

async function served(): Promise<object> {
  await Promise.resolve(); // The example starts before the page has given its agent.
  jest.spyOn(console, 'log').mockImplementation((text) => void written.push(text));
  const chat = await testConversation(refunds, { model: scriptedModel([{ text: 'Hello.' }, { text: 'Soon.' }]), tools });
  return { conversation: () => chat, close: closed };
}

const { guide, makeCalls, refunds, say } = runExamples(conversationExamples, require);
const tools = {};

it('asks twice in one conversation', async () => {
  while (closed.mock.calls.length === 0) await new Promise(setImmediate);
  expect(written).toEqual(['Hello.', 'Soon.']);
});

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
  await makeCalls(chat.run, (input: Json) =>
    (input as { of: string }).of === 'car' ? Promise.resolve('red') : Promise.reject(new Error('No.')),
  );
  expect(await chat.turn(1)).toMatchObject({ status: 'completed' });
  expect(model.requests[1]?.messages.flatMap(({ parts }) => parts).slice(-2)).toMatchObject([
    { output: 'red' },
    { output: 'Error: No.', isError: true },
  ]);
});

it('tells the model of a tool that the page has', async () => {
  const model = scriptedModel([{ text: 'It is open.' }]);
  const chat = await testConversation(guide, { model, tools });
  await say(chat, 'Open my orders.');
  await chat.turn(1);
  expect(model.requests[0]?.tools).toMatchObject([{ name: 'openPage', description: 'Opens a page of the app.' }]);
});
