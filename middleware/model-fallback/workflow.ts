import type { AgentMiddleware } from '../../kernel/define/middleware';
import type { FailoverAttempt, ModelError } from '../../kernel/define/retry-options';
import { checkOptions, filled, required, someNames } from '../../contract/check';
import { fits, modelCodes } from '../code-options';

export interface ModelFallbackOptions {
  readonly name?: string;
  /** In order, after the agent's own model. */
  readonly models: readonly string[];
  /** Codes, or a function. Default: all errors. */
  readonly fallBackOn?: readonly string[] | ((error: ModelError) => boolean);
}

/**
 * Asks other models when the agent's own model gives no answer. `failover` as a middleware: an agent has one of both.
 * @example
 * export const otherModels = modelFallback({
 *   models: ['anthropic/claude-sonnet-4-5', 'google/gemini-2.5-pro'],
 * });
 */
export function modelFallback(options: ModelFallbackOptions): AgentMiddleware {
  checkOptions('modelFallback', options, {
    name: filled,
    models: required(someNames),
    fallBackOn: modelCodes,
  });
  const { name = 'modelFallback', models, fallBackOn = () => true } = options;
  const isFor = fits(fallBackOn);
  return {
    name,
    failover: {
      maxRetries: models.length,
      shouldFailover: (_output, error, failed) => isFor(error) && nextOf(models, failed) !== undefined,
      getFailoverModel(failed) {
        const model = nextOf(models, failed);
        return model === undefined ? null : { model };
      },
    },
  };
}

/** The call may have begun with one of `models`: then the agent's own model follows. */
function nextOf(models: readonly string[], { named, tried }: Pick<FailoverAttempt, 'named' | 'tried'>): string | undefined {
  return [named, ...models].find((candidate) => !tried.includes(candidate));
}
