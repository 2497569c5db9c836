import type { ClientTool } from '../../contract/client-tools';
import { clientToolsProblem, specsOfClient, untakenText, untakenTool } from '../../contract/client-tools';
import { checkJob } from '../../client/runs/whole-misfit';
import { HoldfastError } from '../../contract/errors';
import type { Json } from '../../contract/messages/messages';
import { messagesOfInput } from '../../contract/messages/messages';
import { mcpServerOf } from '../../contract/mcp-names';
import type { RunOptions } from '../../contract/run-options';
import { runOptionsProblem, toolsNamedIn } from '../../contract/run-options';
import type { AgentSummary } from '../project/load-project';
import type { AppParts } from '../parts';
import { current } from './current';

export function agentsIn({ agents }: Pick<AppParts, 'agents'>): readonly AgentSummary[] {
  return current(agents) ?? [];
}

/** Refuses options with tools that the project lacks. */
export function askedAgent(parts: Pick<AppParts, 'agents'>, agent: string, options: unknown): AgentSummary {
  const agents = agentsIn(parts);
  const asked = agents.find(({ name }) => name === agent);
  if (asked === undefined)
    throw new HoldfastError('agent-unknown', `There is no agent "${agent}". There are: ${agents.map(({ name }) => name).join(', ')}.`);
  refuseUnknownTools(options, asked);
  return asked;
}

export function inputCheck(parts: Pick<AppParts, 'agents'>, agent: string, options?: unknown): (input: Json | undefined) => void {
  const { takesJob, inputSchema } = askedAgent(parts, agent, options);
  return (input) => {
    if (!takesJob && messagesOfInput(input as Json) === undefined)
      throw new HoldfastError('input-invalid', `The agent "${agent}" takes a text, or a list of messages.`);
    if (inputSchema !== undefined && input !== undefined) checkJob(agent, inputSchema, input);
  };
}

/** A name that the project has means the project's tool. */
export function refuseUntakenTools({ name, clientTools, tools: own = [] }: AgentSummary, tools: readonly ClientTool[]): void {
  const problem = clientToolsProblem(specsOfClient(tools));
  if (problem !== undefined) throw new HoldfastError('request-invalid', problem);
  const tool = untakenTool(tools, clientTools, own);
  if (tool !== undefined) throw new HoldfastError('client-tools-refused', untakenText(tool, name, clientTools));
}

/** A run with an unknown tool would fail after the 201. */
function refuseUnknownTools(options: unknown, { tools: known, mcp = [] }: AgentSummary): void {
  if (known === undefined || options === undefined || runOptionsProblem(options) !== undefined) return;
  const missing = toolsNamedIn(options as RunOptions).find((tool) => !known.includes(tool) && mcpServerOf(mcp, tool) === undefined);
  if (missing === undefined) return;
  throw new HoldfastError(
    'options-invalid',
    `The options of the start: they name the tool "${missing}". The project has: ${known.join(', ') || 'none'}.`,
  );
}

export function checkStart(
  parts: Pick<AppParts, 'agents'>,
  { agent, input, options }: { readonly agent: string; readonly input?: unknown; readonly options?: unknown },
): void {
  inputCheck(parts, agent, options)(input as Json | undefined);
}
