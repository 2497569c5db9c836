import { HoldfastError } from '../../contract/errors';
import { definitionOf, isAgent } from './agent-ref';
import { checkTrees } from './check-trees';
import type { AnyAgent } from './definition';

export function agentsOf(module: object): ReadonlyMap<string, AnyAgent> {
  const agents = new Map<string, AnyAgent>();
  for (const exported of Object.values(module)) {
    if (!isAgent(exported)) continue;
    const known = agents.get(exported.name);
    if (known !== undefined && known !== definitionOf(exported))
      throw new HoldfastError('agent-invalid', `Two agents are named "${exported.name}".`);
    agents.set(exported.name, definitionOf(exported));
  }
  checkTrees([...agents.values()]);
  return agents;
}
