import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import { transferTool } from '../../kernel/define/transfer-names';
import type { AgentMiddleware, HookContext, Tools } from '../../kernel/define/middleware';
import { withTraits } from '../../kernel/define/traits';
import { checkCallLimits, timesIn } from '../call-counts';
import { bound, checkOptions, filled, oneOf, someNames } from '../../contract/check';
import { countToolCall } from './counts';

export interface ToolCallLimitOptions<T extends Tools = Tools> {
  /** Only needed when an agent has several for the same tools. Agents that share a name share the count of the run. */
  readonly name?: string;
  /** The tools whose calls count, all together. Default: every tool but that by which agents hand over. */
  readonly tools?: readonly (keyof T & string)[];
  /** Calls by all agents of the run together. */
  readonly perRun?: number;
  /** Calls by this agent in the run. */
  readonly perAgent?: number;
  /**
   * `continue` (default): the call does not run and the model is told so. `end`: the same, and the agent ends with a message.
   * `fail`: the run fails with `call-limit`.
   */
  readonly exceeded?: 'continue' | 'end' | 'fail';
  /** What the model is told, or what the agent ends with. */
  readonly message?: string;
}

/**
 * Lets agents call tools so often. The calls of a message count in its order, also those that do not run in the end; a call that an outer
 * layer makes again counts again.
 */
export function toolCallLimit<T extends Tools = Tools>(given: ToolCallLimitOptions<T>): AgentMiddleware<T> {
  const options = checkOptions<ToolCallLimitOptions<T>>('toolCallLimit', given, {
    name: filled,
    tools: someNames,
    perRun: bound,
    perAgent: bound,
    exceeded: oneOf('continue', 'end', 'fail'),
    message: filled,
  });
  const { tools, exceeded = 'continue', message } = options;
  const name = options.name ?? ['toolCallLimit', ...(tools ?? [])].join('.');
  checkCallLimits('toolCallLimit', options);
  const limited =
    tools === undefined ? 'Tools were' : `${tools.map((tool) => `'${tool}'`).join(', ')} ${tools.length === 1 ? 'was' : 'were'}`;
  // To hand over to another agent is no work.
  const isLimited = (tool: string): boolean => (tools === undefined ? tool !== transferTool : tools.includes(tool));
  const middleware: AgentMiddleware<T> = {
    name,
    ...defined({ onlyTools: tools }),
    async wrapToolCall(call, next, ctx) {
      if (!isLimited(call.name)) return next(call);
      const reached = countToolCall(ctx, name, options, isLimited);
      if (reached === undefined) return next(call);
      const why = `${limited} called ${timesIn(reached, ctx.agent)}, as often as "${name}" allows.`;
      if (exceeded === 'fail') throw new HoldfastError('call-limit', `${why} '${call.name}' did not run.`);
      if (exceeded === 'end') ctx.session.set(overKey(name, ctx), message ?? why);
      return exceeded === 'continue' && message !== undefined ? message : `The call of '${call.name}' did not run. ${why}`;
    },
    ...(exceeded === 'end' ? { afterToolCalls: (_state, ctx) => ending(name, ctx) } : {}),
  };
  return withTraits(middleware, { offersTools: [] });
}

/** Other agents of the run go on until they meet the limit themselves. */
function overKey(name: string, ctx: HookContext): string {
  return `${name}:over:${ctx.placeInRun.join('/')}`;
}

function ending(name: string, ctx: HookContext): ReturnType<NonNullable<AgentMiddleware['afterToolCalls']>> {
  const text = ctx.session.get(overKey(name, ctx));
  if (typeof text !== 'string') return undefined;
  return { answer: { role: 'assistant', parts: [{ type: 'text', text }] } };
}
