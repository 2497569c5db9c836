import type { Forms } from './check';
import { flag, form, isRecord, isString, names, problemOfFields, shape, tableOf, texts, worded } from './check';
import { defined } from './defined';
import { jsonSize, limits } from './limits';
import type { JsonObject, ModelSettings } from './messages/messages';
import { notJson } from './messages/messages';
import { settingsForm } from './model-settings';
import { shown } from './shown';

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

/** What is wrong with the options of a run, as far as known without agents and tools. */
export function runOptionsProblem(options: unknown): string | undefined {
  return isRecord(options) ? problemOfFields(options, runForms) : `they must be an object, not ${shown(options)}`;
}

/** The options for an agent. Its own win over those for all; options of a tool merge by key. */
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
