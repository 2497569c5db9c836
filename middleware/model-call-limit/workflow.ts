import { HoldfastError } from '../../contract/errors';
import type { AgentMiddleware } from '../../kernel/define/middleware';
import { countCall, timesIn } from '../call-counts';
import { checkCallLimits } from '../call-limits';
import { checkedOptions, isCount, isOneOf, isText, nameForm, optional } from '../checked-options';

export interface ModelCallLimitOptions {
  /** Only needed when an agent has several. Agents that share a name share the count of the run. */
  readonly name?: string;
  /** Calls of all agents of the run together. */
  readonly perRun?: number;
  /** Calls of this agent in the run. */
  readonly perAgent?: number;
  /** `end` (default): the agent ends with a message. `fail`: the run fails with `call-limit`. */
  readonly exceeded?: 'end' | 'fail';
  /** What the agent ends with. */
  readonly message?: string;
}

const count = [optional(isCount), 'a whole number of at least 1'] as const;

/** Lets agents call the model so often. Retries and calls for other models count; hidden calls of hooks do not. */
export function modelCallLimit(given: ModelCallLimitOptions): AgentMiddleware {
  const options = checkedOptions<ModelCallLimitOptions>('modelCallLimit', given, {
    name: nameForm,
    perRun: count,
    perAgent: count,
    exceeded: [optional(isOneOf('end', 'fail')), '"end" or "fail"'],
    message: [optional(isText), 'a text'],
  });
  const { name = 'modelCallLimit', exceeded = 'end', message } = options;
  checkCallLimits('modelCallLimit', options);
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
