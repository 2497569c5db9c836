import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import type { Message, StoredMessage, ToolCall } from '../../contract/messages/messages';
import { toolMessage } from '../../contract/messages/messages';
import type { Agent } from '../../kernel/define/agent';
import { definitionOf, isAgent } from '../../kernel/define/agent';
import { answerOf } from '../../kernel/agents/agent-tool';
import type { AnyAgent } from '../../kernel/define/definition';
import type { Frame } from '../../kernel/effects/frames';
import type { AgentScope } from '../../kernel/run/scope';
import { storedMessages } from '../../kernel/effects/transcript';
import type { Skill } from './skills';

/** The agents for skills that ask for one, by the names that skills have for them. `default` is for those that name none. */
export type SkillAgents = Readonly<Record<string, Agent<string, unknown, unknown>>>;

/** What an agent begins with that is to do a skill. */
export interface ForkedSkill {
  readonly skill: Skill;
  readonly content: string;
  /** With `fork_with_context`: what was said before the call. */
  readonly messages?: readonly Message[];
}

export interface ForkOptions {
  readonly agents: ReadonlyMap<string, AnyAgent>;
  /** The model behind the name that a skill has for it. Absent: there are none. */
  readonly model?: (name: string) => string;
  readonly buildMessages?: (fork: ForkedSkill) => readonly Message[];
  readonly formatResult?: (fork: ForkedSkill, answer: string) => string;
}

export function definitionsOf(agents: SkillAgents): ReadonlyMap<string, AnyAgent> {
  return new Map(
    Object.entries(agents).map(([name, agent]) => {
      if (!isAgent(agent)) throw new HoldfastError('agent-invalid', `skill: agents.${name} is no agent; make it with defineAgent.`);
      return [name, definitionOf(agent)];
    }),
  );
}

export function isForked({ context = '' }: Skill): boolean {
  return context === 'fork' || context === 'fork_with_context';
}

/** A skill that an agent of its own does. Its answer is the result of the call; what is missing for it the model is told. */
export async function forkedSkill(
  { scope, call, frame }: { readonly scope: AgentScope; readonly call: ToolCall; readonly frame: Frame },
  skill: Skill,
  content: string,
  { agents, model, buildMessages, formatResult = resultOf }: ForkOptions,
): Promise<string> {
  const agent = withModel(agentFor(skill, agents), skill, model);
  const said = skill.context === 'fork_with_context' ? saidBefore(scope, call) : undefined;
  const fork: ForkedSkill = { skill, content, ...defined({ messages: said }) };
  const first = (): readonly StoredMessage[] => {
    const uuid = (): string => scope.run.ports.uuid();
    if (buildMessages !== undefined) return storedMessages(buildMessages(fork), scope.record.messages, uuid, 'buildForkMessages');
    return said === undefined
      ? [{ id: uuid(), role: 'user', parts: [{ type: 'text', text: content }] }]
      : [...said, callAlone(scope, call), toolMessage(uuid(), call, content)];
  };
  return formatResult(fork, await answerOf(scope, frame, agent, first));
}

function agentFor({ name, context, agent: wanted = '' }: Skill, agents: ReadonlyMap<string, AnyAgent>): AnyAgent {
  if (agents.size === 0)
    throw new Error(`The skill "${name}" has context: ${context}, which needs an agent of its own, and there are no agents for skills.`);
  const agent = agents.get(wanted === '' ? 'default' : wanted);
  if (agent !== undefined) return agent;
  const known = [...agents.keys()].join(', ');
  if (wanted === '') throw new Error(`The skill "${name}" names no agent, and there is no default one. There are: ${known}.`);
  throw new Error(`The skill "${name}" needs the agent "${wanted}", which is not there. There are: ${known}.`);
}

function withModel(agent: AnyAgent, { name, model = '' }: Skill, modelOf: ForkOptions['model']): AnyAgent {
  if (model === '') return agent;
  if (modelOf === undefined) throw new Error(`The skill "${name}" needs the model "${model}", and there are no models for skills.`);
  if (agent.kind !== 'chat') throw new Error(`The skill "${name}" needs a model, and its agent "${agent.name}" is several agents.`);
  return { ...agent, model: modelOf(model) };
}

function callingMessage({ record }: AgentScope, call: ToolCall): number {
  return record.messages.map(({ parts }) => parts.some((part) => part.type === 'tool-call' && part.id === call.id)).lastIndexOf(true);
}

function saidBefore(scope: AgentScope, call: ToolCall): readonly StoredMessage[] {
  const calling = callingMessage(scope, call);
  return calling < 0 ? scope.record.messages : scope.record.messages.slice(0, calling);
}

/** The message that takes up the skill, without the calls beside it: they have no results there. */
function callAlone(scope: AgentScope, call: ToolCall): StoredMessage {
  const { id, name, input } = call;
  const message = scope.record.messages[callingMessage(scope, call)];
  const parts = message?.parts.filter((part) => part.type !== 'tool-call' || part.id === id) ?? [
    { type: 'tool-call' as const, id, name, input },
  ];
  if (message !== undefined && parts.length === message.parts.length) return message;
  return { id: scope.run.ports.uuid(), role: 'assistant', parts };
}

function resultOf({ skill }: ForkedSkill, answer: string): string {
  return `Skill "${skill.name}" completed (sub-agent execution).\n\nResult:\n${answer}`;
}
