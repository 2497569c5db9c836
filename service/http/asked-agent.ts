import type { ClientTool } from '../../contract/client-tools';
import { clientToolsProblem, specsOfClient, untakenText, untakenTool } from '../../contract/client-tools';
import { HoldfastError } from '../../contract/errors';
import type { RunOptions } from '../../contract/run-options';
import { runOptionsProblem, toolsNamedIn } from '../../contract/run-options';
import type { AgentSummary } from '../project/load-project';
import type { ServiceParts } from './app';

/** The agents that the service has now. */
export function agentsIn({ agents }: Pick<ServiceParts, 'agents'>): readonly AgentSummary[] {
  return typeof agents === 'function' ? agents() : agents;
}

/** The agent that somebody starts. With options that it cannot have, nothing begins. */
export function askedAgent(parts: Pick<ServiceParts, 'agents'>, agent: string, options: unknown): AgentSummary {
  const agents = agentsIn(parts);
  const asked = agents.find(({ name }) => name === agent);
  if (asked === undefined)
    throw new HoldfastError('agent-unknown', `There is no agent "${agent}". There are: ${agents.map(({ name }) => name).join(', ')}.`);
  refuseUnknownTools(options, asked.tools);
  return asked;
}

/** Before anything begins. Names that the project has are its own, and the client's are left out. */
export function refuseUntakenTools({ name, clientTools, tools: own = [] }: AgentSummary, tools: readonly ClientTool[]): void {
  const problem = clientToolsProblem(specsOfClient(tools));
  if (problem !== undefined) throw new HoldfastError('request-invalid', problem);
  const tool = untakenTool(tools, clientTools, own);
  if (tool !== undefined) throw new HoldfastError('client-tools-refused', untakenText(tool, name, clientTools));
}

/** A run would fail of it, after the 201. What else is wrong with the options says the client. */
function refuseUnknownTools(options: unknown, known: readonly string[] | undefined): void {
  if (known === undefined || options === undefined || runOptionsProblem(options) !== undefined) return;
  const missing = toolsNamedIn(options as RunOptions).find((tool) => !known.includes(tool));
  if (missing === undefined) return;
  throw new HoldfastError(
    'options-invalid',
    `The options of the start: they name the tool "${missing}". The project has: ${known.join(', ') || 'none'}.`,
  );
}
