import type { AgentMiddleware } from '../../kernel/define/middleware';
import type { FailoverAttempt, ModelError } from '../../kernel/define/retry-options';
import { checkedOptions, isFunction, isTexts, nameForm, optional } from '../checked-options';
import { checkModelCodes } from '../error-codes';

export interface ModelFallbackOptions {
  readonly name?: string;
  /** The models that are asked when the agent's own one gives no answer, in their order. */
  readonly models: readonly string[];
  /** After which errors: their codes, or a function. Default: all. */
  readonly fallBackOn?: readonly string[] | ((error: ModelError) => boolean);
}

/** `failover` of an agent in a middleware: the same mechanism, so an agent has one of them. */
export function modelFallback(options: ModelFallbackOptions): AgentMiddleware {
  checkedOptions('modelFallback', options, {
    name: nameForm,
    models: [(value) => isTexts(value) && new Set(value).size === value.length, 'a list of at least one name of a model, each once'],
    fallBackOn: [optional((value) => isFunction(value) || isTexts(value)), 'a function of the error, or a list of at least one code'],
  });
  checkModelCodes('modelFallback', 'fallBackOn', options.fallBackOn);
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
