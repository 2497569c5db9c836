import { HoldfastError } from '../../contract/errors';
import type { AgentMiddleware } from '../../kernel/define/middleware';
import { checkCallLimits, countCall, timesIn } from '../call-counts';
import { bound, checkOptions, filled, oneOf } from '../../contract/check';

export interface ModelCallLimitOptions {
  /** Agents with one name share the run's count. */
  readonly name?: string;
  /** Of all agents of the run. */
  readonly perRun?: number;
  /** Of this agent in the run. */
  readonly perAgent?: number;
  /** `end` (default): the agent ends with a message. `fail`: the run fails with `call-limit`. */
  readonly exceeded?: 'end' | 'fail';
  readonly message?: string;
}

/** Retries and calls of other models count; hidden calls of hooks do not. */
export function modelCallLimit(given: ModelCallLimitOptions): AgentMiddleware {
  const options = checkOptions<ModelCallLimitOptions>('modelCallLimit', given, {
    name: filled,
    perRun: bound,
    perAgent: bound,
    exceeded: oneOf('end', 'fail'),
    message: filled,
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
