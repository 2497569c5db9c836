import { APICallError } from '@ai-sdk/provider';
import { classify } from '../../../activities/failures';
import { generate } from '../../../activities/models/call-model';
import type { LanguageModel, ModelProvider } from '../../../activities/models/language-model';
import { ModelRegistry } from '../../../activities/models/models';
import { ToolRegistry } from '../../../activities/tools/tools';
import { CallValues } from '../../../activities/calls/call-values';
import { Observers } from '../../../activities/worker-middleware/observers';
import { WorkerMiddlewareRegistry } from '../../../activities/worker-middleware/worker-middleware';

const key = 'sk-very-secret-1234567890';
const refusal = (statusCode: number, message: string): APICallError =>
  new APICallError({ message, statusCode, url: 'https://example.com', requestBodyValues: {} });
const answering = (error: Error): LanguageModel => ({
  generate: () => Promise.reject(error),
  async *stream() {
    await Promise.resolve();
    throw error;
  },
});

interface Case {
  readonly providers: Readonly<Record<string, ModelProvider>>;
  readonly names?: Readonly<Record<string, readonly string[]>>;
  readonly model: string;
  readonly stream?: 'live' | 'whole';
  readonly environment?: Readonly<Record<string, string>>;
}

async function told({ providers, names = {}, model, stream = 'live', environment = {} }: Case): Promise<readonly string[]> {
  const seen: string[] = [];
  const observers = new Observers([{ name: 'spy', onError: (observed) => void seen.push(observed.error.message) }]);
  const parts = {
    models: new ModelRegistry({ providers, names }, environment),
    tools: new ToolRegistry({}),
    middleware: new WorkerMiddlewareRegistry([]),
    observers,
  };
  const call = {
    agent: 'agent',
    id: 'agent/t1/model',
    attempt: 1,
    signal: new AbortController().signal,
    ...new CallValues().access(),
  };
  const error: unknown = await generate({ messages: [], slots: { model, stream } }, parts, call).catch((thrown: unknown) => thrown);
  const { code, message } = classify(error);
  return [code, message, ...seen];
}

describe('a key that a provider refuses', () => {
  it.each(['live', 'whole'] as const)('is named by its variable, with its model, in a call that is %s', async (stream) => {
    const provider = { keyVariable: 'ANTHROPIC_API_KEY', model: () => answering(refusal(401, 'invalid x-api-key')) };
    const text = 'anthropic/claude-sonnet-4-5 refused the key in ANTHROPIC_API_KEY: invalid x-api-key (HTTP 401)';
    const environment = { ANTHROPIC_API_KEY: key };
    expect(await told({ providers: { anthropic: provider }, model: 'anthropic/claude-sonnet-4-5', stream, environment })).toEqual([
      'model-key-refused',
      text,
      text,
    ]);
  });

  it('is of the model of a list that was called', async () => {
    const provider = (keyVariable: string): ModelProvider => ({
      keyVariable,
      model: () => answering(refusal(403, `No access with ${key} here.`)),
    });
    const [, message] = await told({
      providers: { one: provider('KEY_ONE'), two: provider('KEY_TWO') },
      names: { default: ['one/small', 'two/large'] },
      model: 'default',
      environment: { KEY_TWO: key },
    });
    expect(message).toBe('two/large refused the key in KEY_TWO: No access with [key] here. (HTTP 403)');
  });

  it('is said to be missing when the provider needs none and none is set', async () => {
    const local = { optionalKeyVariable: 'LOCAL_KEY', model: () => answering(refusal(401, 'Unauthorized')) };
    expect((await told({ providers: { local }, model: 'local/m' }))[1]).toBe(
      'local/m asks for a key, and LOCAL_KEY is not set: Unauthorized (HTTP 401)',
    );
  });

  it('has no variable for a provider that names none', async () => {
    const own = { model: () => answering(refusal(401, 'Unauthorized')) };
    expect((await told({ providers: { own }, model: 'own/m' }))[1]).toBe('own/m refused the call: Unauthorized (HTTP 401)');
  });
});
