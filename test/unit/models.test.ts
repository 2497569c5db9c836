import type { GenerateRequest, LanguageModel, ModelProvider } from '../../activities/models';
import { ModelRegistry } from '../../activities/models';
import { aiSdkModel } from '../../activities/providers/ai-sdk';
import { classify, isCancelled, modelVerdict } from '../../activities/failures';
import { HoldfastError } from '../../contract/plain/errors';
import type { Message, Part } from '../../contract/plain/messages';

const silent: LanguageModel = { generate: () => Promise.resolve({ parts: [] }) };
const provider = (keyVariable?: string): ModelProvider => ({ model: () => silent, ...(keyVariable === undefined ? {} : { keyVariable }) });
const keyed = { a: provider('KEY_A'), b: provider('KEY_B'), c: provider('KEY_C') };
function refusalOf(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    return error;
  }
}
const user = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] });

describe('the model registry', () => {
  it('finds a model by its provider', () => {
    expect(new ModelRegistry({ providers: { own: provider() } }, {}).idOf('own/small')).toBe('own/small');
    expect(new ModelRegistry({ providers: keyed }, { KEY_B: 'k' }).idOf('b/gpt-5-mini')).toBe('b/gpt-5-mini');
  });

  it.each(['nowhere/model', 'own', '', 'own-model'])('says of %p that there is none, and what there is', (name) => {
    const registry = new ModelRegistry({ providers: { own: provider() }, names: { fast: 'own/small' } }, {});
    expect(refusalOf(() => registry.idOf(name))).toMatchObject({
      code: 'model-unknown',
      message: expect.stringMatching(/There are: default, fast, .*own\/…/),
    });
  });

  it('says which variable a model needs', () => {
    expect(refusalOf(() => new ModelRegistry({ providers: keyed }, { KEY_B: '' }).idOf('b/large'))).toMatchObject({
      code: 'model-key-missing',
      message: expect.stringContaining('needs KEY_B'),
    });
    expect(refusalOf(() => new ModelRegistry({}, {}).idOf('openai/gpt-5-mini'))).toMatchObject({
      code: 'model-key-missing',
      message: expect.stringContaining('OPENAI_API_KEY'),
    });
  });

  it('takes of a list the first that has its key', () => {
    const options = { providers: keyed, names: { default: ['a/x', 'b/y', 'c/z'] } };
    expect(new ModelRegistry(options, { KEY_B: 'k', KEY_C: 'k' }).idOf('default')).toBe('b/y');
    expect(refusalOf(() => new ModelRegistry(options, {}).idOf('default'))).toMatchObject({
      code: 'model-key-missing',
      message: expect.stringContaining('KEY_A, KEY_B, KEY_C'),
    });
    expect(() => new ModelRegistry({}, {}).idOf('default')).toThrow('its list is empty');
  });

  it('puts the demo model last, and only where it is allowed', () => {
    const options = { providers: keyed, names: { default: ['b/y'] } };
    expect(new ModelRegistry({ ...options, demo: true }, {}).idOf('default')).toBe('demo/rules');
    expect(new ModelRegistry({ ...options, demo: true }, { KEY_B: 'k' }).idOf('default')).toBe('b/y');
    expect(refusalOf(() => new ModelRegistry(options, {}).idOf('default'))).toMatchObject({ code: 'model-key-missing' });
    expect(new ModelRegistry({ demo: true }, {}).idOf('default')).toBe('demo/rules');
  });

  it('makes a model once, and again when making it failed', async () => {
    let made = 0;
    const flaky: ModelProvider = {
      model: async () => {
        if (++made === 1) throw new Error('no network');
        return silent;
      },
    };
    const registry = new ModelRegistry({ providers: { own: flaky } }, {});
    await expect(registry.resolve('own/a')).rejects.toThrow('no network');
    await registry.resolve('own/a');
    await registry.resolve('own/a');
    await registry.resolve('own/b');
    expect(made).toBe(3);
  });
});

