import type { Refuse } from '../../contract/check';
import { refusing, sentence } from '../../contract/check';
import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import type { Manifest } from '../../contract/manifest';
import type { JsonObject, ToolCall } from '../../contract/messages/messages';
import type { AgentRunOptions, RunOptions } from '../../contract/run-options';
import { runOptionsOf, runOptionsProblem, toolOptionsProblem, toolsNamedIn } from '../../contract/run-options';
import type { AnyAgent, AgentDefinition } from '../define/definition';
import { checkAliases } from '../define/check-agent';
import { keptValue } from '../effects/kept-values';
import type { AgentScope } from './scope';

const refuse: Refuse = refusing('The options of the start', 'options-invalid');

export function agentForRun(agent: AgentDefinition, { tools, toolAliases }: AgentRunOptions): AgentDefinition {
  if (tools === undefined && toolAliases === undefined) return agent;
  return { ...agent, ...defined({ tools, toolAliases }) };
}

const noTools: AgentDefinition['ownTools'] = new Map();

export function checkRunOptions(options: RunOptions, root: string, agents: ReadonlyMap<string, AnyAgent>): void {
  const problem = runOptionsProblem(options);
  if (problem !== undefined) refuse(sentence(problem));
  for (const name of new Set([root, ...Object.keys(options.agents ?? {})])) {
    const agent = agents.get(name);
    if (agent === undefined) return refuse(`there is no agent "${name}" in "${root}". There are: ${[...agents.keys()].join(', ')}.`);
    const unread = optionsWithoutEffect(agent, options.agents?.[name] ?? {});
    if (unread !== undefined) refuse(unread);
    const { toolAliases, tools = agent.kind === 'chat' ? agent.tools : [], toolOptions = {} } = runOptionsOf(options, name);
    const ownTools = agent.kind === 'chat' ? agent.ownTools : noTools;
    if (toolAliases !== undefined) checkAliases({ tools, ownTools, aliases: toolAliases, refuse });
    for (const [tool, given] of Object.entries(toolOptions)) {
      const unfit = toolOptionsProblem(given);
      if (unfit !== undefined) refuse(`those of the tool "${tool}" for agent "${name}" ${unfit}.`);
    }
  }
}

function optionsWithoutEffect(agent: AnyAgent, own: AgentRunOptions): string | undefined {
  const given = Object.keys(own).filter((field) => own[field as keyof AgentRunOptions] !== undefined);
  const other = given.find((field) => (field === 'custom' ? agent.kind !== 'custom' : agent.kind !== 'chat'));
  if (other === undefined) return undefined;
  const reader = other === 'custom' ? 'one that is made by hand' : 'one that talks to a model';
  return `agents.${agent.name}.${other} would change nothing: only ${reader} looks at it.`;
}

export function checkToolsOfOptions(options: RunOptions, manifest: Manifest, isOwn: (tool: string) => boolean): void {
  const missing = toolsNamedIn(options).find((tool) => !Object.hasOwn(manifest.tools, tool) && !isOwn(tool));
  if (missing !== undefined)
    refuse(`they name the tool "${missing}". The worker has: ${Object.keys(manifest.tools).join(', ') || 'none'}.`);
}

export function optionsOfTool({ options: { toolOptions } }: AgentScope, tool: string): Pick<ToolCall, 'options'> {
  const options = toolOptions !== undefined && Object.hasOwn(toolOptions, tool) ? toolOptions[tool] : undefined;
  return options === undefined ? {} : { options };
}

export function withOptionsOf(call: ToolCall, changed: ToolCall): ToolCall {
  if (call.options === undefined || typeof changed !== 'object' || changed === null || changed.options !== undefined) return changed;
  return { ...changed, options: call.options };
}

export function checkedToolOptions(options: JsonObject, tool: string): JsonObject {
  const problem = toolOptionsProblem(options);
  if (problem !== undefined)
    throw new HoldfastError('hook-failed', `A wrapToolCall layer called next with options of '${tool}' that ${problem}.`);
  return keptValue('call', `${tool}.options`, options) as JsonObject;
}
