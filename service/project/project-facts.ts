import type { ModelRegistry } from '../../activities/models/models';
import { isRecord } from '../../contract/check';
import { defined } from '../../contract/defined';
import { mcpServerOf, mcpToolName } from '../../contract/mcp-names';
import type { ProjectFacts, ServedAgent, ServedModel, ServedTool, LimitUse, ServiceProblem } from '../../contract/service-facts';
import type { AnyAgent } from '../../kernel/define/definition';
import { agentsIn, isChat, reachable } from '../../kernel/define/definition';
import { traitsOf } from '../../kernel/define/traits';
import type { ProjectConfig } from './project-config';
import { errorTable, HoldfastError, codeOf, isErrorCode, messageOf } from '../../contract/errors';

export function projectFacts(exported: ReadonlyMap<string, AnyAgent>, config: ProjectConfig, models: ModelRegistry): ProjectFacts {
  const all = new Map<string, AnyAgent>(exported);
  for (const root of exported.values()) for (const agent of reachable(root)) if (!all.has(agent.name)) all.set(agent.name, agent);
  const agents = [...all.values()];
  const served = agents.map((agent) => servedAgent(agent, exported.has(agent.name)));
  const tools = [...workerTools(config.tools ?? {}), ...workflowTools(agents, config.tools ?? {})];
  return {
    agents: served,
    tools: [...tools, ...mcpTools(served, tools, config.mcp)],
    models: servedModels(agents, config, models),
    limits: Object.entries(config.models?.limits ?? {}).map(([pattern, limit]) => ({ models: pattern, ...limit })),
  };
}

function servedAgent(given: AnyAgent, isExported: boolean): ServedAgent {
  // An agent that hands over has the inner agent's name.
  const agent = given.kind === 'hand-over' ? given.agent : given;
  const { name, description, kind } = agent;
  const agents = [...new Set(agentsIn(agent).map((inside) => inside.name))].filter((inside) => inside !== name);
  const common = { name, description, kind, isExported, agents };
  if (!isChat(agent)) return { ...common, tools: [], middleware: [], policies: [] };
  const { model, tools, ownTools, middleware, workerMiddleware, maxIterations } = agent;
  return {
    ...common,
    model,
    maxIterations,
    tools: [...new Set([...tools, ...ownTools.keys()])],
    middleware: [...new Set([...middleware.map((layer) => layer.name), ...workerMiddleware.map(({ name }) => name)])],
    policies: [...new Set(middleware.flatMap((layer) => traitsOf(layer).asksPolicy ?? []))],
  };
}

function workerTools(tools: Readonly<Record<string, unknown>>): readonly ServedTool[] {
  return Object.entries(tools).map(([name, tool]) => {
    const given = (isRecord(tool) ? tool : {}) as Partial<ServedTool> & { readonly external?: boolean };
    const { description = '', external, effect, timeout, concurrency } = given;
    if (external === true) return { name, description, kind: 'external' };
    return { name, description, kind: 'worker', ...defined({ effect, timeout, concurrency }) };
  });
}

function workflowTools(agents: readonly AnyAgent[], known: Readonly<Record<string, unknown>>): readonly ServedTool[] {
  const own = new Map<string, ServedTool>();
  for (const agent of agents.map((one) => (one.kind === 'hand-over' ? one.agent : one)).filter(isChat))
    for (const [name, { spec }] of agent.ownTools)
      if (!Object.hasOwn(known, name)) own.set(name, { name, description: spec.description, kind: 'workflow' });
  return [...own.values()];
}

function mcpTools(agents: readonly ServedAgent[], known: readonly ServedTool[], mcp: ProjectConfig['mcp'] = {}): readonly ServedTool[] {
  const named = new Set(agents.flatMap(({ tools }) => tools));
  for (const { name } of known) named.delete(name);
  return [...named].flatMap((name) => {
    const server = mcpServerOf(Object.keys(mcp), name) ?? '';
    const options = mcp[server];
    if (options === undefined) return [];
    const { effects = {}, timeout } = options;
    const [, effect] = Object.entries(effects).find(([tool]) => mcpToolName(server, tool) === name) ?? [];
    return [{ name, description: `A tool of the MCP server ${server}.`, kind: 'mcp' as const, ...defined({ effect, timeout }) }];
  });
}

function servedModels(agents: readonly AnyAgent[], config: ProjectConfig, models: ModelRegistry): readonly ServedModel[] {
  const named = config.models?.names ?? {};
  const asked = agents
    .flatMap(reachable)
    .filter(isChat)
    .map(({ model }) => model);
  return [...new Set([...Object.keys(named), ...asked])].map((name) => {
    const candidates = Object.hasOwn(named, name) ? named[name] : undefined;
    const list =
      candidates === undefined ? (models.names.includes(name) ? [] : [name]) : typeof candidates === 'string' ? [candidates] : candidates;
    return { name, candidates: list };
  });
}

/** Undefined: the worker has not started. */
export interface FactsOfWorker {
  readonly modelIdOf: (name: string) => string | undefined;
  readonly useOfModels: (pattern: string) => LimitUse | undefined;
  readonly useOfTool: (tool: string) => LimitUse | undefined;
}

export function withFactsOfWorker(
  facts: ProjectFacts,
  { modelIdOf, useOfModels, useOfTool }: FactsOfWorker,
): { readonly facts: ProjectFacts; readonly problems: readonly ServiceProblem[] } {
  const problems: ServiceProblem[] = [];
  const models = facts.models.map((model) => {
    try {
      return { ...model, ...defined({ id: modelIdOf(model.name) }) };
    } catch (error) {
      // A model without an agent does not need a key.
      if (facts.agents.some((agent) => agent.model === model.name)) problems.push(problemOf(error));
      return model;
    }
  });
  const limits = facts.limits.map((limit) => ({ ...limit, ...defined({ use: useOfModels(limit.models) }) }));
  const tools = facts.tools.map((tool) => (tool.concurrency === undefined ? tool : { ...tool, ...defined({ use: useOfTool(tool.name) }) }));
  return { facts: { ...facts, models, limits, tools }, problems };
}

function problemOf(error: unknown): ServiceProblem {
  const found = codeOf(error);
  const code = isErrorCode(found) ? found : 'internal';
  return { code, message: messageOf(new HoldfastError(code, messageOf(error))), fix: errorTable[code].fix };
}
