import { LLMock } from '@copilotkit/aimock';
import type { Part } from '../../../../contract/messages/messages';
import type { StreamingModel } from '../../../support/fake-provider/real-clients';
import { askedWith, chunksOf, collected, modelOf, realClients, user } from '../../../support/fake-provider/real-clients';

const isSaid = ({ type }: Part): boolean => type !== 'reasoning';

/** Our fake provider and adapter could share an error; the mock is independent. */
describe.each(realClients)('$name against a mock of others', (client) => {
  const look = { name: 'look', description: 'Looks.', inputSchema: { type: 'object', properties: { at: { type: 'string' } } } };
  let mock: LLMock;
  let model: StreamingModel;
  beforeEach(async () => {
    mock = await LLMock.create({ port: 0, logLevel: 'silent' });
    mock.onMessage('hello', { content: 'Hello, how are you today?' });
    mock.onMessage('look', { toolCalls: [{ name: 'look', arguments: '{"at":"home"}' }] });
    model = await modelOf(client, mock);
  });
  afterEach(() => mock.stop());

  it('streams a text', async () => {
    const chunks = await chunksOf(model.stream(askedWith({ messages: [user('hello')] })));
    const texts = chunks.flatMap((chunk) => (chunk.type === 'text' && chunk.text !== '' ? [chunk.text] : []));
    expect(texts.length).toBeGreaterThan(1);
    expect(texts.join('')).toBe('Hello, how are you today?');
    expect(chunks.at(-1)).toMatchObject({ type: 'finish' });
    const { parts } = await model.generate(askedWith({ messages: [user('hello')] }));
    expect(parts.filter(isSaid)).toMatchObject([{ type: 'text', text: 'Hello, how are you today?' }]);
  });

  it('calls a tool', async () => {
    const request = askedWith({ messages: [user('look')], tools: [look] });
    const call = { type: 'tool-call', name: 'look', input: { at: 'home' } };
    expect((await collected(model.stream(request))).parts.filter(isSaid)).toMatchObject([call]);
    expect((await model.generate(request)).parts.filter(isSaid)).toMatchObject([call]);
  });
});
