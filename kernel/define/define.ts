import type { Fields, Forms, Refuse } from '../../contract/check';
import {
  anything,
  both,
  checkFields,
  checkOptions,
  filled,
  flag,
  func,
  identifier,
  isString,
  listOf,
  refusing,
  required,
  shape,
  someTexts,
  text,
  whole,
  worded,
} from '../../contract/check';
import type { Json } from '../../contract/messages/messages';
import { cut } from '../../contract/shown';
import type { Agent } from './agent-ref';
import { agentOf, membersOf, refuseTwice, subAgentsOf } from './agent';
import { isAgent } from './agent-ref';
import type { AgentMiddleware, Tools } from './middleware';
import type { AgentObserver, AnyAgent, CustomContext, CustomEvent, CustomInput, CustomRun } from './definition';
import { isChat, originOf } from './definition';

export type AgentPart = Agent<string, unknown, unknown>;

interface AroundAgent {
  readonly around: 'agent';
  readonly before: { readonly length: number };
  readonly after: { readonly length: number };
  asMiddleware(name?: string): AgentMiddleware;
}

interface ObservableGroup<Name extends string, T extends Tools = Tools> {
  readonly name: Name;
  /** Needed for a tool or a sub-agent, because models choose by description. */
  readonly description?: string;
  /** Called at the beginning and end of the group. */
  readonly observers?: readonly AgentObserver<T>[];
  /** Callbacks before and after the group, made with `agentCallbacks`. */
  readonly callbacks?: AroundAgent;
}

export interface GroupOptions<Name extends string> extends ObservableGroup<Name> {
  readonly agents: readonly AgentPart[];
}

export interface LoopOptions<Name extends string> extends GroupOptions<Name> {
  /** The limit of rounds. */
  readonly maxIterations: number;
}

export interface ParallelOptions<Name extends string> extends GroupOptions<Name> {
  /** Runs each agent as a separate workflow with its own history. */
  readonly isolate?: boolean;
}

export interface SupervisorOptions<Name extends string> extends ObservableGroup<Name> {
  /** Decides who works, and gives the final answer. */
  readonly supervisor: AgentPart;
  /** Specialists, which hand back to the supervisor. */
  readonly agents: readonly AgentPart[];
}

export interface CustomAgentOptions<Name extends string, T extends Tools = Tools> extends ObservableGroup<Name, T> {
  /** Agents that `ctx.runAgent` runs by name. */
  readonly agents?: readonly AgentPart[];
  run(input: CustomInput, ctx: CustomContext<T>): AsyncGenerator<CustomEvent, Json | void, void>;
}

const mostIterations = 10_000;

/**
 * Runs agents in sequence. Each agent sees the messages of earlier agents.
 * @example
 * export const reviewed = sequential({ name: 'reviewed', agents: [writer, critic] });
 * const run = await client.start('reviewed', 'Write a verse.');
 * console.log(await run.result());
 */
export function sequential<const Name extends string>(options: GroupOptions<Name>): Agent<Name> {
  const checked = checkedGroup('sequential', options);
  return agentOf({ kind: 'sequential', ...checked, maxIterations: 1 });
}

/**
 * Runs agents in sequence, repeatedly, until an agent breaks the loop or exits.
 * @example
 * export const polished = loop({ name: 'polished', agents: [writer, critic], maxIterations: 5 });
 * const run = await client.start('polished', 'Write a verse.');
 * console.log(await run.result());
 */
export function loop<const Name extends string>(options: LoopOptions<Name>): Agent<Name> {
  // Required, because a loop must end without a break.
  const checked = checkedGroup('loop', options, { maxIterations: required(whole(1, mostIterations)) });
  return agentOf({ kind: 'loop', ...checked, maxIterations: options.maxIterations });
}

/**
 * Runs agents in parallel. The output has each agent's output by name.
 * @example
 * export const opinions = parallel({ name: 'opinions', agents: [writer, critic] });
 * const run = await client.start('opinions', 'What do you think of tea?');
 * console.log(await run.result());
 */
export function parallel<const Name extends string>(options: ParallelOptions<Name>): Agent<Name, string, Readonly<Record<string, Json>>> {
  const checked = checkedGroup('parallel', options, { isolate: flag });
  return agentOf({ kind: 'parallel', ...checked, isolate: options.isolate ?? false });
}

/**
 * An agent that hands work to specialists until it answers.
 * @example
 * export const office = supervisor({
 *   name: 'office',
 *   description: 'Answers letters.',
 *   supervisor: support,
 *   agents: [writer, critic],
 * });
 */
