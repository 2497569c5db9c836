import { refusing } from '../contract/check';
import type { HookContext } from '../kernel/define/middleware';

export interface CallLimits {
  readonly perRun?: number;
  readonly perAgent?: number;
}

interface Limited extends CallLimits {
  readonly exceeded?: string;
  readonly message?: string;
}

export function checkCallLimits(owner: string, { perRun, perAgent, exceeded, message }: Limited): void {
  const refuse = refusing(owner);
  if (perRun === undefined && perAgent === undefined) refuse('give it perRun or perAgent; without both it limits nothing.');
  if (perRun !== undefined && perAgent !== undefined && perAgent > perRun)
    refuse(`perAgent is ${perAgent}, and all agents of a run together have ${perRun} (perRun): no agent would come to its limit.`);
  if (message !== undefined && exceeded === 'fail')
    refuse('message is for an agent that goes on or ends with it, and with exceeded: "fail" the run fails; leave one of them out.');
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
