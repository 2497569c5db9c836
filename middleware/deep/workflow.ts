import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import type { Language } from '../../contract/manifest';
import type { AgentOptions } from '../../kernel/define/agent-options';
import type { Agent } from '../../kernel/define/agent-ref';
import { defineAgent } from '../../kernel/define/agent';
import { isAgent } from '../../kernel/define/agent-ref';
import { definitionOf } from '../../kernel/define/definition';
import { shown, shownName } from '../../contract/shown';
import type { AgentPart } from '../../kernel/define/define';
import type { AnyAgent } from '../../kernel/define/definition';
import { agentForms } from '../../kernel/define/check-agent';
import type { AgentMiddleware, Tools, OwnToolRef } from '../../kernel/define/middleware';
import { withoutTool } from '../../kernel/define/named-tools';
import { ownToolRef, parsedBy } from '../../kernel/define/workflow-tools';
import type { Forms } from '../../contract/check';
import { anything, checkFields, flag, func, isRecord, list, refusing, text, worded } from '../../contract/check';
import { objectSchema } from '../object-schema';
import { todo } from '../todo/workflow';
import { ToolError } from '../../kernel/effects/errors';

export interface DeepAgentOptions<Name extends string, T extends Tools = Tools> extends Omit<
  AgentOptions<T, Name, string>,
  'instructions' | 'tools' | 'subAgents' | 'output' | 'prompt'
> {
  readonly instructions?: string;
  readonly tools?: AgentOptions<T, Name, string>['tools'];
  readonly subAgents?: readonly AgentPart[];
  readonly withoutWriteTodos?: boolean;
  readonly withoutGeneralSubAgent?: boolean;
  /** The description of the tool `task`. */
  readonly taskDescription?: (agents: readonly { readonly name: string; readonly description: string }[]) => string;
  /** Readers see the events of sub-agents. */
  readonly forwardEvents?: boolean;
}

const general = 'general-purpose';
const taskTool = 'task';

const forms: Forms = {
  ...agentForms,
  description: anything,
  instructions: text,
  model: anything,
  tools: list,
  subAgents: list,
  withoutWriteTodos: flag,
  withoutGeneralSubAgent: flag,
  taskDescription: worded(func, 'a function that says what the model is told of the agents'),
  forwardEvents: flag,
};

/**
 * An agent for long work, with a to-do list and sub-agents that know only their task.
 * @example
 * export const researcher = deepAgent({
 *   name: 'researcher',
 *   description: 'Finds out what customers want.',
 *   model: 'openai/gpt-5',
 *   tools: ['findOrder'],
 *   subAgents: [writer],
 * });
 */
export function deepAgent<const Name extends string, T extends Tools = Tools>(options: DeepAgentOptions<Name, T>): Agent<Name> {
  if (!isRecord(options))
    return refusing('deepAgent')(`the options must be an object with name, description and model, not ${shown(options)}.`);
  const refuse = refusing(`deepAgent "${shownName(options.name)}"`);
  checkFields(defined({ ...options }), forms, refuse);
  const { subAgents = [], withoutWriteTodos, withoutGeneralSubAgent, taskDescription, forwardEvents, tools = [], ...agent } = options;
  const named = new Map<string, AnyAgent>();
  const both = {
    model: agent.model,
    instructions: agent.instructions ?? instructionsOf(agent.language ?? 'en'),
    tools,
    middleware: [...(withoutWriteTodos === true ? [] : [todo()]), ...(agent.middleware ?? [])],
  };
  if (withoutGeneralSubAgent !== true) {
    const helper = defineAgent({
      ...both,
      // Parallel helpers need separate lists. Without the tool `task`, no layer may name the tool.
      middleware: [
        ...(withoutWriteTodos === true ? [] : [todo({ keptIn: 'runLocal' })]),
        ...(agent.middleware ?? []).map((layer) => withoutTool(layer as AgentMiddleware, taskTool)),
      ],
      name: `${options.name}-${general}`,
      description: 'Does tasks of every kind that take several steps, with all tools.',
      ...defined({ maxIterations: agent.maxIterations }),
    });
    named.set(general, definitionOf(helper));
  }
  for (const sub of subAgents) {
    if (!isAgent(sub)) return refuse('subAgents are a list of agents; make them with defineAgent.');
    if (named.has(sub.name)) refuse(`two of its sub-agents are named "${sub.name}".`);
    if (sub.description === '') refuse(`its sub-agent "${sub.name}" needs a description: the model chooses by it.`);
    named.set(sub.name, definitionOf(sub));
  }
  for (const [field, value] of Object.entries({ taskDescription, forwardEvents }))
    if (named.size === 0 && value !== undefined && value !== false)
      refuse(`${field} would do nothing: it has no agents to give tasks to. Give it subAgents, or leave out withoutGeneralSubAgent.`);
  const all = named.size === 0 ? tools : [...tools, toolForTasks(named, taskDescription, forwardEvents === true)];
  return defineAgent({ ...agent, ...both, tools: all } as never);
}

function toolForTasks(agents: ReadonlyMap<string, AnyAgent>, describe = descriptionOf, forwardEvents: boolean): OwnToolRef {
  const told = [...agents].map(([name, { description }]) => ({ name, description }));
  const description: unknown = describe(told);
  if (typeof description !== 'string' || description === '')
    throw new HoldfastError(
      'agent-invalid',
      'taskDescription of deepAgent returned no text; it says what the model is told of the tool task.',
    );
  const spec = {
    name: taskTool,
    description,
    inputSchema: objectSchema(
      {
        subagent_type: { type: 'string', description: 'The name of the agent that does it.' },
        description: { type: 'string', description: 'The whole task: the agent knows nothing else.' },
      },
      ['subagent_type', 'description'],
    ),
  };
  return ownToolRef({
    spec,
    agents: [...agents.values()],
    parse: (input) => parsedBy(spec, input),
    run: async ({ call, ctx }) => {
      const { subagent_type: type, description } = call.input as { readonly subagent_type: string; readonly description: string };
      const agent = agents.get(type);
      if (agent === undefined)
        throw new ToolError(
          { code: 'tool-failed', message: `The sub-agent "${type}" was not found. There are: ${[...agents.keys()].join(', ')}.` },
          undefined,
        );
      return ctx.runAgent(agent.name, description, { forwardEvents });
    },
  });
}

function descriptionOf(agents: readonly { readonly name: string; readonly description: string }[]): string {
  const list = agents.map(({ name, description }) => `- ${name}: ${description}`).join('\n');
  return `Gives a task to another agent, which does it by itself and comes back with the result. Several tasks may be given at once. The agents:\n${list}`;
}

function instructionsOf(language: Language): string {
  if (language === 'zh')
    return '你负责处理需要多个步骤的工作。先弄清楚要做什么,再一步一步完成;可以独立完成的部分用 task 工具交给其他代理,并核对它们的结果。完成后给出完整的答复。';
  return (
    'You do work that takes many steps. Find out what is wanted before you begin, go step by step, and check what came of each. ' +
    'Give parts that stand for themselves to other agents with the tool task, several at once where they do not depend on each other, and check their results. ' +
    'Answer when all of it is done, and say what is left open.'
  );
}
