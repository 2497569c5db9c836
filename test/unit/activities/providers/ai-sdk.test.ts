import { ReadableStream } from 'node:stream/web';
import type { ModelChunk, GenerateRequest } from '../../../../activities/models/language-model';
import type { AiSdkOptions } from '../../../../activities/models/providers/ai-sdk/specification';
import { aiSdkModel } from '../../../../activities/models/providers/ai-sdk';
import type { Json, Message, Part } from '../../../../contract/messages/messages';
import { gate } from '../../../support/gate';
import { askedWith, chunksOf, collected, user } from '../../../support/fake-provider/real-clients';
import { errorSaying } from '../../../support/failures';

type Version = 'v3' | 'v4';
type Fields = Record<string, unknown>;
const versions: readonly Version[] = ['v3', 'v4'];
const text = [{ type: 'text', text: 'Ok.' }];

async function optionsOf(version: Version, request: Partial<GenerateRequest>, options?: AiSdkOptions): Promise<Fields> {
  const doGenerate = jest.fn().mockResolvedValue({ content: text });
  await aiSdkModel({ specificationVersion: version, doGenerate }, options).generate(askedWith(request));
  return doGenerate.mock.calls[0][0];
}

async function promptOf(
  version: Version,
  ...messages: Message[]
): Promise<any> /* eslint-disable-line @typescript-eslint/no-explicit-any */ {
  return (await optionsOf(version, { instructions: '', messages }))['prompt'];
}

const answerOf = (version: Version, answer: Fields): Promise<unknown> =>
  aiSdkModel({ specificationVersion: version, doGenerate: () => Promise.resolve(answer) }).generate(askedWith());

function streamOf(version: Version, parts: readonly Fields[], source: object = {}): AsyncIterable<ModelChunk> {
  const stream = new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(part);
      if (parts.at(-1)?.['type'] !== 'open') controller.close();
    },
    ...source,
  });
  const model = aiSdkModel({ specificationVersion: version, doGenerate: jest.fn(), doStream: () => Promise.resolve({ stream }) });
  return model.stream!(askedWith());
}