describe('the demo model', () => {
  const tools = [
    {
      name: 'refund',
      description: '',
      inputSchema: {
        type: 'object',
        properties: {
          orderId: { type: 'string' },
          amount: { type: 'number' },
          why: { type: 'string', enum: ['broken', 'late'] },
          fast: { type: 'boolean' },
        },
      },
    },
    { name: 'lookupOrder', description: '', inputSchema: { type: 'object', properties: { orderId: { type: 'string' } } } },
  ];
  const answer = async (...messages: readonly Message[]): Promise<readonly Part[]> => {
    const { model } = await new ModelRegistry({ demo: true }, {}).resolve('default');
    return (await model.generate({ instructions: '', messages, tools, settings: {}, signal: new AbortController().signal })).parts;
  };
  const looked: Message = { role: 'assistant', parts: [{ type: 'tool-call', id: '1', name: 'lookupOrder', input: {} }] };
  const result = (output: object): Message => ({
    role: 'tool',
    parts: [{ type: 'tool-result', callId: '1', name: 'lookupOrder', output: output as never }],
  });

  it('looks up first, then acts with what it found, then sums up and says what it is', async () => {
    const ask = user('Refund order 42, please');
    expect(await answer(ask)).toMatchObject([{ type: 'tool-call', name: 'lookupOrder', input: { orderId: '42' } }]);
    const found = [ask, looked, result({ orderId: '42', total: 80 })];
    expect(await answer(...found)).toMatchObject([{ name: 'refund', input: { orderId: '42', amount: 80, why: 'broken', fast: true } }]);
    const refunded: Message[] = [
      { role: 'assistant', parts: [{ type: 'tool-call', id: '2', name: 'refund', input: {} }] },
      { role: 'tool', parts: [{ type: 'tool-result', callId: '2', name: 'refund', output: 'paid' }] },
    ];
    expect(await answer(...found, ...refunded)).toMatchObject([
      { type: 'text', text: expect.stringMatching(/^Done\. lookupOrder: .*; refund: paid\. \(This is the demo model/) },
    ]);
  });

  it('says that it can do nothing about the rest', async () => {
    expect(await answer(user('Sing!'))).toMatchObject([{ text: expect.stringContaining('nothing I can do') }]);
    expect(await answer()).toMatchObject([{ type: 'text' }]);
  });
});

describe('a failure of a provider', () => {
  const http = (statusCode: number, responseHeaders?: Record<string, string>): Error =>
    Object.assign(new Error('refused'), { statusCode, ...(responseHeaders === undefined ? {} : { responseHeaders }) });
  it.each<[string, unknown, boolean]>([
    ['a request that is wrong', http(400), false],
    ['a wrong key', http(401), false],
    ['no such model', http(404), false],
    ['a timeout there', http(408), true],
    ['a conflict', http(409), true],
    ['too many requests', http(429), true],
    ['a broken server', http(500), true],
    ['an overloaded server', http(529), true],
    ['a status by another name', Object.assign(new Error('x'), { status: 503 }), true],
    ['a status over a flag', Object.assign(new Error('x'), { status: 400, isRetryable: true }), false],
    ['a flag that says yes', Object.assign(new Error('x'), { isRetryable: true }), true],
    ['a flag that says no', Object.assign(new Error('x'), { isRetryable: false }), false],
    ['no network', new TypeError('fetch failed'), true],
    ['a broken connection', Object.assign(new TypeError('terminated'), { code: 'UND_ERR_SOCKET' }), true],
    ['a bug in the adapter', new TypeError('x is not a function'), false],
    ['an error of Holdfast', new HoldfastError('config-invalid', 'x'), false],
    ['an error of no kind', new Error('x'), true],
    ['a text', 'x', true],
    ['nothing', undefined, true],
  ])('%s', (_, error, retryable) => expect(classify(error).retryable).toBe(retryable));

  it('says how long to wait, as the provider says', () => {
    expect(classify(http(429, { 'retry-after': '7' })).retryAfterMs).toBe(7000);
    expect(classify(http(429, { 'retry-after-ms': '250', 'retry-after': '7' })).retryAfterMs).toBe(250);
    expect(classify(http(503, { 'retry-after': 'Thu, 01 Jan 1970 00:00:00 GMT' })).retryAfterMs).toBe(0);
    expect(classify(http(429, { 'retry-after': 'soon' })).retryAfterMs).toBeUndefined();
    expect(classify(http(400, { 'retry-after': '7' })).retryAfterMs).toBeUndefined();
  });

  it('is tried again where another worker may have what this one lacks', () => {
    expect(modelVerdict(new HoldfastError('model-key-missing', 'x'))).toMatchObject({ code: 'model-key-missing', retryable: true });
    expect(modelVerdict(new HoldfastError('config-invalid', 'x'))).toMatchObject({ code: 'config-invalid', retryable: false });
    expect(modelVerdict(new Error('x'))).toMatchObject({ code: 'model-failed', retryable: true });
  });

  it('is a cancellation when the call was cancelled', () => {
    const abort = new AbortController();
    expect(isCancelled(new Error('x'), abort.signal)).toBe(false);
    abort.abort();
    expect(isCancelled(new DOMException('aborted', 'AbortError'), abort.signal)).toBe(true);
  });
});

describe('an AI SDK model', () => {
  const request: GenerateRequest = {
    instructions: 'Be.',
    messages: [
      user('Hi'),
      {
        role: 'assistant',
        parts: [
          { type: 'reasoning', text: 'hm', extra: { own: { signature: 's' } } },
          { type: 'tool-call', id: '1', name: 't', input: { a: 1 } },
        ],
      },
      { role: 'tool', parts: [{ type: 'tool-result', callId: '1', name: 't', output: { b: 2 } }] },
      { role: 'tool', parts: [{ type: 'tool-result', callId: '2', name: 't', output: 'no', isError: true }] },
      { role: 'user', parts: [{ type: 'file', mediaType: 'image/png', data: { url: 'https://example.com/a.png' } }] },
    ],
    tools: [{ name: 't', description: 'T.', inputSchema: { type: 'object' } }],
    settings: { temperature: 0, maxOutputTokens: 5, providerOptions: { own: { x: 1 } } },
    signal: new AbortController().signal,
  };

  it('gets the request in its own words', async () => {
    const doGenerate = jest.fn().mockResolvedValue({ content: [] });
    await aiSdkModel({ specificationVersion: 'v3', doGenerate }).generate(request);
    expect(doGenerate.mock.calls[0][0]).toMatchObject({
      prompt: [
        { role: 'system', content: 'Be.' },
        { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
        {
          role: 'assistant',
          content: [
            { type: 'reasoning', text: 'hm', providerOptions: { own: { signature: 's' } } },
            { type: 'tool-call', toolCallId: '1', toolName: 't', input: { a: 1 } },
          ],
        },
        { role: 'tool', content: [{ type: 'tool-result', toolCallId: '1', toolName: 't', output: { type: 'json', value: { b: 2 } } }] },
        { role: 'tool', content: [{ output: { type: 'error-text', value: 'no' } }] },
        { role: 'user', content: [{ type: 'file', mediaType: 'image/png', data: new URL('https://example.com/a.png') }] },
      ],
      tools: [{ type: 'function', name: 't', inputSchema: { type: 'object' } }],
      toolChoice: { type: 'auto' },
      temperature: 0,
      maxOutputTokens: 5,
      providerOptions: { own: { x: 1 } },
    });
  });

  it('answers in ours, whatever specification it has', async () => {
    const content = [
      { type: 'reasoning', text: 'hm', providerMetadata: { own: { signature: 's' } } },
      { type: 'text', text: 'Hello.' },
      { type: 'tool-call', toolCallId: '1', toolName: 't', input: '{"a":1}' },
      { type: 'tool-call', toolCallId: '2', toolName: 't', input: '' },
      { type: 'tool-call', toolCallId: '3', toolName: 't', input: '{"a":' },
      { type: 'source', url: 'https://example.com' },
    ];
    const flat = { inputTokens: 10, outputTokens: 5, cachedInputTokens: 3 };
    const nested = { inputTokens: { total: 10, cacheRead: 3 }, outputTokens: { total: 5, reasoning: 2 } };
    const bare = { inputTokens: 10, outputTokens: 5 };
    const answer = async (usage: object) =>
      aiSdkModel({ specificationVersion: 'v2', doGenerate: () => Promise.resolve({ content, usage }) }).generate(request);
    expect(await answer(flat)).toEqual({
      parts: [
        { type: 'reasoning', text: 'hm', extra: { own: { signature: 's' } } },
        { type: 'text', text: 'Hello.' },
        { type: 'tool-call', id: '1', name: 't', input: { a: 1 } },
        { type: 'tool-call', id: '2', name: 't', input: {} },
        { type: 'tool-call', id: '3', name: 't', input: '{"a":' },
      ],
      usage: { inputTokens: 10, outputTokens: 5, cachedInputTokens: 3 },
    });
    expect((await answer(bare)).usage).toEqual(bare);
    expect((await answer({ ...bare, reasoningTokens: 2 })).usage).toEqual({ ...bare, reasoningTokens: 2 });
    expect((await answer(nested)).usage).toEqual({ inputTokens: 10, outputTokens: 5, cachedInputTokens: 3, reasoningTokens: 2 });
  });
});
