import { shown } from '../../contract/shown';
import type { Refuse } from '../../contract/check';
import { refusing } from '../../contract/check';
import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import { limits } from '../../contract/limits';
import type { WorkerMiddlewareRef } from '../../contract/manifest';
import type { Json } from '../../contract/messages/messages';
import type { ToolAliases } from '../../contract/run-options';
import type { JobJsonSchema, JobSchema } from '../../contract/schema/job-schema';
import { jsonSchemaOfJob } from '../../contract/schema/job-schema';
import { agentLabel, checkAgentOptions } from './check-agent';
import type { Agent } from './agent-ref';
import { isAgent } from './agent-ref';
import type { AgentOptions } from './agent-options';
import type { AgentDefinition, AnyAgent } from './definition';
import { agentsIn, agentRef, definitionOf } from './definition';
import { arranged } from './classic-middleware';
import { limitsOf } from './iteration-limits';
import type { AgentMiddleware, Tools } from './middleware';
import { ownToolsOf } from './workflow-tools';

/** Schemas of answers, by name. A JSON Schema has no type. */
export type Outputs = Record<string, object>;

type AnswerOf<O extends Outputs, Output> = Output extends keyof O ? ValueOf<O[Output]> : string;
type ValueOf<Schema> = Schema extends { readonly _output: infer Value }
  ? Value
  : Schema extends { readonly _type: infer Value }
    ? Value
    : Json;

/** Without a declared `prompt`, a JSON Schema takes any JSON. */
type TakenBy<Input, Schema> = [Schema] extends [JobJsonSchema] ? (string extends Input ? Json : Input) : Input;

export interface AgentFactory<T extends Tools, O extends Outputs = Outputs> {
  defineAgent<
    const Name extends string,
    Input extends Json = string,
    const Output extends (keyof O & string) | undefined = undefined,
    Schema = JobSchema<Input> | undefined,
  >(
    options: Omit<AgentOptions<T, Name, Input>, 'output'> & { readonly output?: Output; readonly inputSchema?: Schema },
  ): Agent<Name, TakenBy<Input, Schema>, AnswerOf<O, Output>>;
  defineMiddleware(middleware: AgentMiddleware<T>): AgentMiddleware<T>;
}

/**
 * Gives a `defineAgent` that knows the worker's tools and outputs, so that a misspelt tool name is a compile error.
 * @example
 * const { defineAgent } = agentsFor<typeof tools>();
 * export const support = defineAgent({
 *   name: 'support',
 *   description: 'Answers questions about orders.',
 *   instructions: 'You are a careful support agent.',
 *   model: 'default',
 *   tools: ['findOrder'],
 * });
 */
export function agentsFor<T extends Tools, O extends Outputs = Outputs>(): AgentFactory<T, O> {
  return { defineAgent: (options) => defineAgent(options as never) as never, defineMiddleware: (middleware) => middleware };
}

/**
 * Defines an agent: a model that calls tools until it has an answer. Export the agent from the agents module, and start a run by its name.
 * @example
 * export const support = defineAgent({
 *   name: 'support',
 *   description: 'Answers questions about orders.',
 *   instructions: 'You are a careful support agent.',
 *   model: 'openai/gpt-5',
 *   tools: ['findOrder'],
 * });
 */
export function defineAgent<const Name extends string, Input extends Json = string, Schema = JobSchema<Input> | undefined>(
  options: AgentOptions<Tools, Name, Input> & { readonly inputSchema?: Schema },
): Agent<Name, TakenBy<Input, Schema>> {
  const definition = checkedDefinition(options as unknown as AgentOptions<Tools, string, Json>);
  return agentOf(definition);
}

export function agentOf<Name extends string, Input, Output>(definition: AnyAgent): Agent<Name, Input, Output> {
  checkDepth(definition);
  return agentRef(definition);
}

export function bareAgent({ name, description }: { readonly name: string; readonly description: string }): AgentDefinition {
  return checkedDefinition({ name, description, instructions: '', model: 'none', tools: [] });
}

