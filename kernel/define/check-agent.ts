import type { Fields, Forms, Refuse } from '../../contract/check';
import {
  anything,
  checkFields,
  flag,
  form,
  func,
  identifier,
  isFunction,
  isRecord,
  isString,
  list,
  listOf,
  oneOf,
  problemOf,
  problemOfKnown,
  record,
  refusing,
  required,
  sentence,
  shape,
  text,
  texts,
  worded,
} from '../../contract/check';
import { takenToolsForm } from '../../contract/client-tools';
import { modelSettings } from '../../contract/model-settings';
import { defined } from '../../contract/defined';
import { nameProblem } from '../../contract/names';
import type { Aliases } from '../../contract/run-options';
import { toolAliasesForm } from '../../contract/run-options';
import { cut, shown } from '../../contract/shown';
import { classicFields, isClassic, isNumbered, toolCallWraps } from './classic-middleware';
import { iterationLimit } from './iteration-limits';
import { traitsOf } from './traits';
import { checkNamedTools } from './named-tools';
import { failoverForm, retryForm } from './retry-options';
import { similarNames } from '../../contract/similar-names';
import { misfitOfAlias } from '../../contract/schema/arguments-of-schema';
import type { OwnTool } from './definition';

type OwnTools = ReadonlyMap<string, OwnTool>;

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

const toolNames = worded(texts, 'an array of tool names');

const middlewareForms: Forms = {
  ...Object.fromEntries(hooks.map((hook) => [hook, func])),
  onlyTools: toolNames,
  callsTools: toolNames,
  asksAbout: toolNames,
  onlyKinds: listOf(oneOf('invokable', 'streamable', 'enhanced', 'enhanced-streamable'), 'an array of kinds of tools'),
  tools: worded(list, 'an array of workflow tools'),
  onWorker: record,
  changesOutput: flag,
};

const middlewareFields: readonly string[] = [
  ...hooks,
  ...['name', 'options', 'onWorker', 'changesOutput', 'retry', 'failover', 'tools', 'onlyTools', 'callsTools', 'asksAbout', 'onlyKinds'],
];

export const agentForms: Forms = {
  name: required(identifier),
  description: required(text),
  instructions: required(text),
  model: required(form((value) => isString(value) && value !== '', 'the name of a model')),
  tools: required(worded(texts, 'an array of tool names, possibly empty')),
  settings: modelSettings,
  prompt: func,
  inputSchema: anything,
  outputKey: form(
    (value) => isString(value) && value !== '' && value !== '__proto__',
    'the key of a session value: a string that is not empty, and not "__proto__"',
  ),
  historyRewriter: worded(func, 'a function: (history, agent) => messages'),
  disallowTransferToParent: flag,
  output: identifier,
  middleware: list,
  toolCallMiddlewares: list,
  maxIterations: iterationLimit,
  maxToolIterations: iterationLimit,
  language: text,
  clientTools: takenToolsForm,
  returnDirectly: toolNames,
  exitTool: flag,
  sequentialTools: flag,
  toolErrors: oneOf('return', 'fail'),
  unknownTool: func,
  toolArguments: func,
  toolAliases: toolAliasesForm,
  retry: retryForm,
  failover: failoverForm,
  subAgents: anything,
};

export function checkAgentOptions(options: unknown, ownTools: OwnTools): void {
  if (!isRecord(options))
    return refusing('defineAgent')(
      `the options must be an object with name, description, instructions, model and tools, not ${shown(options)}.`,
    );
  const refuse = refusing(agentLabel(options['name']));
  checkFields(defined(options), agentForms, refuse);
  const tools = options['tools'] as readonly string[];
  checkTools(tools, refuse);
  const middleware = (options['middleware'] ?? []) as readonly unknown[];
  checkMiddleware(middleware, refuse);
  for (const layer of middleware as readonly Fields[]) {
    const misfit = traitsOf(layer).problemIn?.({ model: options['model'] as string });
    if (misfit !== undefined) refuse(`the middleware "${cut(String(layer['name']))}": ${misfit}`);
  }
  ((options['toolCallMiddlewares'] ?? []) as readonly unknown[]).forEach((wraps, position) =>
    checkToolCallMiddleware(wraps, `toolCallMiddlewares[${position}]`, refuse),
  );
  const added = (middleware as readonly Fields[]).flatMap(({ additionalTools = [] }) => additionalTools as readonly string[]);
  const all = [...new Set([...tools, ...added])];
  checkNamedTools(all, middleware as readonly Fields[], options['exitTool'] === true, refuse);
  checkAliases({ tools: all, ownTools, aliases: (options['toolAliases'] ?? {}) as Aliases, refuse });
  checkRetries(options, refuse);
}

export function agentLabel(name: unknown): string {
  return isString(name) ? `Agent "${cut(name)}"` : 'An agent without a name';
}

/** Only one middleware may decide about another model call. */
function checkRetries(options: Fields, refuse: Refuse): void {
  for (const [field, one] of Object.entries({ retry: retryForm, failover: failoverForm })) {
    const layers = ((options['middleware'] ?? []) as readonly Fields[]).filter((layer) => layer[field] !== undefined);
    for (const layer of layers) {
      const problem = problemOf(one, layer[field], `${field} of the middleware "${cut(String(layer['name']))}"`);
      if (problem !== undefined) refuse(sentence(problem));
    }
    const given = [
      ...(options[field] === undefined ? [] : ['the agent itself']),
      ...layers.map(({ name }) => `the middleware "${String(name)}"`),
    ];
    if (given.length > 1) refuse(`${given.join(' and ')} say when another model call is made (${field}); keep one of them.`);
  }
}