describe('what an AI SDK model is asked', () => {
  it('has tools that it searches for, where the provider knows such, and all tools where not', async () => {
    const spec = (name: string) => ({ name, description: '', inputSchema: { type: 'object' } });
    const request = { tools: [spec('a')], deferred: { tools: [spec('b')], search: spec('search') } };
    expect(await optionsOf('v3', request, { deferOption: 'anthropic' })).toMatchObject({
      tools: [{ name: 'a' }, { name: 'search' }, { name: 'b', providerOptions: { anthropic: { deferLoading: true } } }],
    });
    const { tools } = await optionsOf('v3', request);
    expect(tools).toEqual([
      { type: 'function', ...spec('a') },
      { type: 'function', ...spec('b') },
    ]);
  });

  it('is told what a search has found by the names of the tools', async () => {
    const result = (output: Json): Message => ({
      role: 'tool',
      parts: [{ type: 'tool-result', callId: '1', name: 'search', output, search: true }],
    });
    const output = async (found: Json, options?: AiSdkOptions): Promise<unknown> => {
      const { prompt } = await optionsOf('v3', { instructions: '', messages: [result(found)] }, options);
      return (prompt as { content: { output: unknown }[] }[])[0]?.content[0]?.output;
    };
    expect(await output([{ name: 'b' }], { deferOption: 'anthropic' })).toEqual({
      type: 'content',
      value: [{ type: 'custom', providerOptions: { anthropic: { type: 'tool-reference', toolName: 'b' } } }],
    });
    expect(await output([], { deferOption: 'anthropic' })).toEqual({
      type: 'content',
      value: [{ type: 'text', text: 'No tools were found.' }],
    });
    expect(await output([{ name: 'b' }])).toEqual({ type: 'json', value: [{ name: 'b' }] });
  });

  it('is the request in its own words', async () => {
    const tools = [{ name: 't', description: 'T.', inputSchema: { type: 'object' } }];
    const settings = {
      ...{ temperature: 0, maxOutputTokens: 5, topP: 0.1, topK: 2, presencePenalty: 0.3, frequencyPenalty: 0.4, seed: 6 },
      stopSequences: ['END'],
      providerOptions: { own: { x: 1 } },
    };
    const { signal } = new AbortController();
    const output = { name: 'place.of birth', schema: { type: 'object' } };
    const { providerOptions, ...sampling } = settings;
    expect(await optionsOf('v3', { tools, settings, signal, output })).toEqual({
      ...sampling,
      providerOptions,
      abortSignal: signal,
      prompt: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
      ],
      tools: [{ type: 'function', ...tools[0] }],
      toolChoice: { type: 'auto' },
      responseFormat: { type: 'json', name: 'place_of_birth', schema: { type: 'object' } },
    });
    expect(Object.keys(await optionsOf('v3', {})).sort()).toEqual(['abortSignal', 'prompt']);
  });

  it('lets options of an agent win over those of its provider, one by one', async () => {
    const defaults = { providerOptions: { a: { x: 1, y: 1 }, b: { z: 1 } } };
    const settings = { providerOptions: { a: { y: 2 }, c: { w: 2 } } };
    expect((await optionsOf('v3', { settings }, defaults))['providerOptions']).toEqual({ a: { x: 1, y: 2 }, b: { z: 1 }, c: { w: 2 } });
    expect((await optionsOf('v3', {}, defaults))['providerOptions']).toEqual(defaults.providerOptions);
  });

  it.each([
    ['auto', { type: 'auto' }],
    ['none', { type: 'none' }],
    ['required', { type: 'required' }],
    [{ type: 'required' }, { type: 'required' }],
    [
      { type: 'tool', toolName: 't' },
      { type: 'tool', toolName: 't' },
    ],
  ])('takes %j as the choice of a tool', async (toolChoice, expected) => {
    const tools = [{ name: 't', description: '', inputSchema: {} }];
    expect((await optionsOf('v3', { tools, settings: { toolChoice } }))['toolChoice']).toEqual(expected);
  });

  it.each(['t', { type: 'tool' }, { toolName: 't' }, 7])('takes %j for no choice of a tool', async (toolChoice) => {
    const tools = [{ name: 't', description: '', inputSchema: {} }];
    await expect(optionsOf('v3', { tools, settings: { toolChoice } })).rejects.toMatchObject(
      errorSaying('agent-invalid', "'required' or { type: 'tool', toolName }"),
    );
  });

  it.each(versions)('has what a provider said about parts, in %s', async (version) => {
    const extra = { own: { id: 'x' }, note: 'of somebody else' };
    const providerOptions = { own: { id: 'x' } };
    const parts: Part[] = [
      { type: 'reasoning', text: 'hm', extra },
      { type: 'text', text: 'Hi', extra },
      { type: 'file', mediaType: 'image/png', data: 'QUJD', extra },
      { type: 'tool-call', id: '1', name: 't', input: { a: 1 }, extra },
      { type: 'text', text: '' },
    ];
    expect(await promptOf(version, { role: 'assistant', parts, extra })).toMatchObject([
      {
        role: 'assistant',
        providerOptions,
        content: [
          { type: 'reasoning', text: 'hm', providerOptions },
          { type: 'text', text: 'Hi', providerOptions },
          { type: 'file', mediaType: 'image/png', providerOptions },
          { type: 'tool-call', toolCallId: '1', toolName: 't', input: { a: 1 }, providerOptions },
        ],
      },
    ]);
  });

  it.each<[Version, unknown, unknown]>([
    ['v3', 'QUJD', new URL('https://example.com/a.pdf')],
    ['v4', { type: 'data', data: 'QUJD' }, { type: 'url', url: new URL('https://example.com/a.pdf') }],
  ])('has files in the shape of %s', async (version, data, url) => {
    const parts: Part[] = [
      { type: 'file', mediaType: 'image/png', data: 'QUJD' },
      { type: 'file', mediaType: 'application/pdf', data: { url: 'https://example.com/a.pdf' } },
      { type: 'file', mediaType: 'image/png', data: { url: 'data:image/png;base64,QUJD' } },
    ];
    for (const role of ['user', 'assistant'] as const) {
      expect(await promptOf(version, { role, parts })).toEqual([
        {
          role,
          content: [
            { type: 'file', mediaType: 'image/png', data },
            { type: 'file', mediaType: 'application/pdf', data: url },
            { type: 'file', mediaType: 'image/png', data },
          ],
        },
      ]);
    }
    const lost: Part = { type: 'file', mediaType: 'image/png', data: { url: 'a.png' } };
    await expect(promptOf(version, { role: 'user', parts: [lost] })).rejects.toMatchObject({ code: 'message-invalid' });
  });

  const shapes: Record<Version, readonly Fields[]> = {
    v3: [
      { type: 'text', text: 'See' },
      { type: 'image-data', mediaType: 'image/png', data: 'QUJD' },
      { type: 'file-data', mediaType: 'application/pdf', data: 'QUJD' },
      { type: 'image-url', mediaType: 'image/png', url: 'https://example.com/a.png' },
      { type: 'file-url', mediaType: 'application/pdf', url: 'https://example.com/a.pdf' },
    ],
    v4: [
      { type: 'text', text: 'See' },
      { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'QUJD' } },
      { type: 'file', mediaType: 'application/pdf', data: { type: 'data', data: 'QUJD' } },
      { type: 'file', mediaType: 'image/png', data: { type: 'url', url: new URL('https://example.com/a.png') } },
      { type: 'file', mediaType: 'application/pdf', data: { type: 'url', url: new URL('https://example.com/a.pdf') } },
    ],
  };
  it.each(versions)('has results of tools in one message, in the shape of %s', async (version) => {
    const output: Part[] = [
      { type: 'text', text: 'See' },
      { type: 'file', mediaType: 'image/png', data: 'QUJD' },
      { type: 'file', mediaType: 'application/pdf', data: 'QUJD' },
      { type: 'file', mediaType: 'image/png', data: { url: 'https://example.com/a.png' } },
      { type: 'file', mediaType: 'application/pdf', data: { url: 'https://example.com/a.pdf' } },
    ];
    const result = (callId: string, fields: Partial<Part & { type: 'tool-result' }>): Message => ({
      role: 'tool',
      parts: [{ type: 'tool-result', callId, name: 't', output: null, ...fields }],
    });
    const prompt = await promptOf(
      version,
      result('1', { output: 'ok' }),
      result('2', { output: { a: 1 } }),
      result('3', { output: 'no', isError: true }),
      result('4', { output: [1], isError: true }),
      result('5', { output, multipart: true }),
      user('Well?'),
    );
    expect(prompt).toEqual([
      {
        role: 'tool',
        content: [
          { type: 'text', value: 'ok' },
          { type: 'json', value: { a: 1 } },
          { type: 'error-text', value: 'no' },
          { type: 'error-json', value: [1] },
          { type: 'content', value: shapes[version] },
        ].map((expected, index) => ({ type: 'tool-result', toolCallId: `${index + 1}`, toolName: 't', output: expected })),
      },
      { role: 'user', content: [{ type: 'text', text: 'Well?' }] },
    ]);
  });

  it('has nothing of what a provider does by itself', async () => {
    const prompt = await promptOf(
      'v3',
      user('Hi'),
      { role: 'assistant', parts: [{ type: 'mcp-tool-list', server: 'files', tools: [] }] },
      {
        role: 'assistant',
        parts: [
          { type: 'server-tool-call', id: '1', name: 'search', input: {} },
          { type: 'server-tool-result', callId: '1', name: 'search', output: [] },
          { type: 'text', text: 'Found.' },
        ],
      },
    );
    expect(prompt).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
      { role: 'assistant', content: [{ type: 'text', text: 'Found.' }] },
    ]);
  });
});