function checkedDefinition(options: AgentOptions<Tools, string, Json>): AgentDefinition {
  const { named, ownTools } = ownToolsOf(options);
  checkAgentOptions(named, ownTools);
  const { instructions, tools, middleware } = arranged(named, options.middleware ?? [], options.toolCallMiddlewares ?? []);
  const retry = options.retry ?? middleware.find((layer) => layer.retry !== undefined)?.retry;
  const failover = options.failover ?? middleware.find((layer) => layer.failover !== undefined)?.failover;
  return {
    kind: 'chat',
    name: options.name,
    description: options.description,
    instructions,
    model: options.model,
    tools,
    ownTools,
    middleware,
    workerMiddleware: middleware.filter((layer) => layer.onWorker !== undefined).map((layer) => layer.onWorker as WorkerMiddlewareRef),
    has: {
      beforeModelRewriteState: middleware.some((layer) => layer.beforeModelRewriteState !== undefined),
      afterModelRewriteState: middleware.some((layer) => layer.afterModelRewriteState !== undefined),
      afterToolCalls: middleware.some((layer) => layer.afterToolCalls !== undefined),
    },
    ...limitsOf(options),
    returnDirectly: options.returnDirectly ?? [],
    exitTool: options.exitTool ?? false,
    sequentialTools: options.sequentialTools ?? false,
    toolErrors: options.toolErrors ?? 'return',
    toolAliases: (options.toolAliases ?? {}) as Readonly<Record<string, ToolAliases>>,
    ...defined({
      output: options.output,
      settings: options.settings,
      prompt: options.prompt,
      inputSchema: options.inputSchema === undefined ? undefined : jsonSchemaOfJob(options.inputSchema, refusing(agentLabel(options.name))),
      language: options.language,
      clientTools: options.clientTools === false ? undefined : options.clientTools,
      unknownTool: options.unknownTool,
      toolArguments: options.toolArguments,
      retry,
      failover,
    }),
    subAgents: subAgentsOf(options.name, options.subAgents === undefined ? [] : options.subAgents),
    agentTools: [...ownTools.values()].flatMap(({ agents }) => agents ?? []),
    disallowTransferToParent: options.disallowTransferToParent ?? false,
    ...defined({ historyRewriter: options.historyRewriter, outputKey: options.outputKey }),
  };
}

export function membersOf(parent: string, agents: readonly unknown[]): readonly AnyAgent[] {
  const refuse = refusing(agentLabel(parent));
  if (!Array.isArray(agents)) return refuse(`its agents must be an array of agents, not ${shown(agents)}.`);
  // A list may have holes, which map skips.
  const members = Array.from(agents as readonly unknown[], (agent, position) =>
    isAgent(agent)
      ? definitionOf(agent)
      : refuse(`entry ${position + 1} of its agents is none; make it with defineAgent, sequential, loop, parallel or another of these.`),
  );
  for (const member of members) {
    if (member.name === parent)
      refuse('an agent of its own name stands under it. An agent cannot be its own sub-agent; names in one tree differ.');
    if (members.some((other) => other !== member && other.name === member.name)) refuse(`two of its agents are named "${member.name}".`);
  }
  return members;
}

export function subAgentsOf(parent: string, agents: readonly unknown[]): readonly AnyAgent[] {
  const members = membersOf(parent, agents);
  const refuse = refusing(agentLabel(parent));
  refuseTwice(members, 'its sub-agents', refuse);
  for (const member of members) {
    if (member.description === '') refuse(`its sub-agent "${member.name}" needs a description: the model chooses by it.`);
    const target = member.kind === 'hand-over' ? member.to.at(-1) : undefined;
    if (target !== undefined && target !== parent)
      refuse(`its sub-agent "${member.name}" hands over to "${target}", and can hand over to "${parent}" only. Name that last in to.`);
  }
  return members;
}

export function refuseTwice(members: readonly AnyAgent[], where: string, refuse: Refuse): void {
  const twice = members.find((member, position) => members.indexOf(member) !== position);
  if (twice !== undefined) refuse(`"${twice.name}" stands twice among ${where}; name it once.`);
}

const depths = new WeakMap<AnyAgent, number>();

/** Bounds the recursion, and the command that carries the beginnings of all nested agents. */
function checkDepth(agent: AnyAgent): void {
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
