import type { Message, Part } from '../../../../contract/messages/messages';
import type { FakeAnswer, FakeProvider } from '../../../support/fake-provider/fake-provider';
import { startFakeProvider } from '../../../support/fake-provider/fake-provider';
import type { RealClient } from '../../../support/fake-provider/real-clients';
import { askedWith, collected, modelOf, realClients, user } from '../../../support/fake-provider/real-clients';

const look = { name: 'look', description: 'Looks.', inputSchema: { type: 'object', properties: { at: { type: 'string' } } } };
const png = 'iVBORw0KGgo=';

let fake: FakeProvider;
beforeEach(async () => (fake = await startFakeProvider()));
afterEach(() => fake.close());

const bodyOf = (index: number): Record<string, any> => fake.requests[index]!.body; // eslint-disable-line @typescript-eslint/no-explicit-any
const clientNamed = (name: RealClient['name']): RealClient => realClients.find((client) => client.name === name)!;
const textAnswer = (...text: string[]): FakeAnswer => ({ blocks: [{ type: 'text', text }] });

describe('what a provider wants back', () => {
  async function sentBack(
    client: RealClient,
    answer: FakeAnswer,
  ): Promise<Record<string, any>> /* eslint-disable-line @typescript-eslint/no-explicit-any */ {
    const model = await modelOf(client, fake);
    fake.answer(answer, textAnswer('Done.'));
    const { parts } = await collected(model.stream(askedWith({ tools: [look] })));
    const stored = JSON.parse(JSON.stringify(parts)) as readonly Part[];
    const messages: Message[] = [
      user('Hi'),
      { role: 'assistant', parts: stored },
      { role: 'tool', parts: [{ type: 'tool-result', callId: 'call_a', name: 'look', output: 'seen' }] },
    ];
    await model.generate(askedWith({ tools: [look], messages }));
    return bodyOf(1);
  }
  const thought: FakeAnswer = {
    blocks: [
      { type: 'reasoning', text: ['Hm', 'm.'], signature: 'signed' },
      { type: 'tool-call', id: 'call_a', name: 'look', input: { at: 'x' }, signature: 'of the call' },
    ],
  };

  it('is the signature of its thoughts, with Anthropic', async () => {
    const { messages } = await sentBack(clientNamed('anthropic'), thought);
    expect(messages[1].content).toMatchObject([{ type: 'thinking', thinking: 'Hmm.', signature: 'signed' }, { type: 'tool_use' }]);
  });

  it('are the encrypted thoughts, and nothing that OpenAI would have to remember', async () => {
    const { store, include, input } = await sentBack(clientNamed('openai'), thought);
    expect({ store, include }).toEqual({ store: false, include: ['reasoning.encrypted_content'] });
    expect(input).toMatchObject([
      { role: 'developer' },
      { role: 'user' },
      { type: 'reasoning', encrypted_content: 'signed', summary: [{ text: 'Hmm.' }] },
      { type: 'function_call', call_id: 'call_a' },
      { type: 'function_call_output', call_id: 'call_a', output: 'seen' },
    ]);
    expect(JSON.stringify(input)).not.toContain('item_reference');
  });

  it('are the signatures of thoughts and calls, with Google', async () => {
    const { contents } = await sentBack(clientNamed('google'), thought);
    expect(contents[1].parts).toMatchObject([
      { text: 'Hmm.', thought: true, thoughtSignature: 'signed' },
      { functionCall: { name: 'look' }, thoughtSignature: 'of the call' },
    ]);
  });

  it('is the picture that it made, with Google', async () => {
    const { contents } = await sentBack(clientNamed('google'), {
      blocks: [
        { type: 'file', mediaType: 'image/png', data: png, signature: 'of the picture' },
        { type: 'tool-call', id: 'call_a', name: 'look', input: { at: 'x' } },
      ],
    });
    expect(contents[1].parts).toMatchObject([
      { inlineData: { mimeType: 'image/png', data: png }, thoughtSignature: 'of the picture' },
      { functionCall: { name: 'look' } },
    ]);
  });
});

it.each(realClients.filter(({ name }) => name !== 'google'))(
  'arguments that are no JSON go on as they are with $name, and come back as an object',
  async (client) => {
    const model = await modelOf(client, fake);
    const broken: FakeAnswer = { blocks: [{ type: 'tool-call', id: 'call_a', name: 'look', input: '{"at": "he' }] };
    fake.answer(broken, textAnswer('Sorry.'));
    const { parts } = await collected(model.stream(askedWith({ tools: [look] })));
    expect(parts).toMatchObject([{ type: 'tool-call', name: 'look', input: '{"at": "he' }]);
    await model.generate(
      askedWith({
        tools: [look],
        messages: [
          user('Hi'),
          { role: 'assistant', parts },
          { role: 'tool', parts: [{ type: 'tool-result', callId: 'call_a', name: 'look', output: 'No JSON.', isError: true }] },
        ],
      }),
    );
    expect(JSON.stringify(bodyOf(1))).toContain('malformedArguments');
  },
);
