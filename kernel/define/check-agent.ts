import { HoldfastError } from '../../contract/errors';
import { nameProblem } from '../../contract/names';
import { cut } from '../../contract/shown';
import { classicFields, isClassic, isNumbered, toolCallWraps } from './classic-middleware';
import { checkRetryOptions } from './check-retry';
import { settingsMisfit } from './check-settings';
import { traitsOf } from './traits';
import { isLimit } from './limit-options';
import { checkNamedTools } from './named-tools';
import { similarNames } from './similar-names';

type Refuse = (problem: string) => never;
type Fields = Readonly<Record<string, unknown>>;

const hooks = [
  'beforeAgent',
  'beforeModelRewriteState',
  'afterModelRewriteState',
  'wrapModel',
  'wrapToolCall',
  'afterToolCalls',
  'afterAgent',
  'afterFailure',
  'onStart',
  'onEnd',
  'onError',
] as const;

const middlewareFields: readonly string[] = [
  ...hooks,
  ...['name', 'options', 'half', 'changesOutput', 'retry', 'failover', 'tools', 'onlyTools', 'callsTools', 'onlyKinds'],
];

/** Refuses what defines no agent, and names the agent and the field. Who writes TypeScript meets little of it. */
export function checkAgentOptions(options: unknown): void {
  if (!isRecord(options))
    throw new HoldfastError('agent-invalid', 'defineAgent takes an object with name, description, instructions, model and tools.');
  const { name } = options;
  const refuse: Refuse = (problem) => {
    throw new HoldfastError(
      'agent-invalid',
      `${typeof name === 'string' ? `Agent "${cut(name)}"` : 'An agent without a name'}: ${problem}`,
    );
  };
  const wrongName = nameProblem(name);
  if (wrongName !== undefined) refuse(`${wrongName}.`);
  checkKnown(options, agentFields, refuse);
  for (const [field, [fits, form]] of Object.entries(forms)) if (!fits(options[field])) refuse(form);
  const unfit = settingsMisfit(options['settings']);
  if (unfit !== undefined) refuse(unfit);
  const tools = options['tools'] as readonly string[];
  checkTools(tools, refuse);
  const middleware = (options['middleware'] ?? []) as readonly unknown[];
  checkMiddleware(middleware, refuse);
  for (const layer of middleware as readonly Fields[]) {
    const misfit = traitsOf(layer).problemIn?.({ model: options['model'] as string });
    if (misfit !== undefined) refuse(`the middleware "${cut(String(layer['name']))}": ${misfit}`);
  }
  ((options['toolCallMiddlewares'] ?? []) as readonly unknown[]).forEach((wraps, position) =>
    checkToolCallMiddleware(wraps, `entry ${position + 1} of toolCallMiddlewares`, refuse),
  );
  const added = (middleware as readonly Fields[]).flatMap(({ additionalTools = [] }) => additionalTools as readonly string[]);
  const all = [...new Set([...tools, ...added])];
  checkNamedTools(all, middleware as readonly Fields[], options['exitTool'] === true, refuse);
  checkAliases(all, (options['toolAliases'] ?? {}) as Fields, refuse);
  checkRetryOptions(options, refuse);
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isTexts = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every(isText);
const optional =
  (fits: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    value === undefined || fits(value);
const isFunction = optional((value) => typeof value === 'function');
const isSwitch = optional((value) => typeof value === 'boolean');

const limitForm = 'a whole number of at least 1, or { limit, finalize } with such a number, and true or what the model is told.';

const forms: Readonly<Record<string, readonly [(value: unknown) => boolean, string]>> = {
  description: [isText, 'description is required; it is a text.'],
  instructions: [isText, 'instructions are required; they are a text, possibly empty.'],
  model: [(value) => isText(value) && value !== '', 'model is required; it names a model.'],
  tools: [isTexts, 'tools are required; they are a list of names of tools, possibly empty.'],
  settings: [optional(isRecord), 'settings are an object.'],
  prompt: [isFunction, 'prompt is a function.'],
  outputKey: [
    optional((value) => isText(value) && value !== '' && value !== '__proto__'),
    'outputKey is the key of a session value: a text that is not empty, and not "__proto__".',
  ],
  historyRewriter: [isFunction, 'historyRewriter is a function: (history, agent) => messages.'],
  disallowTransferToParent: [isSwitch, 'disallowTransferToParent is true or false.'],
  output: [optional((value) => nameProblem(value) === undefined), 'output is the name of a schema among the outputs of the worker.'],
  middleware: [optional(Array.isArray), 'middleware is a list.'],
  toolCallMiddlewares: [optional(Array.isArray), 'toolCallMiddlewares are a list.'],
  maxIterations: [optional(isLimit), `maxIterations is ${limitForm}`],
  maxToolIterations: [optional(isLimit), `maxToolIterations is ${limitForm}`],
  language: [optional(isText), 'language is a text.'],
  returnDirectly: [optional(isTexts), 'returnDirectly is a list of names of tools.'],
  exitTool: [isSwitch, 'exitTool is true or false.'],
  sequentialTools: [isSwitch, 'sequentialTools is true or false.'],
  toolErrors: [optional((value) => value === 'return' || value === 'fail'), 'toolErrors is "return" or "fail".'],
  unknownTool: [isFunction, 'unknownTool is a function.'],
  toolArguments: [isFunction, 'toolArguments is a function.'],
  toolAliases: [optional(isRecord), 'toolAliases is an object with the aliases of each tool.'],
};

/** What `defineAgent` looks at. */
export const agentFields: readonly string[] = ['name', ...Object.keys(forms), 'retry', 'failover', 'subAgents'];

/** A misspelt option would do nothing, and nobody would see it. */
export function checkKnown(options: object, known: readonly string[], refuse: Refuse): void {
  const other = Object.entries(options).find(([field, value]) => value !== undefined && !known.includes(field))?.[0];
  if (other === undefined) return;
  const [meant] = similarNames(other, known);
  refuse(`there is no option "${cut(other)}"; ${meant === undefined ? `there are ${known.join(', ')}.` : `did you mean ${meant}?`}`);
}

function checkTools(tools: readonly string[], refuse: Refuse): void {
  const mcp = tools.find((tool) => tool.startsWith('mcp:'));
  if (mcp !== undefined) refuse(`"${cut(mcp)}": tools of MCP servers are not available in this version.`);
  for (const tool of tools) {
    const problem = nameProblem(tool);
    if (problem !== undefined) refuse(`the tool "${cut(tool)}" has no name that a tool can have: ${problem}.`);
  }
  if (new Set(tools).size !== tools.length) refuse('a tool is named twice.');
}

function checkMiddleware(middleware: readonly unknown[], refuse: Refuse): void {
  const seen = new Set<string>();
  middleware.forEach((layer, position) => {
    if (!isRecord(layer)) return refuse(`entry ${position + 1} of middleware is ${said(layer)}, not a middleware.`);
    if (isClassic(layer)) checkClassic(layer, `entry ${position + 1} of middleware`, refuse);
    const { name, onlyTools, callsTools } = layer;
    const { onlyOne } = traitsOf(layer);
    if (onlyOne !== undefined && middleware.findIndex((other) => isRecord(other) && isNumbered(other) && other['name'] === name) < position)
      refuse(`the middleware "${String(name)}" stands in the list twice. ${onlyOne}`);
    if (isNumbered(layer) || (isClassic(layer) && name === undefined)) return;
    if (!isText(name) || name === '') return refuse(`entry ${position + 1} of middleware has no name; every middleware needs a name.`);
    if (seen.has(name)) refuse(`the middleware "${cut(name)}" stands in the list twice; names must differ.`);
    seen.add(name);
    const wrong = hooks.find((hook) => layer[hook] !== undefined && typeof layer[hook] !== 'function');
    if (wrong !== undefined) refuse(`${wrong} of the middleware "${cut(name)}" is no function.`);
    if (!isClassic(layer)) checkHookNames(name, layer, refuse);
    if (onlyTools !== undefined && !isTexts(onlyTools)) refuse(`onlyTools of the middleware "${cut(name)}" is a list of names of tools.`);
    if (callsTools !== undefined && !isTexts(callsTools))
      refuse(`callsTools of the middleware "${cut(name)}" is a list of names of tools.`);
  });
}

/** A misspelt hook would never be called, and nobody would see it. What is no hook may stand there: a middleware may have fields of its own. */
function checkHookNames(name: string, layer: Fields, refuse: Refuse): void {
  const isPlain = [null, Object.prototype].includes(Object.getPrototypeOf(layer) as null);
  for (const field of namesIn(layer)) {
    if (middlewareFields.includes(field) || (!isPlain && typeof layer[field] !== 'function')) continue;
    const [meant] = similarNames(field, middlewareFields);
    const isHook = typeof layer[field] === 'function' && /^(before|after|wrap|on)[A-Z]/.test(field);
    if (meant !== undefined) refuse(`the middleware "${cut(name)}" has a "${cut(field)}", which is never called. Did you mean "${meant}"?`);
    if (isHook)
      refuse(`the middleware "${cut(name)}" has a "${cut(field)}", which is never called. Its hooks may be: ${hooks.join(', ')}.`);
  }
}

/** Of the object itself, and of the classes that it is made of. */
function namesIn(layer: object): readonly string[] {
  const found = new Set<string>();
  for (let at: unknown = layer; at !== null && at !== Object.prototype; at = Object.getPrototypeOf(at))
    for (const field of Object.getOwnPropertyNames(at)) if (field !== 'constructor') found.add(field);
  return [...found];
}

function checkClassic(layer: Fields, entry: string, refuse: Refuse): void {
  const own = ['name', 'wrapToolCall', ...classicFields];
  const other = Object.keys(layer).find((field) => !own.includes(field));
  if (other !== undefined)
    refuse(
      `${entry} has ${classicFields.find((field) => field in layer) ?? 'wrapToolCall by kinds'} and also ${cut(other)}; a middleware has one form.`,
    );
  const { additionalInstruction, additionalTools, beforeChatModel, afterChatModel, wrapToolCall } = layer;
  if (!optional(isText)(additionalInstruction)) refuse(`additionalInstruction of ${entry} is a text.`);
  if (!optional(isTexts)(additionalTools)) refuse(`additionalTools of ${entry} are a list of names of tools.`);
  if (additionalTools !== undefined) checkTools(additionalTools as readonly string[], refuse);
  if (!isFunction(beforeChatModel)) refuse(`beforeChatModel of ${entry} is no function.`);
  if (!isFunction(afterChatModel)) refuse(`afterChatModel of ${entry} is no function.`);
  if (wrapToolCall !== undefined) checkToolCallMiddleware(wrapToolCall, `wrapToolCall of ${entry}`, refuse);
}

function checkToolCallMiddleware(wraps: unknown, what: string, refuse: Refuse): void {
  if (typeof wraps === 'function') return;
  const kinds = Object.keys(toolCallWraps);
  const form = `${what} is a function, or an object with ${kinds.join(', ')}.`;
  if (!isRecord(wraps)) return refuse(form);
  const { name, ...byKind } = wraps;
  if (!optional((value) => isText(value) && value !== '')(name)) refuse(`the name of ${what} is a text.`);
  const wrong = Object.entries(byKind).some(([field, wrap]) => !kinds.includes(field) || !isFunction(wrap));
  if (wrong || Object.keys(byKind).length === 0) refuse(form);
}

export function checkAliases(tools: readonly string[], aliases: Fields, refuse: Refuse): void {
  const taken = new Map<string, string>();
  for (const [tool, alias] of Object.entries(aliases)) {
    if (!isRecord(alias)) return refuse(`toolAliases of "${cut(tool)}" is an object with names and arguments.`);
    const { names = [], arguments: keys = {} } = alias;
    if (!isTexts(names)) return refuse(`the names in toolAliases of "${cut(tool)}" are no list of texts.`);
    if (!isRecord(keys)) return refuse(`the arguments in toolAliases of "${cut(tool)}" are no object.`);
    if (!tools.includes(tool)) continue;
    for (const name of names) {
      if (name.trim() === '') refuse(`tool "${tool}" has an empty alias.`);
      if (name === tool) continue;
      if (tools.includes(name)) refuse(`the alias "${cut(name)}" of tool "${tool}" is the name of another tool.`);
      if (taken.has(name)) refuse(`the alias "${cut(name)}" stands for both "${taken.get(name)}" and "${tool}".`);
      taken.set(name, tool);
    }
    checkArgumentAliases(tool, keys, refuse);
  }
}

function checkArgumentAliases(tool: string, aliases: Fields, refuse: Refuse): void {
  const taken = new Map<string, string>();
  for (const [canonical, others] of Object.entries(aliases)) {
    if (canonical.trim() === '')
      refuse(`toolAliases of "${cut(tool)}" has aliases for the argument "${cut(canonical)}"; write the name of an argument of the tool.`);
    if (canonical.includes('.')) refuse(`the argument "${cut(canonical)}" of tool "${tool}" has a dot; only top-level keys have aliases.`);
    if (!isTexts(others)) return refuse(`the aliases of the argument "${cut(canonical)}" of tool "${tool}" are no list of texts.`);
    for (const key of others) {
      if (key.trim() === '') refuse(`the argument "${cut(canonical)}" of tool "${tool}" has an empty alias.`);
      if (taken.has(key))
        refuse(`the argument alias "${cut(key)}" of tool "${tool}" stands for both "${taken.get(key)}" and "${canonical}".`);
      taken.set(key, canonical);
    }
  }
}

function said(value: unknown): string {
  return value === null ? 'null' : value === undefined ? 'undefined' : `a ${Array.isArray(value) ? 'list' : typeof value}`;
}

function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
