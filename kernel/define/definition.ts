import type { TakenTools } from '../../contract/client-tools';
import type { ToolSpec, WorkerMiddlewareRef } from '../../contract/manifest';
import type { Json, Message, ToolCall } from '../../contract/messages/messages';
import type { ParseInputResult } from '../../contract/record/wire';
import type { ToolAliases } from '../../contract/run-options';
import type { Frame } from '../effects/frames';
import type { FlowAction } from './actions';
import type { AgentOptions } from './agent-options';
import type { Agent, AgentInput } from './agent-ref';
import { agentMark } from './agent-ref';
import type { AgentLimits } from './iteration-limits';
import type { AgentMiddleware, HookContext, ToolContext, Tools } from './middleware';

export interface ToolInside {
  readonly call: ToolCall;
  readonly frame: Frame;
  readonly ctx: ToolContext;
  /** Waits for agents that the tool left running, and refuses them. */
  ended(): Promise<void>;
}

export interface OwnTool {
  readonly spec: ToolSpec;
  readonly agents?: readonly AnyAgent[];
  /** The client of the turn makes the calls. */
  readonly isOfClient?: true;
  parse(input: Json): ParseInputResult;
  run(inside: ToolInside): Promise<Json>;
}

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

interface Named {
  readonly name: string;
  readonly description: string;
}

export type AgentObserver<T extends Tools = Tools> = Pick<AgentMiddleware<T>, 'name' | 'onStart' | 'onEnd' | 'onError'>;

interface Observable extends Named {
  readonly observers: readonly AgentObserver[];
  readonly callbacks: readonly AgentMiddleware[];
}

export interface SequenceDefinition extends Observable {
  readonly kind: 'sequential' | 'loop';
  readonly agents: readonly AnyAgent[];
  readonly maxIterations: number;
}

export interface ParallelDefinition extends Observable {
  readonly kind: 'parallel';
  readonly agents: readonly AnyAgent[];
  readonly isolate: boolean;
}

interface TeamDefinition extends Observable {
  readonly kind: 'team';
  readonly lead: AnyAgent;
}

export interface HandOverDefinition extends Named {
  readonly kind: 'hand-over';
  readonly agent: AnyAgent;
  readonly to: readonly string[];
}

export interface CustomDefinition extends Observable {
  readonly kind: 'custom';
  readonly run: CustomRun;
  readonly agents: readonly AnyAgent[];
}

export type AnyAgent = AgentDefinition | SequenceDefinition | ParallelDefinition | TeamDefinition | HandOverDefinition | CustomDefinition;

export interface AgentEnd {
  readonly output: Json;
  readonly text: string;
  readonly action?: FlowAction;
  readonly silent?: true;
  readonly exited?: true;
}

export interface CustomInput {
  readonly messages: readonly Message[];
  /** Whether the start asked for streams. */
  readonly streaming: boolean;
  /** The value of `options.agents[name].custom` of the start. */
  readonly options: Readonly<Record<string, Json | undefined>>;
}

export interface CustomEvent {
  readonly message?: Message;
  /** Other data for readers. */
  readonly output?: Json;
  readonly action?: FlowAction | Json;
  /** The agent fails with this text, and makes no further event. */
  readonly error?: string;
  readonly name?: string;
}

export type RanAgent = Pick<AgentEnd, 'output' | 'text' | 'action'>;

export interface CustomContext<T extends Tools = Tools> extends HookContext<T> {
  /** Runs one of `agents` with a text, messages, a job that fits its `inputSchema`, or the conversation so far. */
  runAgent(name: string, input?: AgentInput): Promise<RanAgent>;
}

export type CustomRun = (input: CustomInput, ctx: CustomContext) => AsyncGenerator<CustomEvent, Json | void, void>;

export function agentRef<Name extends string, Input, Output>(definition: AnyAgent): Agent<Name, Input, Output> {
  return Object.freeze({ name: definition.name as Name, description: definition.description, [agentMark]: definition });
}

export function definitionOf(agent: Agent): AnyAgent {
  return (agent as unknown as Record<symbol, AnyAgent>)[agentMark] as AnyAgent;
}

export function isChat(agent: AnyAgent): agent is AgentDefinition {
  return agent.kind === 'chat';
}

export function originOf(agent: AnyAgent): AnyAgent {
  if (agent.kind === 'hand-over') return originOf(agent.agent);
  return agent.kind === 'chat' ? (agent.origin ?? agent) : agent;
}

export function agentsIn(agent: AnyAgent): readonly AnyAgent[] {
  switch (agent.kind) {
    case 'chat':
      return [...agent.subAgents, ...agent.agentTools];
    case 'team':
      return [agent.lead];
    case 'hand-over':
      return [agent.agent];
    default:
      return agent.agents;
  }
}

export function reachable(root: AnyAgent): readonly AnyAgent[] {
  const found = new Set<AnyAgent>();
  const visit = (agent: AnyAgent): void => {
    if (found.has(agent)) return;
    found.add(agent);
    agentsIn(agent).forEach(visit);
  };
  visit(root);
  return [...found];
}

export function placeInside(root: AnyAgent, agent: AnyAgent): number {
  return named(root, agent.name).indexOf(agent);
}

export function agentInside(root: AnyAgent | undefined, name: string, nth = 0): AnyAgent | undefined {
  return root === undefined ? undefined : named(root, name)[nth];
}

function named(root: AnyAgent, name: string): readonly AnyAgent[] {
  return reachable(root).filter((agent) => agent.name === name);
}

export function jobTaker(agent: AnyAgent): AgentDefinition | undefined {
  const first = promptingAgent(agent);
  return first?.prompt === undefined && first?.inputSchema === undefined ? undefined : first;
}

function promptingAgent(agent: AnyAgent): AgentDefinition | undefined {
  switch (agent.kind) {
    case 'chat':
      return agent;
    case 'team':
      return promptingAgent(agent.lead);
    case 'hand-over':
      return promptingAgent(agent.agent);
    case 'sequential':
    case 'loop':
      return promptingAgent(agent.agents[0] as AnyAgent);
    default:
      return undefined;
  }
}