describe('what an AI SDK model answers', () => {
  it.each<[Version, unknown, Fields]>([
    ['v3', { unified: 'stop' }, { inputTokens: { total: 10, cacheRead: 3 }, outputTokens: { total: 5, reasoning: 2 } }],
    ['v4', { unified: 'stop', raw: 'end_turn' }, { inputTokens: { total: 10, cacheRead: 3 }, outputTokens: { total: 5, reasoning: 2 } }],
  ])('is ours, in %s', async (version, finishReason, usage) => {
    const providerMetadata = { own: { signature: 's', gone: undefined } };
    const extra = { own: { signature: 's' } };
    const content = [
      { type: 'reasoning', text: 'hm', providerMetadata },
      { type: 'text', text: 'Hello.', providerMetadata },
      { type: 'tool-call', toolCallId: '1', toolName: 't', input: '{"a":1}' },
      { type: 'tool-call', toolCallId: '2', toolName: 't', input: '' },
      { type: 'tool-call', toolCallId: '3', toolName: 't', input: '{"a":' },
      { type: 'tool-call', toolCallId: '4', toolName: 'search', input: '{}', providerExecuted: true },
      { type: 'tool-result', toolCallId: '4', toolName: 'search', result: {} },
      { type: 'source', url: 'https://example.com' },
      { type: 'file', mediaType: 'image/png', data: 'QUJD', providerMetadata },
      { type: 'file', mediaType: 'image/png', data: new Uint8Array([65, 66, 67]) },
      { type: 'file', mediaType: 'image/png', data: { type: 'data', data: new Uint8Array([65, 66, 67]) } },
      { type: 'file', mediaType: 'image/png', data: { type: 'url', url: new URL('https://example.com/a.png') } },
    ];
    expect(await answerOf(version, { content, finishReason, usage })).toStrictEqual({
      parts: [
        { type: 'reasoning', text: 'hm', extra },
        { type: 'text', text: 'Hello.', extra },
        { type: 'tool-call', id: '1', name: 't', input: { a: 1 } },
        { type: 'tool-call', id: '2', name: 't', input: {} },
        { type: 'tool-call', id: '3', name: 't', input: '{"a":' },
        { type: 'file', mediaType: 'image/png', data: 'QUJD', extra },
        { type: 'file', mediaType: 'image/png', data: 'QUJD' },
        { type: 'file', mediaType: 'image/png', data: 'QUJD' },
        { type: 'file', mediaType: 'image/png', data: { url: 'https://example.com/a.png' } },
      ],
      usage: { inputTokens: 10, outputTokens: 5, cachedInputTokens: 3, reasoningTokens: 2 },
    });
  });

  it.each<[unknown, unknown]>([
    [{ unified: 'length', raw: 'max_tokens' }, 'length'],
    [{ unified: 'content-filter' }, 'content-filter'],
    [{ unified: 'other', raw: 'pause' }, 'other'],
    [{ unified: 'unknown' }, 'other'],
    [{ unified: 'tool-calls' }, undefined],
    [undefined, undefined],
  ])('ends with %j as we say it', async (finishReason, finish) => {
    expect(await answerOf('v3', { content: text, finishReason })).toStrictEqual({
      parts: text,
      ...(finish === undefined ? {} : { finish }),
    });
  });

  it('has no tokens when nobody counted them', async () => {
    const usage = { inputTokens: { total: undefined }, outputTokens: { total: undefined } };
    expect(await answerOf('v3', { content: text, usage })).toStrictEqual({ parts: text });
    expect(await answerOf('v3', { content: text, usage: { inputTokens: { total: NaN }, outputTokens: { total: -1 } } })).toStrictEqual({
      parts: text,
    });
    expect(await answerOf('v3', { content: text, usage: { inputTokens: { total: Infinity }, outputTokens: { total: 4 } } })).toMatchObject({
      usage: { inputTokens: 0, outputTokens: 4 },
    });
    expect(await answerOf('v3', { content: text, usage: { outputTokens: { total: 4 } } })).toMatchObject({
      usage: { inputTokens: 0, outputTokens: 4 },
    });
  });

  it('is none when the provider says that it is an error', async () => {
    await expect(answerOf('v3', { content: text, finishReason: { unified: 'error', raw: 'MALFORMED' } })).rejects.toMatchObject({
      code: 'model-failed',
      details: { retryable: true },
    });
  });
});

