import { defined } from '../../contract/defined';
import type { ManifestRequest } from '../../contract/manifest';
import { toolFactsOf } from '../../contract/manifest';
import { runOptionsOf } from '../../contract/run-options';
import { toolsNamedBy } from '../define/named-tools';
import { traitsOf } from '../define/traits';
import { agentForRun } from './run-options';
import type { RunState } from './state';
import type { AnyAgent, AgentDefinition } from '../define/definition';
import { isChat, reachable } from '../define/definition';

export function manifestRequest(root: AnyAgent, state: RunState): ManifestRequest {
  const agents = reachable(root).filter(isChat);
  const each = agents.map((agent) => requestOf(agent, state));
  const all = (of: (one: AgentRequest) => readonly string[] | undefined): readonly string[] => [
    ...new Set(each.flatMap((one) => of(one) ?? [])),
  ];
  const some = (of: (one: AgentRequest) => readonly string[] | undefined): readonly string[] | undefined => {
    const found = all(of);
    return found.length === 0 ? undefined : found;
  };
  const aliasedArguments = together(each.map((one) => one.aliasedArguments ?? {}));
  return {
    tenant: state.tenant,
    agent: root.name,
    tools: all(({ tools }) => tools),
    models: all(({ models }) => models),
    workerMiddleware: all(({ workerMiddleware }) => workerMiddleware),
    ...defined({
      otherTools: some(({ otherTools }) => otherTools),
      outputs: some(({ outputs }) => outputs),
      policies: some(({ policies }) => policies),
      askedAbout: some(({ askedAbout }) => askedAbout),
    }),
    argumentAliases: together(each.map(({ argumentAliases }) => argumentAliases)),
    ...(Object.keys(aliasedArguments).length === 0 ? {} : { aliasedArguments }),
    ...defined({
      aliasesOfStart: some(({ aliasesOfStart }) => aliasesOfStart),
      mcp: mcpToolsOf(state),
      language: state.language ?? agents.find((agent) => agent.language !== undefined)?.language,
    }),
  };
}

function mcpToolsOf({ manifest }: RunState): ManifestRequest['mcp'] {
  if (manifest?.mcp === undefined) return undefined;
  const tools = Object.entries(manifest.mcp);
  return Object.fromEntries(tools.map(([name, tool]) => [name, { ...tool, effect: toolFactsOf(manifest, name).effect }]));
}

/** Two agents may have aliases for the same tool. */
function together(each: readonly ManifestRequest['argumentAliases'][]): ManifestRequest['argumentAliases'] {
  const all = new Map<string, readonly string[]>();
  for (const one of each)
    for (const [tool, aliases] of Object.entries(one)) all.set(tool, [...new Set([...(all.get(tool) ?? []), ...aliases])]);
  return Object.fromEntries(all);
}

export function isOwnTool(root: AnyAgent, tool: string): boolean {
  return reachable(root).some((agent) => isChat(agent) && agent.ownTools.has(tool));
}

type AgentRequest = Omit<ManifestRequest, 'tenant' | 'agent' | 'language'>;

function requestOf(defined: AgentDefinition, state: RunState): AgentRequest {
  const options = runOptionsOf(state.options, defined.name);
  const agent = agentForRun(defined, options);
  const argumentAliases: Record<string, readonly string[]> = {};
  const aliasedArguments: Record<string, readonly string[]> = {};
  for (const [tool, { arguments: keys = {} }] of Object.entries(agent.toolAliases)) {
    argumentAliases[tool] = Object.values(keys).flat();
    if (Object.keys(keys).length > 0 && !agent.ownTools.has(tool)) aliasedArguments[tool] = Object.keys(keys);
  }
  return {
    // A hook may offer tools of layers, and an unknown name would protect no tool.
    tools: [...(options.tools === undefined ? agent.tools : []), ...agent.middleware.flatMap(toolsNamedBy)].filter(
      (tool) => !agent.ownTools.has(tool),
    ),
    otherTools: [...(options.tools ?? []), ...agent.middleware.flatMap((layer) => traitsOf(layer).offersTools ?? [])].filter(
      (tool) => !agent.ownTools.has(tool),
    ),
    models: [options.model ?? state.model ?? agent.model],
    workerMiddleware: agent.workerMiddleware.map(({ name }) => name),
    ...(agent.output === undefined ? {} : { outputs: [agent.output] }),
    policies: agent.middleware.flatMap((layer) => traitsOf(layer).asksPolicy ?? []),
    askedAbout: agent.middleware.flatMap(({ asksAbout = [] }) => asksAbout).filter((tool) => !agent.ownTools.has(tool)),
    argumentAliases,
    aliasedArguments,
    ...(options.toolAliases === undefined ? {} : { aliasesOfStart: Object.keys(argumentAliases) }),
  };
}
