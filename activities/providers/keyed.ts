import { HoldfastError } from '../../contract/plain/errors';
import type { ModelProvider } from '../models';
import { aiSdkModel } from './ai-sdk';

interface KeyedProvider {
  readonly keyVariable: string;
  readonly urlVariable: string;
  readonly package: string;
  readonly factory: string;
}

/** Providers that need no more than their key in the environment and their AI SDK package in the project. */
export const keyedProviderTable: Readonly<Record<string, KeyedProvider>> = {
  openai: { keyVariable: 'OPENAI_API_KEY', urlVariable: 'OPENAI_BASE_URL', package: '@ai-sdk/openai', factory: 'createOpenAI' },
  anthropic: {
    keyVariable: 'ANTHROPIC_API_KEY',
    urlVariable: 'ANTHROPIC_BASE_URL',
    package: '@ai-sdk/anthropic',
    factory: 'createAnthropic',
  },
  google: {
    keyVariable: 'GOOGLE_GENERATIVE_AI_API_KEY',
    urlVariable: 'GOOGLE_GENERATIVE_AI_BASE_URL',
    package: '@ai-sdk/google',
    factory: 'createGoogleGenerativeAI',
  },
};

export function keyedProviders(environment: Readonly<Record<string, string | undefined>>): Readonly<Record<string, ModelProvider>> {
  return Object.fromEntries(Object.entries(keyedProviderTable).map(([name, provider]) => [name, providerOf(name, provider, environment)]));
}

function providerOf(name: string, provider: KeyedProvider, environment: Readonly<Record<string, string | undefined>>): ModelProvider {
  return {
    keyVariable: provider.keyVariable,
    missing: () => (isInstalled(provider.package) ? undefined : `the package ${provider.package} (npm install ${provider.package})`),
    async model(model) {
      const module = await load(name, provider);
      const create = module[provider.factory] as (options: object) => (model: string) => object;
      const baseURL = environment[provider.urlVariable];
      return aiSdkModel(create({ apiKey: environment[provider.keyVariable], ...(baseURL === undefined ? {} : { baseURL }) })(model));
    },
  };
}

/** Found from the project first, as it is the project that installs it. */
function isInstalled(name: string): boolean {
  try {
    require.resolve(name, { paths: [process.cwd(), __dirname] });
    return true;
  } catch (error) {
    return (error as { code?: unknown }).code !== 'MODULE_NOT_FOUND';
  }
}

async function load(name: string, provider: KeyedProvider): Promise<Record<string, unknown>> {
  try {
    return (await import(provider.package)) as Record<string, unknown>;
  } catch (error) {
    throw new HoldfastError(
      'config-invalid',
      `The provider "${name}" needs the package ${provider.package}: npm install ${provider.package}.`,
      { cause: error },
    );
  }
}
