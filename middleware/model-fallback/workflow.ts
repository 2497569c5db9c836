import type { AgentMiddleware } from '../../kernel/define/middleware';
import type { FailoverAttempt, ModelError } from '../../kernel/define/retry-options';
import { checkOptions, filled, required, someNames } from '../../contract/check';
import { modelCodes } from '../code-options';

export interface ModelFallbackOptions {
  readonly name?: string;
  /** The models that are asked when the agent's own one gives no answer, in their order. */
  readonly models: readonly string[];
  /** After which errors: their codes, or a function. Default: all. */
  readonly fallBackOn?: readonly string[] | ((error: ModelError) => boolean);
}

/** `failover` of an agent in a middleware: the same mechanism, so an agent has one of them. */
export function modelFallback(options: ModelFallbackOptions): AgentMiddleware {
  checkOptions('modelFallback', options, {
    name: filled,
    models: required(someNames),
    fallBackOn: modelCodes,
  });
  const { name = 'modelFallback', models, fallBackOn } = options;
  const isFor = (error: ModelError): boolean => {
    if (fallBackOn === undefined) return true;
    return typeof fallBackOn === 'function' ? fallBackOn(error) : fallBackOn.includes(error.code);
  };
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

/** The call may have begun with one of the models, as it answered last: then the agent's own one is one of the others. */
function nextOf(models: readonly string[], { named, tried }: Pick<FailoverAttempt, 'named' | 'tried'>): string | undefined {
  return [named, ...models].find((candidate) => !tried.includes(candidate));
}
