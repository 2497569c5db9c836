import type { HookContext } from '../../kernel/define/middleware';
import type { CallLimits, Reached } from '../call-counts';
import { reachedBy } from '../call-counts';

interface AgentCounts {
  readonly count: number;
  /** The last message whose calls were counted. */
  readonly turn: number;
  /** Calls of that message that may not run, by position. */
  readonly refused: Readonly<Record<string, Reached>>;
  /** Positions that came. A position that comes again is a new call. */
  readonly came: readonly number[];
}

interface ToolCallCounts {
  readonly run: number;
  readonly agents: Readonly<Record<string, AgentCounts>>;
}

const none: AgentCounts = { count: 0, turn: -1, refused: {}, came: [] };

/** The first call of a message counts all its calls, in the order of the model: arrival does not decide which calls run. */
export function countToolCall(
  ctx: HookContext,
  name: string,
  limits: CallLimits,
  isLimited: (tool: string) => boolean,
): Reached | undefined {
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
