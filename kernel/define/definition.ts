import type { Json, Message, StoredMessage } from '../../contract/messages/messages';
import type { AgentDefinition } from './agent';
import type { AgentInput } from './agent-ref';
import type { AgentMiddleware, HookContext, Tools } from './middleware';
import type { FlowAction } from './actions';

interface Named {
  readonly name: string;
  readonly description: string;
}

/** Looks on at an agent that runs others: told when it begins and when it has ended, as one. */
export type AgentObserver<T extends Tools = Tools> = Pick<AgentMiddleware<T>, 'name' | 'onStart' | 'onEnd' | 'onError'>;

interface Observable extends Named {
  readonly observers: readonly AgentObserver[];
  /** Its callbacks, as a middleware with the hooks around an agent. */
  readonly callbacks: readonly AgentMiddleware[];
}

/** Agents one after another, once or again and again. */
export interface SequenceDefinition extends Observable {
  readonly kind: 'sequential' | 'loop';
  readonly agents: readonly AnyAgent[];
  /** How often a loop runs its agents at most; a sequence runs them once. */
  readonly maxIterations: number;
}

/** Agents at the same time, each with what was said before and what it says itself. */
export interface ParallelDefinition extends Observable {
  readonly kind: 'parallel';
  readonly agents: readonly AnyAgent[];
  /** Each agent is a workflow of its own. */
  readonly isolate: boolean;
}

/** An agent with others that it, and they, hand over to. It stands for its first one under a name of its own. */
export interface TeamDefinition extends Observable {
  readonly kind: 'team';
  readonly lead: AnyAgent;
}

/** An agent that hands over to others whenever it has ended well. */
export interface HandOverDefinition extends Named {
  readonly kind: 'hand-over';
  readonly agent: AnyAgent;
  readonly to: readonly string[];
}

/** An agent that is made by hand. */
export interface CustomDefinition extends Observable {
  readonly kind: 'custom';
  readonly run: CustomRun;
  /** The agents that it may run. */
  readonly agents: readonly AnyAgent[];
}

export type AnyAgent = AgentDefinition | SequenceDefinition | ParallelDefinition | TeamDefinition | HandOverDefinition | CustomDefinition;

/** What an agent has said when it is done. */
export interface AgentEnd {
  readonly output: Json;
  readonly text: string;
  readonly action?: FlowAction;
  /** It made no event at all. */
  readonly silent?: true;
  /** The agent that had the last word in it exited: nobody is handed over to behind it. */
  readonly exited?: true;
}

export interface CustomInput {
  readonly messages: readonly Message[];
  /** Whether whoever started the run asked for streams. */
  readonly streaming: boolean;
  /** What the start of the run has in `options.agents[name].custom` for this agent. */
  readonly options: Readonly<Record<string, Json | undefined>>;
}

/** An event of an agent that is made by hand. */
export interface CustomEvent {
  /** A message that it says. */
  readonly message?: Message;
  /** Anything else that readers should see. */
  readonly output?: Json;
  readonly action?: FlowAction | Json;
  /** The agent fails with this, and makes no further event. */
  readonly error?: string;
  readonly name?: string;
}

/** Runs an agent, as a custom agent sees it. */
export interface RanAgent {
  readonly output: Json;
  readonly text: string;
  readonly action?: FlowAction;
}

export interface CustomContext<T extends Tools = Tools> extends HookContext<T> {
  /** Runs one of the agents that stand in `agents`, with a text, with messages, with a job that fits its `inputSchema`, or with what was said so far. */
  runAgent(name: string, input?: AgentInput): Promise<RanAgent>;
}

export type CustomRun = (input: CustomInput, ctx: CustomContext) => AsyncGenerator<CustomEvent, Json | void, void>;

/** An entry of what was said so far. */
export interface HistoryEntry<M = StoredMessage> {
  readonly isUserInput: boolean;
  /** Who said it. Absent of what the user said. */
  readonly agent?: string;
  readonly message: M;
}

/** Makes what an agent begins with out of what was said before. */
export type HistoryRewriter = (history: readonly HistoryEntry[], agent: string) => readonly Message[];

export function isChat(agent: AnyAgent): agent is AgentDefinition {
  return agent.kind === 'chat';
}

/** The agent that a definition is a form of: with sub-agents, or handing over. */
export function originOf(agent: AnyAgent): AnyAgent {
  if (agent.kind === 'hand-over') return originOf(agent.agent);
  return agent.kind === 'chat' ? (agent.origin ?? agent) : agent;
}

/** The agents directly inside of one. */
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

/** An agent and all that it can reach, each once. */
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

/** Which of the agents of its name in another one this is, from 0. */
export function placeInside(root: AnyAgent, agent: AnyAgent): number {
  return named(root, agent.name).indexOf(agent);
}

export function agentInside(root: AnyAgent | undefined, name: string, nth = 0): AnyAgent | undefined {
  return root === undefined ? undefined : named(root, name)[nth];
}

function named(root: AnyAgent, name: string): readonly AnyAgent[] {
  return reachable(root).filter((agent) => agent.name === name);
}

/** The agent that makes the first message of a job, in an agent that takes one. */
export function jobTaker(agent: AnyAgent): AgentDefinition | undefined {
  const first = promptingAgent(agent);
  return first?.prompt === undefined && first?.inputSchema === undefined ? undefined : first;
}

/** The agent that begins. */
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
