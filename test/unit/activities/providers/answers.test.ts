import { AnswerAssembly } from '../../../../activities/models/chunks';
import type { Message, Part } from '../../../../contract/messages/messages';
import { gate } from '../../../support/gate';
import type { FakeAnswer, FakeProvider } from '../../../support/fake-provider/fake-provider';
import { startFakeProvider } from '../../../support/fake-provider/fake-provider';
import type { RealClient } from '../../../support/fake-provider/real-clients';
import { askedWith, chunksOf, collected, modelOf, realClients } from '../../../support/fake-provider/real-clients';

const look = {
  name: 'look',
  description: 'Looks.',
  inputSchema: { type: 'object', properties: { at: { type: 'string' } }, required: ['at'], additionalProperties: false },
};
const png = 'iVBORw0KGgo=';

let fake: FakeProvider;
beforeEach(async () => (fake = await startFakeProvider()));
afterEach(() => fake.close());

const bodyOf = (index: number): Record<string, any> => fake.requests[index]!.body; // eslint-disable-line @typescript-eslint/no-explicit-any
const clientNamed = (name: RealClient['name']): RealClient => realClients.find((client) => client.name === name)!;
const words = (text: string) => ({ type: 'text', text }) as const;
const image = (data: string, mediaType = 'image/png') => ({ type: 'file', mediaType, data }) as const;
const returned = (callId: string, how: object): Message => ({
  role: 'tool',
  parts: [{ type: 'tool-result', callId, name: 'look', output: null, ...how }],
});
const textAnswer = (...text: string[]): FakeAnswer => ({ blocks: [{ type: 'text', text }] });