export function supervisor<const Name extends string>(options: SupervisorOptions<Name>): Agent<Name> {
  const { name, description, observers, callbacks } = checkedNames('supervisor', options, { supervisor: anything, agents: anything });
  const refuse = refusing(`supervisor "${name}"`);
  if (!isAgent(options.supervisor)) return refuse('supervisor must be an agent, made with defineAgent. It is missing, or none.');
  const [lead] = membersOf(name, [options.supervisor]);
  if (lead === undefined || !isChat(lead)) return refuse('the supervisor is an agent that talks to a model, made with defineAgent.');
  if (lead.subAgents.length > 0) refuse(`"${lead.name}" has sub-agents already.`);
  const { agents } = checkedGroup('supervisor', options, { supervisor: anything });
  const same = agents.find((agent) => agent.name === lead.name);
  if (same !== undefined) refuse(`a specialist has the name of the supervisor, "${same.name}".`);
  refuseTwice(agents, 'the specialists', refuse);
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

/**
 * The agent, with a hand-over to the agents in `to` after each success.
 * @example
 * const checked = withDeterministicTransfer(writer, { to: ['critic'] });
 * export const desk = setSubAgents(support, [checked, critic]);
 * const run = await client.start('support', 'Write me a verse.');
 */
export function withDeterministicTransfer<Name extends string, Input, Output>(
  agent: Agent<Name, Input, Output>,
  options: { readonly to: readonly string[] },
): Agent<Name, Input, Output> {
  const maker = 'withDeterministicTransfer';
  const [inner] = isAgent(agent) ? membersOf('', [agent]) : [];
  if (inner === undefined)
    return refusing(maker)('it takes an agent, made with defineAgent, sequential, loop, parallel or another of these.');
  const { to } = checkOptions<{ to: readonly string[] }>(`${maker} "${inner.name}"`, options, { to: required(targets) });
  return agentOf(handingOver(inner, to));
}

const targets = both(
  worded(someTexts, 'an array of at least one name of an agent: { to: ["…"] }'),
  listOf(identifier, 'an array of names'),
);

const parents = new WeakMap<AnyAgent, string>();

/**
 * The agent with sub-agents, which are set once. An agent has one parent.
 * @example
 * const desk = defineAgent({ name: 'desk', description: 'Sends customers on.', instructions: '', model: 'default', tools: [] });
 * export const frontDesk = setSubAgents(desk, [writer, critic]);
 * const run = await client.start('desk', 'Write me a verse.');
 */
export function setSubAgents<Name extends string, Input, Output>(
  parent: Agent<Name, Input, Output>,
  subAgents: readonly AgentPart[],
): Agent<Name, Input, Output> {
  const [lead] = isAgent(parent) ? membersOf('', [parent]) : [];
  if (lead === undefined) return refusing('setSubAgents')('it takes an agent, made with defineAgent, and a list of its sub-agents.');
  const refuse = refusing(`setSubAgents "${lead.name}"`);
  if (!isChat(lead)) return refuse('only an agent that talks to a model, made with defineAgent, has sub-agents.');
  if (lead.subAgents.length > 0) refuse('its sub-agents are set already.');
  const members = subAgentsOf(lead.name, subAgents);
  for (const member of members) {
    const other = parents.get(member);
    if (other !== undefined) refuse(`"${member.name}" is a sub-agent of "${other}" already.`);
  }
  for (const member of members) parents.set(member, lead.name);
  return agentOf({ ...lead, origin: originOf(lead), subAgents: members });
}

/**
 * A custom agent: an async generator of events, deterministic like a hook, which acts through its context.
 * @example
 * export const twice = customAgent({
 *   name: 'twice',
 *   agents: [writer],
 *   async *run(_input, ctx) {
 *     const draft = await ctx.runAgent('writer', 'Write a verse.');
 *     const { text } = await ctx.runAgent('writer', `Make it shorter: ${draft.text}`);
 *     return text;
 *   },
 * });
 */
export function customAgent<const Name extends string, T extends Tools = Tools>(options: CustomAgentOptions<Name, T>): Agent<Name> {
  const { name, description, observers, callbacks } = checkedNames('customAgent', options, {
    agents: anything,
    run: required(worded(func, 'an async generator: async *run(input, ctx) { … }')),
  });
  const run: CustomRun = (input, ctx) => options.run(input, ctx);
  const agents = membersOf(name, options.agents === undefined ? [] : options.agents);
  refuseTwice(agents, 'its agents', refusing(`customAgent "${name}"`));
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

function checkedNames(maker: string, options: unknown, own: Forms): Checked {
  const given = (options ?? {}) as Fields;
  const owner = isString(given['name']) ? `${maker} "${cut(given['name'])}"` : maker;
  const { name, description = '', observers, callbacks } = checkOptions<ObservableGroup<string>>(owner, given, { ...ofAll, ...own });
  const refuse = refusing(owner);
  return { name, description, observers: checkedObservers(observers, refuse), callbacks: checkedCallbacks(callbacks, refuse) };
}

const ofAll = { name: required(identifier), description: text, observers: anything, callbacks: anything };

function checkedGroup(maker: string, options: GroupOptions<string>, own: Forms = {}): Checked & { readonly agents: readonly AnyAgent[] } {
  const checked = checkedNames(maker, options, { agents: anything, ...own });
  const agents = membersOf(checked.name, options.agents);
  if (agents.length === 0) refusing(`${maker} "${checked.name}"`)('agents must be an array of at least one agent. It is [].');
  return { ...checked, agents };
}

function checkedCallbacks(given: unknown, refuse: Refuse): readonly AgentMiddleware[] {
  if (given === undefined) return [];
  const { before, after, asMiddleware, around } = (given ?? {}) as Partial<AroundAgent>;
  if (before === undefined || after === undefined || typeof asMiddleware !== 'function' || around !== 'agent')
    return refuse(`callbacks must be a set made with agentCallbacks.`);
  if (before.length === 0 && after.length === 0)
    return refuse('callbacks must have at least one callback; register one, or leave them out.');
  return [(given as AroundAgent).asMiddleware('callbacks')];
}

const functions = { onStart: func, onEnd: func, onError: func };
const observersForm = listOf(
  shape({ name: required(filled), ...functions }, `an observer with a name and ${Object.keys(functions).join(', ')}`),
  'an array of observers',
);

function checkedObservers(observers: unknown, refuse: Refuse): readonly AgentObserver[] {
  checkFields({ observers }, { observers: observersForm }, refuse);
  const checked = (observers ?? []) as readonly AgentObserver[];
  const names = new Set<string>();
  for (const [position, observer] of checked.entries()) {
    if (names.has(observer.name)) refuse(`two of its observers are named "${observer.name}".`);
    names.add(observer.name);
    if (!Object.entries(observer).some(([field, value]) => field in functions && value !== undefined))
      refuse(`observers[${position}] has none of ${Object.keys(functions).join(', ')}.`);
  }
  return checked;
}
