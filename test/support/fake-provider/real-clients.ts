import type { GenerateAnswer, ModelChunk, GenerateRequest, LanguageModel } from '../../../activities/models/language-model';
import { AnswerAssembly } from '../../../activities/models/chunks';
import { ModelRegistry } from '../../../activities/models/models';
import type { Message } from '../../../contract/messages/messages';
import type { FakeProvider } from './fake-provider';

export interface RealClient {
  readonly name: 'openai' | 'openai-compatible' | 'anthropic' | 'google';
  readonly model: string;
  environment(url: string, key: string): Readonly<Record<string, string>>;
}

export const realClients: readonly RealClient[] = [
  {
    name: 'openai',
    model: 'openai/gpt-5-mini',
    environment: (url, key) => ({ OPENAI_API_KEY: key, OPENAI_BASE_URL: `${url}/v1` }),
  },
  {
    name: 'openai-compatible',
    model: 'openai-compatible/qwen3',
    environment: (url, key) => ({ OPENAI_COMPATIBLE_API_KEY: key, OPENAI_COMPATIBLE_BASE_URL: `${url}/v1` }),
  },
  {
    name: 'anthropic',
    model: 'anthropic/claude-sonnet-4-5',
    environment: (url, key) => ({ ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: `${url}/v1` }),
  },
  {
    name: 'google',
    model: 'google/gemini-3-flash-preview',
    environment: (url, key) => ({ GOOGLE_GENERATIVE_AI_API_KEY: key, GOOGLE_GENERATIVE_AI_BASE_URL: `${url}/v1beta` }),
  },
];

export type StreamingModel = LanguageModel & Required<Pick<LanguageModel, 'stream'>>;

export async function modelOf(client: RealClient, { url }: Pick<FakeProvider, 'url'>, key = 'sk-test-0123456789'): Promise<StreamingModel> {
  const { model } = await new ModelRegistry({}, client.environment(url, key)).resolve(client.model);
  return model as StreamingModel;
}

export function askedWith(fields: Partial<GenerateRequest> = {}): GenerateRequest {
  return { instructions: 'Be brief.', messages: [user('Hi')], tools: [], settings: {}, signal: new AbortController().signal, ...fields };
}

export function user(text: string): Message {
  return { role: 'user', parts: [{ type: 'text', text }] };
}

export async function chunksOf(stream: AsyncIterable<ModelChunk>): Promise<readonly ModelChunk[]> {
  const chunks: ModelChunk[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}

export async function collected(stream: AsyncIterable<ModelChunk>): Promise<GenerateAnswer> {
  const assembly = new AnswerAssembly();
  for await (const chunk of stream) assembly.add(chunk);
  return assembly.answer();
}