describe.each(realClients)('a model of $name', (client) => {
  const rich: FakeAnswer = {
    id: 'same',
    blocks: [
      { type: 'reasoning', text: ['Let me ', 'see.'], signature: 'signed' },
      { type: 'text', text: ['I look ', 'twice.'] },
      { type: 'tool-call', id: 'call_a', name: 'look', input: { at: 'ä' }, signature: 'of the call' },
      { type: 'tool-call', id: 'call_b', name: 'look', input: { at: 'b' } },
    ],
    usage: { input: 20, output: 12, cached: 4, reasoning: 3 },
  };

  it('answers whole and as a stream with the same parts and the same count of tokens', async () => {
    const model = await modelOf(client, fake);
    fake.answer(rich, rich);
    const whole = await model.generate(askedWith({ tools: [look] }));
    expect(await collected(model.stream(askedWith({ tools: [look] })))).toEqual(whole);
    expect(whole.parts).toMatchObject([
      { type: 'reasoning', text: 'Let me see.' },
      { type: 'text', text: 'I look twice.' },
      { type: 'tool-call', id: 'call_a', name: 'look', input: { at: 'ä' } },
      { type: 'tool-call', id: 'call_b', name: 'look', input: { at: 'b' } },
    ]);
    expect(whole.usage).toEqual({ inputTokens: 20, outputTokens: 12, cachedInputTokens: 4, reasoningTokens: 3 });
    expect(whole).not.toHaveProperty('finish');
  });

  it('is heard piece by piece', async () => {
    const model = await modelOf(client, fake);
    const held = gate();
    fake.answer({ ...textAnswer('One', ' two'), before: (index) => (index === 1 ? held.pass() : undefined) });
    const seen: string[] = [];
    const assembly = new AnswerAssembly();
    for await (const chunk of model.stream(askedWith())) {
      assembly.add(chunk);
      if (chunk.type !== 'text' || chunk.text === '') continue;
      seen.push(chunk.text);
      if (seen.length === 1) {
        await held.reached;
        expect(fake.requests[0]!.writtenAt).toHaveLength(1);
        held.open();
      }
    }
    expect(seen).toEqual(['One', ' two']);
    expect(assembly).toMatchObject({ complete: true });
    expect(assembly.answer().parts).toMatchObject([{ type: 'text', text: 'One two' }]);
  });

  it('writes the arguments of a call before it makes it', async () => {
    const model = await modelOf(client, fake);
    fake.answer({ blocks: [{ type: 'tool-call', id: 'call_a', name: 'look', input: { at: 'here' } }] });
    const chunks = await chunksOf(model.stream(askedWith({ tools: [look] })));
    const written = chunks.flatMap((chunk) => (chunk.type === 'tool-input' ? [chunk.text] : [])).join('');
    expect(chunks[0]).toEqual({ type: 'tool-input-start', callId: 'call_a', tool: 'look' });
    expect(JSON.parse(written)).toEqual({ at: 'here' });
    expect(chunks.at(-2)).toMatchObject({ type: 'part', part: { type: 'tool-call', id: 'call_a', input: { at: 'here' } } });
    expect(chunks.at(-1)).toMatchObject({ type: 'finish' });
  });

  it('says when it ran out of tokens, and when a filter cut it short', async () => {
    const model = await modelOf(client, fake);
    for (const finish of ['length', 'content-filter'] as const) {
      fake.answer({ ...textAnswer('Half'), finish }, { ...textAnswer('Half'), finish });
      expect(await model.generate(askedWith())).toMatchObject({ parts: [{ text: 'Half' }], finish });
      expect(await collected(model.stream(askedWith()))).toMatchObject({ parts: [{ text: 'Half' }], finish });
    }
  });

  it('is sent files of the user and of results, and results of parallel calls', async () => {
    const model = await modelOf(client, fake);
    fake.answer(textAnswer('Nice.'));
    const called: Part[] = ['call_a', 'call_b'].map((id) => ({ type: 'tool-call', id, name: 'look', input: { at: id } }));
    await model.generate(
      askedWith({
        tools: [look],
        messages: [
          { role: 'user', parts: [words('See.'), image(png)] },
          { role: 'assistant', parts: called },
          returned('call_a', { output: [words('A picture:'), image('QUJD', 'image/jpeg')], multipart: true }),
          returned('call_b', { output: 'It is gone.', isError: true }),
        ],
      }),
    );
    const sent = bodyOf(0);
    switch (client.name) {
      case 'openai':
        expect(sent['input']).toMatchObject([
          { role: 'developer' },
          { role: 'user', content: [{ type: 'input_text' }, { type: 'input_image', image_url: `data:image/png;base64,${png}` }] },
          { type: 'function_call', call_id: 'call_a', arguments: '{"at":"call_a"}' },
          { type: 'function_call', call_id: 'call_b' },
          {
            type: 'function_call_output',
            call_id: 'call_a',
            output: [
              { type: 'input_text', text: 'A picture:' },
              { type: 'input_image', image_url: 'data:image/jpeg;base64,QUJD' },
            ],
          },
          { type: 'function_call_output', call_id: 'call_b', output: 'It is gone.' },
        ]);
        break;
      case 'openai-compatible':
        expect(sent['messages']).toMatchObject([
          { role: 'system' },
          { role: 'user', content: [{ type: 'text' }, { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } }] },
          { role: 'assistant', tool_calls: [{ id: 'call_a' }, { id: 'call_b' }] },
          { role: 'tool', tool_call_id: 'call_a', content: 'A picture:\n(File 1, image/jpeg: see the next message.)' },
          { role: 'tool', tool_call_id: 'call_b', content: 'It is gone.' },
          {
            role: 'user',
            content: [
              { type: 'text', text: 'File 1, from the tool "look":' },
              { type: 'image_url', image_url: { url: 'data:image/jpeg;base64,QUJD' } },
            ],
          },
        ]);
        break;
      case 'anthropic':
        expect(sent['messages']).toMatchObject([
          { role: 'user', content: [{ type: 'text' }, { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } }] },
          { role: 'assistant', content: [{ type: 'tool_use', id: 'call_a', input: { at: 'call_a' } }, { type: 'tool_use' }] },
          {
            role: 'user',
            content: [
              {
                type: 'tool_result',
                tool_use_id: 'call_a',
                content: [{ type: 'text' }, { type: 'image', source: { media_type: 'image/jpeg', data: 'QUJD' } }],
              },
              { type: 'tool_result', tool_use_id: 'call_b', content: 'It is gone.', is_error: true },
            ],
          },
        ]);
        break;
      case 'google':
        // Both results share one content, because Google counts results there.
        expect(sent['contents']).toMatchObject([
          { role: 'user', parts: [{ text: 'See.' }, { inlineData: { mimeType: 'image/png', data: png } }] },
          { role: 'model', parts: [{ functionCall: { name: 'look', args: { at: 'call_a' } } }, { functionCall: { name: 'look' } }] },
          {
            role: 'user',
            parts: [
              { functionResponse: { name: 'look', parts: [{ inlineData: { mimeType: 'image/jpeg', data: 'QUJD' } }] } },
              { functionResponse: { name: 'look', response: { content: 'It is gone.' } } },
            ],
          },
        ]);
    }
  });

  it('is held to a schema', async () => {
    const model = await modelOf(client, fake);
    fake.answer(textAnswer('{"at":"home"}'));
    const answer = await model.generate(askedWith({ output: { name: 'a place', schema: look.inputSchema } }));
    expect(answer.parts).toMatchObject([{ type: 'text', text: '{"at":"home"}' }]);
    const sent = bodyOf(0);
    switch (client.name) {
      case 'openai':
        expect(sent['text']).toMatchObject({ format: { type: 'json_schema', name: 'a_place', schema: look.inputSchema } });
        break;
      case 'openai-compatible':
        expect(sent['response_format']).toMatchObject({ type: 'json_schema', json_schema: { name: 'a_place', schema: look.inputSchema } });
        break;
      case 'anthropic':
        expect(JSON.stringify(sent['output_config'] ?? sent['output_format'] ?? sent['tools'])).toContain('"at"');
        break;
      case 'google':
        expect(sent['generationConfig']).toMatchObject({ responseMimeType: 'application/json' });
        expect(JSON.stringify(sent['generationConfig'])).toContain('"at"');
    }
  });

  it('is given every setting that the provider has', async () => {
    const model = await modelOf(client, fake);
    fake.answer(textAnswer('Ok.'));
    const settings = { maxOutputTokens: 77, topP: 0.5, stopSequences: ['END'], toolChoice: 'required', temperature: 0 };
    await model.generate(askedWith({ tools: [look], settings: { ...settings, ...(client.name === 'anthropic' ? { topP: 1 } : {}) } }));
    const sent = bodyOf(0);
    switch (client.name) {
      case 'openai':
        expect(sent).toMatchObject({ max_output_tokens: 77, tool_choice: 'required', tools: [{ name: 'look' }] });
        break;
      case 'openai-compatible':
        expect(sent).toMatchObject({ max_tokens: 77, top_p: 0.5, stop: ['END'], temperature: 0, tool_choice: 'required' });
        break;
      case 'anthropic':
        expect(sent).toMatchObject({ max_tokens: 77, stop_sequences: ['END'], temperature: 0, tool_choice: { type: 'any' } });
        break;
      case 'google':
        expect(sent['generationConfig']).toMatchObject({ maxOutputTokens: 77, topP: 0.5, stopSequences: ['END'], temperature: 0 });
        expect(sent['toolConfig']).toMatchObject({ functionCallingConfig: { mode: 'ANY' } });
    }
  });
});

it('an answer with a picture is a file, whole and in a stream', async () => {
  const model = await modelOf(clientNamed('google'), fake);
  const parts = [words('Here:'), image(png)];
  fake.answer({ blocks: parts }, { blocks: parts });
  expect((await model.generate(askedWith())).parts).toEqual(parts);
  expect((await collected(model.stream(askedWith()))).parts).toEqual(parts);
});

it('a call that the provider makes itself is no call of ours', async () => {
  const model = await modelOf(clientNamed('openai'), fake);
  const drawn: FakeAnswer = { blocks: [image(png), words('I drew it.')] };
  fake.answer(drawn, drawn);
  expect((await model.generate(askedWith())).parts).toMatchObject([{ type: 'text', text: 'I drew it.' }]);
  const chunks = await chunksOf(model.stream(askedWith()));
  expect(new Set(chunks.map(({ type }) => type))).toEqual(new Set(['text', 'finish']));
});
