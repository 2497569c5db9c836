import { defined } from './defined';
import { jsonSize, limits } from './limits';
import type { JsonObject, ModelSettings } from './messages/messages';
import { notJson } from './messages/messages';
import { settingsProblem } from './model-settings';

export interface ToolAliases {
  /** Other names that the model may call the tool by. */
  readonly names?: readonly string[];
  /** Other keys, each for one of the tool's own: `{ query: ['q'] }`. */
  readonly arguments?: Readonly<Record<string, readonly string[]>>;
}

/** What tools have for one run. */
export interface ToolRunOptions {
  /** In place of the tools of the agent. */
  readonly tools?: readonly string[];
  /** In place of the aliases of the agent. Absent: the agent's count, for the tools that there are. */
  readonly toolAliases?: Readonly<Record<string, ToolAliases>>;
  /** What tools get as `call.options`, by the name of the tool. */
  readonly toolOptions?: Readonly<Record<string, JsonObject>>;
}

/** What one agent has for one run. */
export interface AgentRunOptions extends ToolRunOptions {
  readonly model?: string;
  readonly settings?: ModelSettings;
  /** For an agent that is made by hand, which gets it with its input. Other agents do not look at it. */
  readonly custom?: JsonObject;
}

/** What a run has otherwise than its agents say: for all of them, and for some by their names, which wins. */
export interface RunOptions extends ToolRunOptions {
  /** Agents are not told that one before them handed over to another. */
  readonly skipTransferMessages?: boolean;
  readonly agents?: Readonly<Record<string, AgentRunOptions>>;
}

type Fields = Readonly<Record<string, unknown>>;

const toolFields: readonly string[] = ['tools', 'toolAliases', 'toolOptions'];
const agentFields: readonly string[] = [...toolFields, 'model', 'settings', 'custom'];

/** What is wrong with the options of a run as far as it shows without agents and tools, or nothing. */
export function runOptionsProblem(options: unknown): string | undefined {
  if (!isFields(options)) return 'they are no object';
  const { agents = {} } = options;
  if (!isFields(agents)) return 'agents is no object with options by the names of agents';
  for (const [name, own] of Object.entries(agents)) {
    const problem = fieldsProblem(own, agentFields, `agents.${name}`) ?? toolsProblem(own as Fields, `agents.${name}.`);
    if (problem !== undefined) return problem;
    const { model, settings, custom } = own as Fields;
    if (custom !== undefined && (!isFields(custom) || notJson(custom) !== undefined)) return `agents.${name}.custom is no object of JSON`;
    if (model !== undefined && (typeof model !== 'string' || model === '')) return `agents.${name}.model is no name of a model`;
    const unfit = settings === undefined ? undefined : settingsProblem(settings);
    if (unfit !== undefined) return `agents.${name}.settings: ${unfit}`;
  }
  const { skipTransferMessages: skips } = options;
  if (skips !== undefined && typeof skips !== 'boolean') return 'skipTransferMessages is neither true nor false';
  return fieldsProblem(options, [...toolFields, 'agents', 'skipTransferMessages'], undefined) ?? toolsProblem(options, '');
}

/** The options that count for an agent. Those for it win over those for all, of the options of a tool each key by itself. */
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

type ToolOptions = ToolRunOptions['toolOptions'];

function mergedToolOptions(all: ToolOptions, own: ToolOptions): ToolOptions {
  if (all === undefined || own === undefined) return own ?? all;
  const tools = [...new Set([...Object.keys(all), ...Object.keys(own)])];
  return Object.fromEntries(tools.map((tool) => [tool, { ...all[tool], ...own[tool] }]));
}

/** What is wrong with the options of one call, or nothing. */
export function toolOptionsProblem(options: unknown): string | undefined {
  if (!isFields(options)) return 'are no object';
  const problem = notJson(options);
  if (problem !== undefined) return `are not JSON: ${problem}`;
  const bytes = jsonSize(options);
  return bytes > limits.toolOptions ? `have ${bytes} bytes; at most ${limits.toolOptions} fit` : undefined;
}

function fieldsProblem(value: unknown, known: readonly string[], where: string | undefined): string | undefined {
  if (!isFields(value)) return `${where} is no object`;
  const other = Object.keys(value).find((field) => !known.includes(field));
  if (other === undefined) return undefined;
  return `there is no ${where === undefined ? '' : `${where}.`}${other}; there are ${known.join(', ')}`;
}

function toolsProblem({ tools, toolAliases, toolOptions }: Fields, at: string): string | undefined {
  if (tools !== undefined && !(isTexts(tools) && new Set(tools).size === tools.length))
    return `${at}tools is no list of names of tools, each once`;
  if (toolAliases !== undefined && !isFields(toolAliases)) return `${at}toolAliases is no object with the aliases of each tool`;
  for (const [tool, aliases] of Object.entries(toolAliases ?? {})) {
    const problem = aliasProblem(aliases);
    if (problem !== undefined) return `${at}toolAliases.${tool} ${problem}`;
  }
  if (toolOptions !== undefined && !isFields(toolOptions)) return `${at}toolOptions is no object with the options of each tool`;
  for (const [tool, given] of Object.entries(toolOptions ?? {})) {
    const problem = toolOptionsProblem(given);
    if (problem !== undefined) return `${at}toolOptions.${tool} ${problem}`;
  }
  return undefined;
}

function aliasProblem(aliases: unknown): string | undefined {
  if (!isFields(aliases)) return 'is no object with names and arguments';
  const { names = [], arguments: keys = {}, ...others } = aliases;
  const [other] = Object.keys(others);
  if (other !== undefined) return `has no ${other}; it has names and arguments`;
  if (!isTexts(names)) return 'has names that are no list of texts';
  if (!isFields(keys) || !Object.values(keys).every(isTexts)) return 'has arguments that are no lists of texts by key';
  return undefined;
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
