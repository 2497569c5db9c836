import type { GenerateRequest, LanguageModel } from '../language-model';
import { answerOf } from './ai-sdk/answer';
import { callOptions } from './ai-sdk/call-options';
import { withoutSecrets } from './ai-sdk/secrets';
import type { AiSdkOptions } from './ai-sdk/specification';
import { canStream, specifiedModel } from './ai-sdk/specification';
import { chunksFrom } from './ai-sdk/stream';

/**
 * Takes an AI SDK language model of specification v3 or v4. Bodies of requests and responses never enter the history. Only the activity
 * retries.
 * @example
 * import { createOpenAI } from '@ai-sdk/openai';
 *
 * const openai = createOpenAI({ baseURL: 'https://models.example/v1' });
 * export default defineConfig({
 *   agents: 'agents.ts',
 *   models: { providers: { 'in-house': { model: (name) => aiSdkModel(openai(name)) } } },
 * });
 */
export function aiSdkModel(model: object, options: AiSdkOptions = {}): LanguageModel {
  const specified = specifiedModel(model);
  const version = specified.specificationVersion;
  const clean = (error: unknown): never => {
    throw withoutSecrets(error, options.secrets);
  };
  return {
    async generate(request) {
      const { content, finishReason, usage } = await specified.doGenerate(callOptions(request, version, options)).then(undefined, clean);
      return answerOf(content, finishReason, usage);
    },
    ...(canStream(specified)
      ? {
          stream: (request: GenerateRequest) =>
            chunksFrom(
              async (signal) => specified.doStream({ ...callOptions({ ...request, signal }, version, options), includeRawChunks: true }),
              request.signal,
              clean,
            ),
        }
      : {}),
  };
}
