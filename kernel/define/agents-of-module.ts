import { HoldfastError } from '../../contract/errors';
import { isAgent } from './agent-ref';
import type { AnyAgent } from './definition';
import { agentsIn, originOf, definitionOf } from './definition';

export function agentsOf(module: object): ReadonlyMap<string, AnyAgent> {
  const agents = new Map<string, AnyAgent>();
  for (const exported of Object.values(module)) {
    if (!isAgent(exported)) continue;
    const known = agents.get(exported.name);
    if (known !== undefined && known !== definitionOf(exported))
      throw new HoldfastError('agent-invalid', `Two agents are named "${exported.name}".`);
    agents.set(exported.name, definitionOf(exported));
  }
  for (const agent of agents.values()) checkTree(agent);
  return agents;
}

/** Refuses two agents with one name in a run, and an agent inside itself. */
export function checkTree(root: AnyAgent): void {
  const byName = new Map<string, AnyAgent>();
  const checked = new Set<AnyAgent>();
  const visit = (agent: AnyAgent, above: readonly AnyAgent[]): void => {
    const origin = originOf(agent);
    if (above.includes(origin))
      throw new HoldfastError(
        'agent-invalid',
        `The agent "${agent.name}" stands under itself, by ${above.map(({ name }) => `"${name}"`).join(', ')}.`,
      );
    const known = byName.get(agent.name);
    if (known !== undefined && known !== origin)
      throw new HoldfastError(
        'agent-invalid',
        `Two agents inside of "${root.name}" are named "${agent.name}". The names of agents that work together differ.`,
      );
    byName.set(agent.name, origin);
    refuseLostHandOvers(agent);
    if (checked.has(agent)) return;
    checked.add(agent);
    const inner = agent.kind === 'hand-over' ? above : [...above, origin];
    for (const child of agentsIn(agent)) visit(child, inner);
  };
  visit(root, []);
}

/** Sequences, loops, parallel agents and tools have no agent to take over after a hand-over. */
function refuseLostHandOvers(group: AnyAgent): void {
  if (group.kind === 'custom' || group.kind === 'hand-over' || group.kind === 'team') return;
  const lost = (group.kind === 'chat' ? group.agentTools : group.agents).find(({ kind }) => kind === 'hand-over');
  if (lost === undefined) return;
  throw new HoldfastError(
    'agent-invalid',
    `The agent "${lost.name}" hands over to others when it has ended, and in "${group.name}" nobody can take over. Make it a sub-agent of the agent that it hands over to, or leave withDeterministicTransfer out.`,
  );
}
