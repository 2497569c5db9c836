import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import { transferTool } from '../../kernel/define/transfer-names';
import type { AgentMiddleware, HookContext, Tools } from '../../kernel/define/middleware';
import { withTraits } from '../../kernel/define/traits';
import type { CallLimitOptions, CallLimits, Reached } from '../call-counts';
import { checkedCallLimits, reachedBy, timesIn } from '../call-counts';
import { oneOf, someNames } from '../../contract/check';

export interface ToolCallLimitOptions<T extends Tools = Tools> extends CallLimitOptions {
  /** Counted together. Default: every tool but the handover. */
  readonly tools?: readonly (keyof T & string)[];
  /** `continue` (default): the model hears of the limit. `end`: the agent ends with a message. `fail`: the run fails with `call-limit`. */
  readonly exceeded?: 'continue' | 'end' | 'fail';
}

/**
 * Limits the calls of tools. Calls count in the order of their message, even calls that do not run, and a repeated call counts again.
 * @example
 * export const fewLookups = toolCallLimit<typeof tools>({
 *   tools: ['findOrder'],
 *   perRun: 2,
 * });
 */
export function toolCallLimit<T extends Tools = Tools>(given: ToolCallLimitOptions<T>): AgentMiddleware<T> {
  const options = checkedCallLimits('toolCallLimit', given, { tools: someNames, exceeded: oneOf('continue', 'end', 'fail') });
  const { tools, exceeded = 'continue', message } = options;
  const name = options.name ?? ['toolCallLimit', ...(tools ?? [])].join('.');
  const limited =
    tools === undefined ? 'Tools were' : `${tools.map((tool) => `'${tool}'`).join(', ')} ${tools.length === 1 ? 'was' : 'were'}`;
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

function overKey(name: string, ctx: HookContext): string {
  return `${name}:over:${ctx.placeInRun.join('/')}`;
}

function ending(name: string, ctx: HookContext): ReturnType<NonNullable<AgentMiddleware['afterToolCalls']>> {
  const text = ctx.session.get(overKey(name, ctx));
  if (typeof text !== 'string') return undefined;
  return { answer: { role: 'assistant', parts: [{ type: 'text', text }] } };
}

interface AgentCounts {
  readonly count: number;
  readonly turn: number;
  readonly refused: Readonly<Record<string, Reached>>;
  /** A position that comes again is a new call. */
  readonly came: readonly number[];
}

interface ToolCallCounts {
  readonly run: number;
  readonly agents: Readonly<Record<string, AgentCounts>>;
}

const none: AgentCounts = { count: 0, turn: -1, refused: {}, came: [] };

/** A message's first call counts all calls in the model's order, as arrival must not decide. */
function countToolCall(ctx: HookContext, name: string, limits: CallLimits, isLimited: (tool: string) => boolean): Reached | undefined {
  const key = `${name}:calls`;
  const path = ctx.placeInRun.join('/');
  const { position, tools } = ctx.callsBeside ?? { position: 0, tools: [''] };
  const before = (ctx.session.get(key) as unknown as ToolCallCounts | undefined) ?? { run: 0, agents: {} };
  const own = Object.hasOwn(before.agents, path) ? (before.agents[path] ?? none) : none;
  const isNew = own.turn !== ctx.iteration;
  let { run } = before;
  let agent: AgentCounts = isNew ? { ...none, count: own.count, turn: ctx.iteration } : own;
  const count = (at: number): Reached | undefined => {
    const reached = reachedBy(run, agent.count, limits);
    if (reached === undefined) {
      run += 1;
      agent = { ...agent, count: agent.count + 1 };
    } else agent = { ...agent, refused: { ...agent.refused, [at]: reached } };
    return reached;
  };
  if (isNew) tools.forEach((tool, at) => (isLimited(tool) ? count(at) : undefined));
  const reached = agent.came.includes(position) ? count(position) : agent.refused[position];
  agent = { ...agent, came: [...agent.came, position] };
  ctx.session.set(key, { run, agents: { ...before.agents, [path]: agent } } as never);
  return reached;
}