describe('what an AI SDK model streams', () => {
  const finish = {
    type: 'finish',
    finishReason: { unified: 'stop', raw: 'stop' },
    usage: { inputTokens: { total: 1 }, outputTokens: { total: 2 } },
  };

  it('keeps blocks apart that have the same id, and takes what comes with starts and ends', async () => {
    const stream = (): AsyncIterable<ModelChunk> =>
      streamOf('v3', [
        { type: 'stream-start', warnings: [] },
        { type: 'reasoning-start', id: '0', providerMetadata: { own: { item: 'i' } } },
        { type: 'reasoning-delta', id: '0', delta: 'hm' },
        { type: 'reasoning-end', id: '0', providerMetadata: { own: { signature: 's' } } },
        { type: 'text-start', id: '0' },
        { type: 'text-delta', id: '0', delta: 'He' },
        { type: 'text-start', id: '1' },
        { type: 'text-delta', id: '1', delta: 'again' },
        { type: 'text-delta', id: '0', delta: 'llo' },
        { type: 'text-delta', id: '0', delta: '' },
        { type: 'text-end', id: '0' },
        { type: 'text-end', id: '1' },
        finish,
      ]);
    expect(await collected(stream())).toEqual({
      parts: [
        { type: 'reasoning', text: 'hm', extra: { own: { item: 'i', signature: 's' } } },
        { type: 'text', text: 'Hello' },
        { type: 'text', text: 'again' },
      ],
      usage: { inputTokens: 1, outputTokens: 2 },
    });
    expect((await chunksOf(stream())).map((chunk) => ('block' in chunk ? chunk.block : chunk.type))).toEqual([
      ...['reasoning:0', 'reasoning:0', 'reasoning:0', 'text:0', 'text:1', 'text:0', 'finish'],
    ]);
  });

  it('has nothing of calls that the provider makes itself', async () => {
    const chunks = await chunksOf(
      streamOf('v3', [
        { type: 'tool-input-start', id: '1', toolName: 'search', providerExecuted: true },
        { type: 'tool-input-delta', id: '1', delta: '{}' },
        { type: 'tool-call', toolCallId: '1', toolName: 'search', input: '{}', providerExecuted: true },
        { type: 'tool-result', toolCallId: '1', toolName: 'search', result: {} },
        { type: 'text-delta', id: '0', delta: 'Found.' },
        finish,
      ]),
    );
    expect(chunks.map(({ type }) => type)).toEqual(['text', 'finish']);
  });

  it('throws what went wrong', async () => {
    const error = { type: 'overloaded_error', message: 'busy' };
    await expect(chunksOf(streamOf('v3', [{ type: 'error', error }, finish]))).rejects.toBe(error);
  });

  it.each<[string, Version, readonly Fields[]]>([
    ['without a last word', 'v3', []],
    ['with a last word of the client alone', 'v3', [{ type: 'finish', finishReason: { unified: 'other', raw: undefined }, usage: {} }]],
  ])('broke off when it ends %s (%s)', async (_, version, end) => {
    await expect(chunksOf(streamOf(version, [{ type: 'text-delta', id: '0', delta: 'Ha' }, ...end]))).rejects.toMatchObject({
      code: 'model-failed',
      message: expect.stringContaining('broke off'),
      details: { retryable: true },
    });
  });

  it('says with an end that is none what the answer has taken', async () => {
    const usage = { inputTokens: { total: 7 }, outputTokens: { total: 100, reasoning: 100 } };
    const end = { type: 'finish', finishReason: { unified: 'length', raw: 'max_tokens' }, usage };
    await expect(chunksOf(streamOf('v3', [end]))).rejects.toMatchObject({
      code: 'model-response-empty',
      usage: { inputTokens: 7, outputTokens: 100, reasoningTokens: 100 },
    });
  });

  it('is cancelled when nobody reads on', async () => {
    const cancelled = gate();
    const stream = streamOf('v3', [{ type: 'text-delta', id: '0', delta: 'Ha' }, { type: 'open' }], {
      cancel: () => void cancelled.pass(),
    });
    for await (const _ of stream) break;
    await cancelled.reached;
  });

  it.each(['opens', 'has begun'])('is left at an abort although the model does not look at the signal, when it %s', async (when) => {
    const abort = new AbortController();
    const waiting = gate();
    const cancelled = gate();
    const stream = new ReadableStream({ pull: () => waiting.pass(), cancel: () => void cancelled.pass() });
    const opened = gate();
    const doStream = async (): Promise<object> => {
      if (when === 'opens') await opened.pass();
      return { stream };
    };
    const model = aiSdkModel({ specificationVersion: 'v3', doGenerate: jest.fn(), doStream });
    const reading = chunksOf(model.stream!(askedWith({ signal: abort.signal })));
    const reason = new Error('enough');
    await (when === 'opens' ? opened.reached : waiting.reached);
    abort.abort(reason);
    await expect(reading).rejects.toBe(reason);
    opened.open();
    await cancelled.reached;
  });

  it('is not there when the model cannot', () => {
    expect(aiSdkModel({ specificationVersion: 'v3', doGenerate: jest.fn() }).stream).toBeUndefined();
  });
});

describe('a model of another kind', () => {
  it.each([{}, { specificationVersion: 'v3' }])('is refused: %j', (model) => {
    expect(() => aiSdkModel(model)).toThrow(errorSaying('config-invalid'));
  });

  it('is refused when it is older, with the versions that are taken', () => {
    expect(() => aiSdkModel({ specificationVersion: 'v2', doGenerate: jest.fn() })).toThrow(/v3 or v4\. This one has v2: install/);
  });
});
