import { HoldfastError } from '../../contract/errors';
import type { Json } from '../../contract/messages/messages';
import { nameProblem } from '../../contract/names';
import { cut } from '../../contract/shown';
import type { Agent } from './agent-ref';
import { agentOf, membersOf, subAgentsOf } from './agent';
import { isAgent } from './agent-ref';
import type { AgentMiddleware, Tools } from './middleware';
import type { AroundAgent } from './around-agent';
import { checkedCallbacks } from './around-agent';
import type { AgentObserver, AnyAgent, CustomContext, CustomEvent, CustomInput, CustomRun } from './definition';
import { isChat, originOf } from './definition';
import { checkedObservers } from './observers';

/** An agent of whatever input and output, where it is part of another one. */
export type AgentPart = Agent<string, unknown, unknown>;

interface Named<Name extends string> {
  readonly name: Name;
  /** Needed to become a tool, or to be handed over to: models choose by it. */
  readonly description?: string;
}

interface Observable<Name extends string, T extends Tools = Tools> extends Named<Name> {
  /** They look on at the agent as a whole: `onStart` when it begins, `onEnd` or `onError` when it has ended. */
  readonly observers?: readonly AgentObserver<T>[];
  /** Made with `agentCallbacks`: they run before the agent as a whole, and behind it. */
  readonly callbacks?: AroundAgent;
}

export interface GroupOptions<Name extends string> extends Observable<Name> {
  readonly agents: readonly AgentPart[];
}

export interface LoopOptions<Name extends string> extends GroupOptions<Name> {
  /** How often its agents run at most. One of them may break the loop before. */
  readonly maxIterations: number;
}

export interface ParallelOptions<Name extends string> extends GroupOptions<Name> {
  /** Runs each agent as a workflow of its own, with its own history. */
  readonly isolate?: boolean;
}

export interface SupervisorOptions<Name extends string> extends Observable<Name> {
  /** Decides who works on what, and has the last word. */
  readonly supervisor: AgentPart;
  /** Specialists. What one of them has done goes back to the supervisor. */
  readonly agents: readonly AgentPart[];
}

export interface CustomAgentOptions<Name extends string, T extends Tools = Tools> extends Observable<Name, T> {
  /** Agents that `ctx.runAgent` runs by their names. */
  readonly agents?: readonly AgentPart[];
  run(input: CustomInput, ctx: CustomContext<T>): AsyncGenerator<CustomEvent, Json | void, void>;
}

const mostIterations = 10_000;

/** Agents one after another; each is told what those before it said. */
export function sequential<const Name extends string>(options: GroupOptions<Name>): Agent<Name> {
  const checked = checkedGroup('sequential', options, ['agents']);
  return agentOf({ kind: 'sequential', ...checked, maxIterations: 1 });
}

/** Agents one after another, again and again, until one of them breaks the loop or exits. */
export function loop<const Name extends string>(options: LoopOptions<Name>): Agent<Name> {
  const checked = checkedGroup('loop', options, ['agents', 'maxIterations']);
  const { maxIterations } = options;
  if (!Number.isInteger(maxIterations) || maxIterations < 1 || maxIterations > mostIterations)
    refuse('loop', checked.name, `maxIterations is a whole number from 1 to ${mostIterations}: a loop that nobody breaks has to end.`);
  return agentOf({ kind: 'loop', ...checked, maxIterations });
}

/** Agents at the same time. Its output has that of each agent, by its name. */
export function parallel<const Name extends string>(options: ParallelOptions<Name>): Agent<Name, string, Readonly<Record<string, Json>>> {
  const checked = checkedGroup('parallel', options, ['agents', 'isolate']);
  const { isolate = false } = options;
  if (typeof isolate !== 'boolean') refuse('parallel', checked.name, 'isolate is true or false.');
  return agentOf({ kind: 'parallel', ...checked, isolate });
}

/** An agent that hands work over to specialists and gets it back from them, until it answers. */
export function supervisor<const Name extends string>(options: SupervisorOptions<Name>): Agent<Name> {
  const { name, description, observers, callbacks } = checkedNames('supervisor', options, ['supervisor', 'agents']);
  const [lead] = membersOf(name, [options.supervisor]);
  if (lead === undefined || !isChat(lead))
    return refuse('supervisor', name, 'the supervisor is an agent that talks to a model, made with defineAgent.');
  if (lead.subAgents.length > 0) refuse('supervisor', name, `"${lead.name}" has sub-agents already.`);
  const { agents } = checkedGroup('supervisor', options, ['supervisor', 'agents']);
  const same = agents.find((agent) => agent.name === lead.name);
  if (same !== undefined) refuse('supervisor', name, `a specialist has the name of the supervisor, "${same.name}".`);
  const twice = agents.find((agent, position) => agents.indexOf(agent) !== position);
  if (twice !== undefined) refuse('supervisor', name, `"${twice.name}" stands twice among the specialists; name it once.`);
  const specialists = subAgentsOf(
    lead.name,
    agents.map((agent) => agentOf(handingOver(agent, [lead.name]))),
  );
  return agentOf({
    kind: 'team',
    name,
    description,
    observers,
    callbacks,
    lead: { ...lead, origin: originOf(lead), subAgents: specialists },
  });
}