function checkTools(tools: readonly string[], refuse: Refuse): void {
  for (const tool of tools) {
    const problem = nameProblem(tool);
    if (problem !== undefined) refuse(`the tool "${cut(tool)}" has no name that a tool can have: ${problem}.`);
  }
  if (new Set(tools).size !== tools.length) refuse('a tool is named twice.');
}

function checkMiddleware(middleware: readonly unknown[], refuse: Refuse): void {
  const seen = new Set<string>();
  middleware.forEach((layer, position) => {
    const entry = `middleware[${position}]`;
    if (!isRecord(layer)) return refuse(`${entry} must be a middleware, not ${shown(layer)}.`);
    if (isClassic(layer)) checkClassic(layer, entry, refuse);
    const { name } = layer;
    const { onlyOne } = traitsOf(layer);
    if (onlyOne !== undefined && middleware.findIndex((other) => isRecord(other) && isNumbered(other) && other['name'] === name) < position)
      refuse(`the middleware "${String(name)}" stands in the list twice. ${onlyOne}`);
    if (isNumbered(layer) || (isClassic(layer) && name === undefined)) return;
    if (!isString(name) || name === '') return refuse(`${entry} has no name; every middleware needs one.`);
    if (seen.has(name)) refuse(`the middleware "${cut(name)}" stands in the list twice; names must differ.`);
    seen.add(name);
    const problem = problemOfKnown(layer, middlewareForms, (field) => `${field} of the middleware "${cut(name)}"`);
    if (problem !== undefined) refuse(sentence(problem));
    if (!isClassic(layer)) checkHookNames(name, layer, refuse);
  });
}

/** A misspelt hook would never be called. */
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
  const problem = problemOfKnown(layer, classicForms, (field) => `${entry}.${field}`);
  if (problem !== undefined) refuse(sentence(problem));
  const { additionalTools = [], wrapToolCall } = layer;
  checkTools(additionalTools as readonly string[], refuse);
  if (wrapToolCall !== undefined) checkToolCallMiddleware(wrapToolCall, `${entry}.wrapToolCall`, refuse);
}

const classicForms: Forms = { additionalInstruction: text, additionalTools: toolNames, beforeChatModel: func, afterChatModel: func };

const wrapsForm = shape({
  name: form((value) => isString(value) && value !== '', 'a string that is not empty'),
  ...Object.fromEntries(Object.keys(toolCallWraps).map((kind) => [kind, func])),
});

function checkToolCallMiddleware(wraps: unknown, what: string, refuse: Refuse): void {
  if (isFunction(wraps)) return;
  const wanted = `a function, or an object with ${Object.keys(toolCallWraps).join(', ')}`;
  const problem = worded(wrapsForm, wanted).problem(wraps, what);
  if (problem !== undefined) refuse(sentence(problem));
  if (!Object.keys(toolCallWraps).some((kind) => kind in (wraps as Fields))) refuse(`${what} must be ${wanted}. It has none of them.`);
}

interface GivenAliases {
  readonly tools: readonly string[];
  readonly ownTools: OwnTools;
  readonly aliases: Aliases;
  readonly refuse: Refuse;
}

export function checkAliases({ tools, ownTools, aliases, refuse }: GivenAliases): void {
  const taken = new Map<string, string>();
  for (const [tool, { names = [], arguments: keys = {} }] of Object.entries(aliases)) {
    if (!tools.includes(tool)) continue;
    for (const name of names) {
      if (name.trim() === '') refuse(`tool "${tool}" has an empty alias.`);
      if (name === tool) continue;
      if (tools.includes(name)) refuse(`the alias "${cut(name)}" of tool "${tool}" is the name of another tool.`);
      if (taken.has(name)) refuse(`the alias "${cut(name)}" stands for both "${taken.get(name)}" and "${tool}".`);
      taken.set(name, tool);
    }
    checkArgumentAliases(tool, keys, refuse);
    checkArguments(ownTools.get(tool), keys, refuse);
  }
}

function checkArgumentAliases(tool: string, aliases: Readonly<Record<string, readonly string[]>>, refuse: Refuse): void {
  const taken = new Map<string, string>();
  for (const [canonical, others] of Object.entries(aliases)) {
    if (canonical.trim() === '')
      refuse(`toolAliases of "${cut(tool)}" has aliases for the argument "${cut(canonical)}"; write the name of an argument of the tool.`);
    if (canonical.includes('.')) refuse(`the argument "${cut(canonical)}" of tool "${tool}" has a dot; only top-level keys have aliases.`);
    for (const key of others) {
      if (key.trim() === '') refuse(`the argument "${cut(canonical)}" of tool "${tool}" has an empty alias.`);
      if (taken.has(key))
        refuse(`the argument alias "${cut(key)}" of tool "${tool}" stands for both "${taken.get(key)}" and "${canonical}".`);
      taken.set(key, canonical);
    }
  }
}

function checkArguments(own: OwnTool | undefined, aliases: object, refuse: Refuse): void {
  for (const argument of own === undefined ? [] : Object.keys(aliases)) {
    const misfit = misfitOfAlias(own?.spec.name ?? '', argument, own?.spec.inputSchema);
    if (misfit !== undefined) refuse(misfit);
  }
}
