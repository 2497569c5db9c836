import type { MaybePromise } from '../../contract/maybe-promise';
import { HoldfastError } from '../../contract/errors';
import type { AgentMiddleware, HookContext, ModelRequest } from '../../kernel/define/middleware';
import { withTraits } from '../../kernel/define/traits';
import { checkOptions, flag } from '../../contract/check';

export type PromptMaker = (request: ModelRequest, ctx: HookContext) => MaybePromise<string>;

export interface DynamicPromptOptions {
  /** Adds the text after a blank line. Default: replaces the instructions. */
  readonly append?: boolean;
}

/**
 * Makes the instructions anew for each model call, from the request and from values of the run.
 * @example
 * export const polite = dynamicPrompt(
 *   ({ messages }, ctx) => `The customer is ${String(ctx.values['customer'])}.${messages.length > 20 ? ' Be brief.' : ''}`,
 *   { append: true },
 * );
 */
export function dynamicPrompt(make: PromptMaker, options?: DynamicPromptOptions): AgentMiddleware {
  if (typeof make !== 'function')
    throw new HoldfastError(
      'agent-invalid',
      'dynamicPrompt: it takes a function that returns instructions: dynamicPrompt((request, ctx) => …).',
    );
  const { append = false } = checkOptions<DynamicPromptOptions>('dynamicPrompt', options, { append: flag });
  const middleware: AgentMiddleware = {
    name: 'dynamicPrompt',
    async wrapModel(request, next, ctx) {
      const text: unknown = await make(request, ctx);
      if (typeof text !== 'string')
        throw new HoldfastError('hook-failed', `dynamicPrompt got ${typeof text} from its function; it is to return a text.`);
      const instructions = append ? [request.instructions, text].filter((part) => part !== '').join('\n\n') : text;
      return next({ ...request, instructions });
    },
  };
  return withTraits(middleware, { isNumbered: true });
}
