import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import type { Message, StoredMessage } from '../../contract/messages/messages';
import { isMessage, toolMessage } from '../../contract/messages/messages';
import type { Agent } from '../../kernel/define/agent-ref';
import { isAgent } from '../../kernel/define/agent-ref';
import { definitionOf } from '../../kernel/define/definition';
import type { AnyAgent } from '../../kernel/define/definition';
import type { ToolContext } from '../../kernel/define/middleware';
import type { Skill } from './skills';

/** By the names in skills; `default` for skills that name none. */
export type SkillAgents = Readonly<Record<string, Agent<string, unknown, unknown>>>;

export interface ForkedSkill {
  readonly skill: Skill;
  readonly content: string;
  /** With `fork_with_context`: the messages before the call. */
  readonly messages?: readonly Message[];
}

export interface ForkOptions {
  readonly agents: ReadonlyMap<string, AnyAgent>;
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

export async function forkedSkill(
  ctx: ToolContext,
  skill: Skill,
  content: string,
  { agents, model, buildMessages, formatResult = resultOf }: ForkOptions,
): Promise<string> {
  const agent = agentFor(skill, agents);
  const options = defined({ model: modelFor(agent, skill, model) });
  const said =
    skill.context === 'fork_with_context' ? ctx.messages.slice(0, callingMessage(ctx) === undefined ? undefined : -1) : undefined;
  const fork: ForkedSkill = { skill, content, ...defined({ messages: said }) };
  const first = (): readonly Message[] => {
    if (buildMessages !== undefined) return checkedMessages(buildMessages(fork));
    if (said === undefined) return [{ role: 'user', parts: [{ type: 'text', text: content }] }];
    return [...said, callAlone(ctx), withoutId(toolMessage('', ctx.toolCall, content))];
  };
  return formatResult(fork, await ctx.runAgent(agent.name, first, options));
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

function modelFor(agent: AnyAgent, { name, model = '' }: Skill, modelOf: ForkOptions['model']): string | undefined {
  if (model === '') return undefined;
  if (modelOf === undefined) throw new Error(`The skill "${name}" needs the model "${model}", and there are no models for skills.`);
  if (agent.kind !== 'chat') throw new Error(`The skill "${name}" needs a model, and its agent "${agent.name}" is several agents.`);
  return modelOf(model);
}

function withoutId({ id: _, ...message }: StoredMessage): Message {
  return message;
}

function callingMessage({ messages, toolCall }: ToolContext): StoredMessage | undefined {
  const last = messages.at(-1);
  return last?.parts.some((part) => part.type === 'tool-call' && part.id === toolCall.id) === true ? last : undefined;
}

/** Drops the parallel calls, which have no results there. */
function callAlone(ctx: ToolContext): Message {
  const { id, name, input } = ctx.toolCall;
  const message = callingMessage(ctx);
  const parts = message?.parts.filter((part) => part.type !== 'tool-call' || part.id === id) ?? [
    { type: 'tool-call' as const, id, name, input },
  ];
  if (message !== undefined && parts.length === message.parts.length) return message;
  return { role: 'assistant', parts };
}

function checkedMessages(messages: unknown): readonly Message[] {
  if (Array.isArray(messages) && messages.every(isMessage)) return messages;
  throw new HoldfastError('message-invalid', 'buildForkMessages must return a list of messages.');
}

function resultOf({ skill }: ForkedSkill, answer: string): string {
  return `Skill "${skill.name}" completed (sub-agent execution).\n\nResult:\n${answer}`;
}
