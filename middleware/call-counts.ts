import type { HookContext } from '../kernel/define/middleware';

export interface CallLimits {
  /** Of all agents of the run together. */
  readonly perRun?: number;
  /** Of one agent in the run. */
  readonly perAgent?: number;
}

interface CallCounts {
  readonly run: number;
  readonly agents: Readonly<Record<string, number>>;
}

/** A limit that is reached, and whose it is. */
export interface Reached {
  readonly limit: number;
  readonly whose: 'run' | 'agent';
}

/** Counts a call, or says which limit it would exceed; then it is not counted. The counts are values of the run: they are in no call to the worker. */
export function countCall(ctx: HookContext, name: string, { perRun, perAgent }: CallLimits): Reached | undefined {
  const { session } = ctx;
  const key = `${name}:calls`;
  const { run, agents } = (session.get(key) as unknown as CallCounts | undefined) ?? { run: 0, agents: {} };
  const path = ctx.placeInRun.join('/');
  const own = Object.hasOwn(agents, path) ? (agents[path] ?? 0) : 0;
  if (perRun !== undefined && run >= perRun) return { limit: perRun, whose: 'run' };
  if (perAgent !== undefined && own >= perAgent) return { limit: perAgent, whose: 'agent' };
  session.set(key, { run: run + 1, agents: { ...agents, [path]: own + 1 } });
  return undefined;
}

/** Such as `3 times in this run`. */
export function timesIn({ limit, whose }: Reached, agent: string): string {
  const times = limit === 1 ? 'once' : `${limit} times`;
  return whose === 'run' ? `${times} in this run` : `${times} by the agent "${agent}" in this run`;
}