/** The agent, which hands over to these whenever it has ended well. */
export function withDeterministicTransfer<Name extends string, Input, Output>(
  agent: Agent<Name, Input, Output>,
  options: { readonly to: readonly string[] },
): Agent<Name, Input, Output> {
  const maker = 'withDeterministicTransfer';
  const [inner] = isAgent(agent) ? membersOf('', [agent]) : [];
  if (inner === undefined)
    return refuse(maker, undefined, 'it takes an agent, made with defineAgent, sequential, loop, parallel or another of these.');
  const { to, ...others } = (options ?? {}) as { to?: unknown };
  const [other] = Object.keys(others);
  if (other !== undefined) refuse(maker, inner.name, `there is no option "${cut(other)}"; there is to.`);
  if (!Array.isArray(to) || to.length === 0 || to.some((name) => nameProblem(name) !== undefined))
    return refuse(maker, inner.name, 'to is a list of at least one name of an agent: { to: ["…"] }.');
  return agentOf(handingOver(inner, to as readonly string[]));
}

const parents = new WeakMap<AnyAgent, string>();

/** The agent with others that it, and they, may hand the conversation over to. An agent has its sub-agents once, and one parent. */
export function setSubAgents<Name extends string, Input, Output>(
  parent: Agent<Name, Input, Output>,
  subAgents: readonly AgentPart[],
): Agent<Name, Input, Output> {
  const [lead] = isAgent(parent) ? membersOf('', [parent]) : [];
  if (lead === undefined)
    return refuse('setSubAgents', undefined, 'it takes an agent, made with defineAgent, and a list of its sub-agents.');
  if (!isChat(lead))
    return refuse('setSubAgents', lead.name, 'only an agent that talks to a model, made with defineAgent, has sub-agents.');
  if (lead.subAgents.length > 0) refuse('setSubAgents', lead.name, 'its sub-agents are set already.');
  const members = subAgentsOf(lead.name, subAgents);
  for (const member of members) {
    const other = parents.get(member);
    if (other !== undefined) refuse('setSubAgents', lead.name, `"${member.name}" is a sub-agent of "${other}" already.`);
  }
  for (const member of members) parents.set(member, lead.name);
  return agentOf({ ...lead, origin: originOf(lead), subAgents: members });
}

/** An agent made by hand: an async generator of events. Deterministic like a hook; it acts through its context. */
export function customAgent<const Name extends string, T extends Tools = Tools>(options: CustomAgentOptions<Name, T>): Agent<Name> {
  const { name, description, observers, callbacks } = checkedNames('customAgent', options, ['agents', 'run']);
  if (typeof (options as { run?: unknown }).run !== 'function')
    refuse('customAgent', name, 'run is an async generator: async *run(input, ctx) { … }.');
  const run: CustomRun = (input, ctx) => options.run(input, ctx);
  const agents = membersOf(name, options.agents === undefined ? [] : options.agents);
  const twice = agents.find((agent, position) => agents.indexOf(agent) !== position);
  if (twice !== undefined) refuse('customAgent', name, `"${twice.name}" stands twice among its agents; name it once.`);
  return agentOf({ kind: 'custom', name, description, observers, callbacks, run, agents });
}

function handingOver(agent: AnyAgent, to: readonly string[]): AnyAgent {
  return { kind: 'hand-over', name: agent.name, description: agent.description, agent, to };
}

interface Checked {
  readonly name: string;
  readonly description: string;
  readonly observers: readonly AgentObserver[];
  readonly callbacks: readonly AgentMiddleware[];
}

function checkedNames(maker: string, options: unknown, fields: readonly string[]): Checked {
  const { name, description = '', observers, callbacks, ...others } = (options ?? {}) as Record<string, unknown>;
  const problem = nameProblem(name);
  if (problem !== undefined) return refuse(maker, undefined, `${problem}.`);
  if (typeof description !== 'string') return refuse(maker, name as string, 'description is a text.');
  const other = Object.keys(others).find((field) => !fields.includes(field));
  if (other !== undefined)
    refuse(
      maker,
      name as string,
      `there is no field "${cut(other)}"; there are name, description, observers, callbacks, ${fields.join(', ')}.`,
    );
  const looking = checkedObservers(observers, (found) => refuse(maker, name as string, found));
  const called = checkedCallbacks(callbacks, (found) => refuse(maker, name as string, found));
  return { name: name as string, description, observers: looking, callbacks: called };
}

function checkedGroup(
  maker: string,
  options: GroupOptions<string>,
  fields: readonly string[],
): Checked & { readonly agents: readonly AnyAgent[] } {
  const checked = checkedNames(maker, options, fields);
  const agents = membersOf(checked.name, options.agents);
  if (agents.length === 0) refuse(maker, checked.name, 'agents are a list of at least one agent.');
  return { ...checked, agents };
}

function refuse(maker: string, name: string | undefined, problem: string): never {
  throw new HoldfastError('agent-invalid', `${maker}${name === undefined ? '' : ` "${name}"`}: ${problem}`);
}
