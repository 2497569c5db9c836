import type { AgentMiddleware } from './middleware';

const mark = Symbol.for('holdfast.fits-agent');

/** What is known of an agent when it is defined. */
interface Defined {
  readonly model: string;
}

/** Lets a middleware say what is wrong with it in that agent: then the agent is refused when it is defined, and not in the middle of a run. */
export function fittingAgent(middleware: AgentMiddleware, problem: (agent: Defined) => string | undefined): AgentMiddleware {
  return Object.assign(middleware, { [mark]: problem });
}

export function misfitOf(middleware: object, agent: Defined): string | undefined {
  const problem = (middleware as Readonly<Record<symbol, unknown>>)[mark];
  return typeof problem === 'function' ? (problem as (agent: Defined) => string | undefined)(agent) : undefined;
}
