import type { Forms } from './check';
import { flag, form, isListOf, isRecord, isString, names, problemOfFields, shape, tableOf, texts, worded } from './check';
import { defined } from './defined';
import { jsonSize, limits } from './limits';
import type { JsonObject, ModelSettings } from './messages/messages';
import { notJson } from './messages/messages';
import { settingsForm } from './model-settings';
import { shown } from './shown';

export interface ToolAliases {
  /** Other names by which the model may call the tool. */
  readonly names?: readonly string[];
  /** Other keys for arguments of the tool: `{ query: ['q'] }`. */
  readonly arguments?: Readonly<Record<string, readonly string[]>>;
}

export interface ToolRunOptions {
  /** Replaces the tools of the agent. */
  readonly tools?: readonly string[];
  /** Replaces the aliases of the agent. Absent: the agent's aliases for the available tools. */
  readonly toolAliases?: Readonly<Record<string, ToolAliases>>;
  /** `call.options` of tools, by tool name. */
  readonly toolOptions?: Readonly<Record<string, JsonObject>>;
}

export interface AgentRunOptions extends ToolRunOptions {
  readonly model?: string;
  readonly settings?: ModelSettings;
  /** Input of a custom agent. Other agents ignore the value. */
  readonly custom?: JsonObject;
}

/** Options of a run for all agents. Options under an agent's name win. */
export interface RunOptions extends ToolRunOptions {
  /** Agents do not see that an earlier agent handed over. */
  readonly skipTransferMessages?: boolean;
  readonly agents?: Readonly<Record<string, AgentRunOptions>>;
}

export type Aliases = Readonly<Record<string, ToolAliases>>;

export const toolAliasesForm = tableOf(
  shape({ names: texts, arguments: tableOf(texts, 'an object with arrays of strings by argument') }),
  'an object with the aliases of each tool',
);

const toolForms: Forms<ToolRunOptions> = {
  tools: worded(names, 'an array of tool names, each once'),
  toolAliases: toolAliasesForm,
  toolOptions: tableOf(
    { wanted: 'an object', problem: (value, option) => behind(option, toolOptionsProblem(value)) },
    'an object with the options of each tool',
  ),
};

const agentForms: Forms<AgentRunOptions> = {
  ...toolForms,
  model: form((value) => isString(value) && value !== '', 'the name of a model'),
  settings: settingsForm,
  custom: form((value) => isRecord(value) && notJson(value) === undefined, 'an object of JSON'),
};

const runForms: Forms<RunOptions> = {
  ...toolForms,
  agents: tableOf(shape(agentForms), 'an object with options by the names of agents'),
  skipTransferMessages: flag,
};

export function runOptionsProblem(options: unknown): string | undefined {
  return isRecord(options) ? problemOfFields(options, runForms) : `they must be an object, not ${shown(options)}`;
}

/** Options by name win; tool options merge by key. */
export function runOptionsOf(options: RunOptions | undefined, agent: string): AgentRunOptions {
  const { agents, tools, toolAliases, toolOptions } = options ?? {};
  const own: AgentRunOptions = agents !== undefined && Object.hasOwn(agents, agent) ? (agents[agent] ?? {}) : {};
  const given = mergedToolOptions(toolOptions, own.toolOptions);
  return {
    ...defined({ tools, toolAliases }),
    ...own,
    ...defined({ toolOptions: given }),
  };
}

export function toolsNamedIn(options: RunOptions): readonly string[] {
  return [options, ...Object.values(options.agents ?? {})].flatMap(({ tools = [], toolAliases = {}, toolOptions = {} }) => [
    ...tools,
    ...Object.keys(toolAliases),
    ...Object.keys(toolOptions),
  ]);
}

type ToolOptions = ToolRunOptions['toolOptions'];

function mergedToolOptions(all: ToolOptions, own: ToolOptions): ToolOptions {
  if (all === undefined || own === undefined) return own ?? all;
  const tools = [...new Set([...Object.keys(all), ...Object.keys(own)])];
  return Object.fromEntries(tools.map((tool) => [tool, { ...all[tool], ...own[tool] }]));
}

export function toolOptionsProblem(options: unknown): string | undefined {
  if (!isRecord(options)) return 'are no object';
  const problem = notJson(options);
  if (problem !== undefined) return `are not JSON: ${problem}`;
  const bytes = jsonSize(options);
  return bytes > limits.toolOptions ? `have ${bytes} bytes; at most ${limits.toolOptions} fit` : undefined;
}

function behind(option: string, problem: string | undefined): string | undefined {
  return problem === undefined ? undefined : `${option} ${problem}`;
}

const isTag = (value: unknown): boolean => isString(value) && value !== '' && !value.includes('\u0000');

/** The reason why a run cannot have the tags. Temporal refuses a search attribute with too many bytes, and lists cannot find the rest. */
export function tagsProblem(tags: unknown): string | undefined {
  if (!isListOf(tags, isTag))
    return `The options of the start: tags must be an array of strings, none of them empty or with the character NUL. It is ${shown(tags)}.`;
  const bytes = jsonSize(tags);
  return bytes > limits.tags ? `The tags have ${bytes} bytes as JSON, all together; at most ${limits.tags} fit.` : undefined;
}
