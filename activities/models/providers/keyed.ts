import { defined } from '../../../contract/defined';
import { HoldfastError } from '../../../contract/errors';
import { headerProblem, urlProblem } from '../../../host/check-settings';
import type { ModelProvider } from '../language-model';
import type { AiSdkOptions } from './ai-sdk/specification';
import { aiSdkModel } from './ai-sdk';

interface Access {
  readonly apiKey?: string;
  readonly baseURL?: string;
}

interface KeyedProvider {
  readonly keyVariable: string;
  readonly urlVariable: string;
  readonly package: string;
  readonly needs: 'key' | 'url';
  readonly options?: AiSdkOptions;
  load(access: Access): Promise<(model: string) => object>;
}

export const keyedProviderTable: Readonly<Record<string, KeyedProvider>> = {
  openai: {
    keyVariable: 'OPENAI_API_KEY',
    urlVariable: 'OPENAI_BASE_URL',
    package: '@ai-sdk/openai',
    needs: 'key',
    // OpenAI deletes stored items after 30 days, and runs may wait longer, so each request carries all items, with reasoning encrypted.
    options: { providerOptions: { openai: { store: false } }, strictOption: 'openai' },
    load: async (access) => (await import('@ai-sdk/openai')).createOpenAI(access),
  },
  anthropic: {
    keyVariable: 'ANTHROPIC_API_KEY',
    urlVariable: 'ANTHROPIC_BASE_URL',
    package: '@ai-sdk/anthropic',
    needs: 'key',
    options: { deferOption: 'anthropic' },
    load: async (access) => (await import('@ai-sdk/anthropic')).createAnthropic(access),
  },
  google: {
    keyVariable: 'GOOGLE_GENERATIVE_AI_API_KEY',
    urlVariable: 'GOOGLE_GENERATIVE_AI_BASE_URL',
    package: '@ai-sdk/google',
    needs: 'key',
    load: async (access) => (await import('@ai-sdk/google')).createGoogleGenerativeAI(access),
  },
  'openai-compatible': {
    keyVariable: 'OPENAI_COMPATIBLE_API_KEY',
    urlVariable: 'OPENAI_COMPATIBLE_BASE_URL',
    package: '@ai-sdk/openai-compatible',
    needs: 'url',
    // Chat completions allow files only in user messages.
    options: { filesOnlyFromUser: true, strictOption: 'openaiCompatible' },
    load: async ({ apiKey, baseURL = '' }) =>
      (await import('@ai-sdk/openai-compatible')).createOpenAICompatible({
        name: 'openaiCompatible',
        baseURL,
        includeUsage: true,
        supportsStructuredOutputs: true,
        ...defined({ apiKey }),
      }),
  },
};

export const keyVariables: readonly string[] = Object.values(keyedProviderTable).flatMap(({ needs, keyVariable }) =>
  needs === 'key' ? [keyVariable] : [],
);

type ProviderEnvironment = Readonly<Record<string, string | undefined>>;

export function keyedProviders(environment: ProviderEnvironment): Readonly<Record<string, ModelProvider>> {
  return Object.fromEntries(Object.entries(keyedProviderTable).map(([name, provider]) => [name, providerOf(name, provider, environment)]));
}

function providerOf(name: string, provider: KeyedProvider, environment: ProviderEnvironment): ModelProvider {
  return {
    keyVariable: provider.needs === 'key' ? provider.keyVariable : provider.urlVariable,
    ...(provider.needs === 'key' ? {} : { optionalKeyVariable: provider.keyVariable }),
    async model(model) {
      const apiKey = environment[provider.keyVariable] || undefined;
      const baseURL = urlOf(provider.urlVariable, environment);
      const access = defined({ apiKey, baseURL });
      const create = await provider.load(access).catch((cause: unknown) => {
        throw new HoldfastError(
          'config-invalid',
          `The provider "${name}" cannot load ${provider.package}, which comes with Holdfast. Install it again.`,
          {
            cause,
          },
        );
      });
      return aiSdkModel(create(model), { ...provider.options, ...(apiKey === undefined ? {} : { secrets: [apiKey] }) });
    },
  };
}

/** Refuses at the start values that no request could carry. Messages quote neither keys nor addresses. */
export function checkKeyedEnvironment(environment: ProviderEnvironment): void {
  for (const { keyVariable, urlVariable } of Object.values(keyedProviderTable)) {
    urlOf(urlVariable, environment);
    const problem = headerProblem(environment[keyVariable] ?? '');
    if (problem !== undefined) throw refused(keyVariable, problem);
  }
}

function urlOf(variable: string, environment: ProviderEnvironment): string | undefined {
  const url = environment[variable] || undefined;
  const problem = url === undefined ? undefined : urlProblem(url);
  if (problem !== undefined) throw refused(variable, problem);
  return url;
}

function refused(variable: string, problem: string): HoldfastError {
  return new HoldfastError(
    'config-invalid',
    problem.startsWith('It ') ? `${variable}${problem.slice(2)}` : `${variable} cannot be used. ${problem}`,
  );
}
