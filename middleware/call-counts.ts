import type { Forms } from '../contract/check';
import { bound, checkOptions, filled, refusing } from '../contract/check';
import type { HookContext } from '../kernel/define/middleware';

export interface CallLimits {
  /** Of all agents of the run. */
  readonly perRun?: number;
  /** Of this agent in the run. */
  readonly perAgent?: number;
}

export interface CallLimitOptions extends CallLimits {
  /** Agents with one name share the run's count. */
  readonly name?: string;
  readonly exceeded?: string;
  readonly message?: string;
}

export function checkedCallLimits<Options extends CallLimitOptions>(
  owner: string,
  given: Options,
  forms: Omit<Forms<Options>, Exclude<keyof CallLimitOptions, 'exceeded'>>,
): Options {
  const refuse = refusing(owner);
  const checks: Forms = { name: filled, perRun: bound, perAgent: bound, ...forms, message: filled };
  const options = checkOptions(owner, given, checks) as Options;
  const { perRun, perAgent, exceeded, message } = options;
  if (perRun === undefined && perAgent === undefined) refuse('give it perRun or perAgent; without both it limits nothing.');
  if (perRun !== undefined && perAgent !== undefined && perAgent > perRun)
    refuse(`perAgent is ${perAgent}, and all agents of a run together have ${perRun} (perRun): no agent would come to its limit.`);
  if (message !== undefined && exceeded === 'fail')
    refuse('message is for an agent that goes on or ends with it, and with exceeded: "fail" the run fails; leave one of them out.');
  return options;
}

interface CallCounts {
  readonly run: number;
  readonly agents: Readonly<Record<string, number>>;
}

export interface Reached {
  readonly limit: number;
  readonly whose: 'run' | 'agent';
}

export function countCall(ctx: HookContext, name: string, limits: CallLimits): Reached | undefined {
  const { session } = ctx;
  const key = `${name}:calls`;
  const { run, agents } = (session.get(key) as unknown as CallCounts | undefined) ?? { run: 0, agents: {} };
  const path = ctx.placeInRun.join('/');
  const own = Object.hasOwn(agents, path) ? (agents[path] ?? 0) : 0;
  const reached = reachedBy(run, own, limits);
  if (reached === undefined) session.set(key, { run: run + 1, agents: { ...agents, [path]: own + 1 } });
  return reached;
}

export function reachedBy(run: number, agent: number, { perRun, perAgent }: CallLimits): Reached | undefined {
  if (perRun !== undefined && run >= perRun) return { limit: perRun, whose: 'run' };
  return perAgent !== undefined && agent >= perAgent ? { limit: perAgent, whose: 'agent' } : undefined;
}

export function timesIn({ limit, whose }: Reached, agent: string): string {
  const times = limit === 1 ? 'once' : `${limit} times`;
  return whose === 'run' ? `${times} in this run` : `${times} by the agent "${agent}" in this run`;
}
