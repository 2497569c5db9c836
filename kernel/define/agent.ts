import { shown } from '../../contract/shown';
import type { Refuse } from '../../contract/check';
import { refusing } from '../../contract/check';
import type { TakenTools } from '../../contract/client-tools';
import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import { limits } from '../../contract/limits';
import type { WorkerMiddlewareRef, Language } from '../../contract/manifest';
import type { Json, ModelSettings } from '../../contract/messages/messages';
import type { ToolAliases } from '../../contract/run-options';
import type { JobJsonSchema, JobSchema } from '../../contract/schema/job-schema';
import { jsonSchemaOfJob } from '../../contract/schema/job-schema';
import { agentLabel, checkAgentOptions } from './check-agent';
import type { Agent } from './agent-ref';
import { agentRef, definitionOf, isAgent } from './agent-ref';
import type { AnyAgent, HistoryRewriter } from './definition';
import { agentsIn } from './definition';
import type { MiddlewareEntry, ToolCallMiddleware } from './classic-middleware';
import { arranged } from './classic-middleware';
import type { AgentLimits, LimitOptions } from './iteration-limits';
import { limitsOf } from './iteration-limits';
import type { AgentMiddleware, Tools, WorkflowTool } from './middleware';
import type { OwnTool, OwnToolRef } from './workflow-tools';
import { ownToolsOf } from './workflow-tools';
import type { FailoverOptions, RetryOptions } from './retry-options';

/** Answers a call of an unknown tool. */
export type UnknownToolHandler = (name: string, input: Json) => string;
/** Changes the arguments of a call before parsing. Names are canonical. */
export type ToolArgumentsHandler = (name: string, input: Json) => Json;

type Options = AgentOptions<Tools, string, Json>;
type Kept = 'name' | 'description' | 'instructions' | 'model' | 'settings' | 'prompt' | 'output' | 'language' | 'outputKey';
type KeptFunctions = 'unknownTool' | 'toolArguments' | 'retry' | 'failover' | 'historyRewriter';
type WithDefault = 'returnDirectly' | 'exitTool' | 'sequentialTools' | 'toolErrors' | 'disallowTransferToParent';

export interface AgentDefinition extends AgentLimits, Pick<Options, Kept | KeptFunctions>, Required<Pick<Options, WithDefault>> {
  readonly kind: 'chat';
  readonly inputSchema?: Json;
  readonly tools: readonly string[];
  readonly ownTools: ReadonlyMap<string, OwnTool>;
  readonly middleware: readonly AgentMiddleware[];
  readonly workerMiddleware: readonly WorkerMiddlewareRef[];
  readonly clientTools?: TakenTools;
  readonly has: { readonly beforeModelRewriteState: boolean; readonly afterModelRewriteState: boolean; readonly afterToolCalls: boolean };
  readonly toolAliases: Readonly<Record<string, ToolAliases>>;
  readonly subAgents: readonly AnyAgent[];
  readonly agentTools: readonly AnyAgent[];
  readonly origin?: AnyAgent;
}

export type ToolName<T extends Tools> = (keyof T & string) | `mcp:${string}`;

export interface AgentOptions<T extends Tools, Name extends string, Input> extends LimitOptions {
  readonly name: Name;
  readonly description: string;
  readonly instructions: string;
  readonly model: string;
  readonly settings?: ModelSettings;
  /** Makes the first user message of a typed input. */
  readonly prompt?: (input: Input) => string;
  /** A JSON Schema, or a schema of a library such as zod. Without `prompt` the model gets the job as JSON. */
  readonly inputSchema?: JobSchema<Input>;
  readonly tools: readonly (ToolName<T> | WorkflowTool<T> | OwnToolRef)[];
  /** A name in the worker's `outputs`: the schema of the answer. */
  readonly output?: string;
  readonly middleware?: readonly MiddlewareEntry<T>[];
  /** Wraps of tool calls around all middleware, first outermost. */
  readonly toolCallMiddlewares?: readonly ToolCallMiddleware<T>[];
  readonly language?: Language;
  /** Tools that clients may bring with a message, for one turn: all, or by name. The client makes the calls. Default: none. */
  readonly clientTools?: boolean | readonly string[];
  /** Tools whose result is the answer of the run. */
  readonly returnDirectly?: readonly (keyof T & string)[];
  /** Offers the tool `exit`, which ends the run with a final result. */
  readonly exitTool?: boolean;
  /** Runs the tool calls of a message in sequence. Default: in parallel. */
  readonly sequentialTools?: boolean;
  /** `return` (default) hands a tool's error to the model, `fail` ends the run. */
  readonly toolErrors?: 'return' | 'fail';
  readonly unknownTool?: UnknownToolHandler;
  readonly toolArguments?: ToolArgumentsHandler;
  readonly toolAliases?: { readonly [Tool in keyof T & string]?: ToolAliases };
  /** When the model is asked again. Default: the server retries temporary failures. */
  readonly retry?: RetryOptions;
  /** Other models, used after all retries of a model failed. */
  readonly failover?: FailoverOptions;
  /** Agents to hand over to. A sub-agent may hand back. */
  readonly subAgents?: readonly Agent<string, unknown, unknown>[];
  /** As a sub-agent, never hands back to the parent. */
  readonly disallowTransferToParent?: boolean;
  /** Makes the first messages from the conversation so far. Default: words of other agents become context. */
  readonly historyRewriter?: HistoryRewriter;
  /** The key in `ctx.session` for the text of the answer. */
  readonly outputKey?: string;
}

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
 * Gives a `defineAgent` that knows the worker's tools and outputs, so that a misspelt tool name is a compile error. Curried, because an
 * explicit type argument would widen the agent's name to string.
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

/**
 * Keeps recursion through agents shallow, and bounds the command that carries the beginnings of all nested agents: 100 agents with the
 * longest names take a third of a command.
 */
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
