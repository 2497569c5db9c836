import type { LanguageModel, ModelProvider } from '../../../activities/models/language-model';
import { ModelRegistry } from '../../../activities/models/models';
import type { Message, Part } from '../../../contract/messages/messages';
import { errorOf } from '../../support/failures';

const silent: LanguageModel = { generate: () => Promise.resolve({ parts: [] }) };
const provider = (keyVariable?: string): ModelProvider => ({ model: () => silent, ...(keyVariable === undefined ? {} : { keyVariable }) });
const keyed = { a: provider('KEY_A'), b: provider('KEY_B'), c: provider('KEY_C') };
const user = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] });

describe('the model registry', () => {
  it('finds a model by its provider', () => {
    expect(new ModelRegistry({ providers: { own: provider() } }, {}).idOf('own/small')).toBe('own/small');
    expect(new ModelRegistry({ providers: keyed }, { KEY_B: 'k' }).idOf('b/gpt-5-mini')).toBe('b/gpt-5-mini');
  });

  it.each(['nowhere/model', 'own', '', 'own-model'])('says of %p that there is none, and what there is', (name) => {
    const registry = new ModelRegistry({ providers: { own: provider() }, names: { fast: 'own/small' } }, {});
    expect(() => registry.idOf(name)).toThrow(errorOf('model-unknown', /There are: default, fast, .*own\/…/));
  });

  it('says which variable a model needs', () => {
    const blank = new ModelRegistry({ providers: keyed }, { KEY_B: '' });
    expect(() => blank.idOf('b/large')).toThrow(errorOf('model-key-missing', /needs KEY_B/));
    expect(() => new ModelRegistry({}, {}).idOf('openai/gpt-5-mini')).toThrow(errorOf('model-key-missing', /OPENAI_API_KEY/));
  });

  it('takes of a list the first that has its key', () => {
    const options = { providers: keyed, names: { default: ['a/x', 'b/y', 'c/z'] } };
    expect(new ModelRegistry(options, { KEY_B: 'k', KEY_C: 'k' }).idOf('default')).toBe('b/y');
    expect(() => new ModelRegistry(options, {}).idOf('default')).toThrow(errorOf('model-key-missing', /KEY_A, KEY_B, KEY_C/));
    expect(() => new ModelRegistry({}, {}).idOf('default')).toThrow('`models.names.default` names none');
  });

  it('puts the demo model last, and only where it is allowed', () => {
    const options = { providers: keyed, names: { default: ['b/y'] } };
    expect(new ModelRegistry({ ...options, demo: true }, {}).idOf('default')).toBe('demo/rules');
    expect(new ModelRegistry({ ...options, demo: true }, { KEY_B: 'k' }).idOf('default')).toBe('b/y');
    expect(() => new ModelRegistry(options, {}).idOf('default')).toThrow(errorOf('model-key-missing'));
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

  it('ends a sentence once', async () => {
    const said = async (output: string) => (await answer(user('Order 9'), looked, result(output as never)))[0];
    expect(await said('It did not run.')).toMatchObject({ text: expect.stringMatching(/^Done\. lookupOrder: It did not run\. \(This/) });
    expect(await said('paid')).toMatchObject({ text: expect.stringMatching(/^Done\. lookupOrder: paid\. \(This/) });
  });

  it('stops when a call fails: what was not found must not be paid', async () => {
    const failed: Message = {
      role: 'tool',
      parts: [{ type: 'tool-result', callId: '1', name: 'lookupOrder', output: 'There is no order 9', isError: true }],
    };
    expect(await answer(user('Refund order 9'), looked, failed)).toMatchObject([
      { type: 'text', text: expect.stringMatching(/^Stopped\. lookupOrder: There is no order 9\. /) },
    ]);
  });

  it('says which keys a real model needs, of those that are configured', () => {
    const adviceOf = (names?: Record<string, readonly string[]>): string =>
      new ModelRegistry({ demo: true, ...(names === undefined ? {} : { names }) }, {}).realModelAdvice;
    expect(adviceOf()).toBe('Name a real one as `default` in `models.names`');
    expect(adviceOf({ default: ['anthropic/one'] })).toBe('Set ANTHROPIC_API_KEY for a real one');
    expect(adviceOf({ default: ['google/one', 'openai/two'] })).toBe('Set OPENAI_API_KEY or GOOGLE_GENERATIVE_AI_API_KEY for a real one');
  });

  it('says that it can do nothing about the rest', async () => {
    expect(await answer(user('Sing!'))).toMatchObject([
      { text: expect.stringMatching(/^There is no tool for this: .*Name a real one as `default`/) },
    ]);
    expect(await answer()).toMatchObject([{ type: 'text' }]);
  });
});
