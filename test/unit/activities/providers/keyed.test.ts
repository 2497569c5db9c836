import { ModelRegistry } from '../../../../activities/models/models';
import { keyedProviderTable } from '../../../../activities/models/providers/keyed';
import type { FakeProvider } from '../../../support/fake-provider/fake-provider';
import { startFakeProvider } from '../../../support/fake-provider/fake-provider';
import { askedWith, modelOf, realClients } from '../../../support/fake-provider/real-clients';
import { errorSaying } from '../../../support/failures';

let fake: FakeProvider;
beforeEach(async () => (fake = await startFakeProvider()));
afterEach(() => fake.close());
const answer = { blocks: [{ type: 'text', text: 'Ok.' }] } as const;

describe('a provider that is known by its variables', () => {
  it('is one of those that the tests ask', () => {
    expect(realClients.map(({ name }) => name).sort()).toEqual(Object.keys(keyedProviderTable).sort());
  });

  it.each(realClients)('is asked at the address of its variable, with its key: $name', async (client) => {
    fake.answer(answer);
    await (await modelOf(client, fake, 'key-of-the-test')).generate(askedWith());
    const [{ path, headers, dialect }] = fake.requests as [(typeof fake.requests)[number]];
    const expected = {
      openai: ['openai-responses', '/v1/responses', headers.authorization],
      'openai-compatible': ['openai-chat', '/v1/chat/completions', headers.authorization],
      anthropic: ['anthropic-messages', '/v1/messages', headers['x-api-key']],
      google: ['google-generate', '/v1beta/models/gemini-3-flash-preview:generateContent', headers['x-goog-api-key']],
    }[client.name];
    expect([dialect, path]).toEqual(expected.slice(0, 2));
    expect(expected[2]).toContain('key-of-the-test');
  });

  it('needs the address, and no key, when it only speaks as OpenAI does', async () => {
    const without = new ModelRegistry({}, { OPENAI_COMPATIBLE_API_KEY: 'k' });
    expect(() => without.idOf('openai-compatible/qwen3')).toThrow(errorSaying('model-key-missing', 'needs OPENAI_COMPATIBLE_BASE_URL'));
    const { model } = await new ModelRegistry({}, { OPENAI_COMPATIBLE_BASE_URL: `${fake.url}/v1/`, OPENAI_COMPATIBLE_API_KEY: '' }).resolve(
      'openai-compatible/org/qwen3:8b',
    );
    fake.answer(answer);
    await model.generate(askedWith());
    expect(fake.requests[0]).toMatchObject({ path: '/v1/chat/completions', body: { model: 'org/qwen3:8b' } });
    expect(fake.requests[0]!.headers.authorization).toBeUndefined();
  });

  it('asks for the count of tokens in streams, too', async () => {
    const client = realClients.find(({ name }) => name === 'openai-compatible')!;
    fake.answer(answer);
    for await (const _ of (await modelOf(client, fake)).stream(askedWith()));
    expect(fake.requests[0]!.body).toMatchObject({ stream_options: { include_usage: true } });
  });

  it.each(realClients)('is refused an address that is none: $name', async (client) => {
    const { urlVariable } = keyedProviderTable[client.name]!;
    const registry = new ModelRegistry({}, { ...client.environment(fake.url, 'k'), [urlVariable]: 'localhost:1234' });
    await expect(registry.resolve(client.model)).rejects.toMatchObject({
      code: 'config-invalid',
      message: `${urlVariable} must be a URL that begins with http:// or https://.`,
    });
  });

  it('may forget what OpenAI stores, unless an agent says otherwise', async () => {
    const model = await modelOf(realClients[0]!, fake);
    fake.answer(answer, answer);
    await model.generate(askedWith());
    await model.generate(askedWith({ settings: { providerOptions: { openai: { store: true } } } }));
    expect(fake.requests.map(({ body }) => body['store'])).toEqual([false, true]);
  });
});
