import { HoldfastError } from '../../contract/errors';
import type { AgentMiddleware } from '../../kernel/define/middleware';
import type { CallLimitOptions } from '../call-counts';
import { checkedCallLimits, countCall, timesIn } from '../call-counts';
import { oneOf } from '../../contract/check';

export interface ModelCallLimitOptions extends CallLimitOptions {
  /** `end` (default): the agent ends with a message. `fail`: the run fails with `call-limit`. */
  readonly exceeded?: 'end' | 'fail';
}

/**
 * Limits the model calls of an agent or of the whole run. Retries and calls of other models count; hidden calls of hooks do not.
 * @example
 * export const short = modelCallLimit({
 *   perRun: 20,
 *   message: 'I could not find out in time.',
 * });
 */
export function modelCallLimit(given: ModelCallLimitOptions): AgentMiddleware {
  const options = checkedCallLimits('modelCallLimit', given, { exceeded: oneOf('end', 'fail') });
  const { name = 'modelCallLimit', exceeded = 'end', message } = options;
  return {
    name,
    async wrapModel(request, next, ctx) {
      const reached = countCall(ctx, name, options);
      if (reached === undefined) return next(request);
      const why = `The model was called ${timesIn(reached, ctx.agent)}, as often as "${name}" allows.`;
      if (exceeded === 'fail') throw new HoldfastError('call-limit', why);
      return { message: { role: 'assistant', parts: [{ type: 'text', text: message ?? why }] }, model: `middleware/${name}` };
    },
  };
}
