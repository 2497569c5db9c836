import { HoldfastError } from '../../contract/errors';
import { limits } from '../../contract/limits';
import type { AnyAgent } from './definition';
import { agentsIn } from './definition';

const depths = new WeakMap<AnyAgent, number>();

/**
 * Refuses agents that are nested too deeply, so recursion through agents stays shallow. One command can carry the beginnings of all agents on the way
 * in: 100 with the longest names are a third of what fits.
 */
export function checkDepth(agent: AnyAgent): void {
  const depth = depthOf(agent);
  if (depth > limits.agentDepth)
    throw new HoldfastError(
      'agent-invalid',
      `Agent "${agent.name}" has agents in each other, ${depth} deep; at most ${limits.agentDepth} fit. Let one agent have more of them side by side.`,
    );
  depths.set(agent, depth);
}

function depthOf(agent: AnyAgent): number {
  return depths.get(agent) ?? 1 + agentsIn(agent).reduce((deepest, inner) => Math.max(deepest, depthOf(inner)), 0);
}
