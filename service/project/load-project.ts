import { existsSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import type { z } from 'zod';
import { ModelRegistry } from '../../activities/models/models';
import { policiesOf } from '../../activities/policies';
import { OutputRegistry } from '../../activities/schemas/outputs';
import { ToolRegistry } from '../../activities/tools/tools';
import { Observers } from '../../activities/worker-middleware/observers';
import { WorkerMiddlewareRegistry } from '../../activities/worker-middleware/worker-middleware';
import { builtInWorkerMiddlewareNames } from '../../contract/built-in-worker-middleware';
import type { TakenTools } from '../../contract/client-tools';
import { takenTogether } from '../../contract/client-tools';
import { defined } from '../../contract/defined';
import type { ErrorCode } from '../../contract/errors';
import { HoldfastError, codeOf, messageOf } from '../../contract/errors';
import type { Json } from '../../contract/messages/messages';
import type { AnyAgent, AgentDefinition } from '../../kernel/define/definition';
import { traitsOf } from '../../kernel/define/traits';
import { isChat, jobTaker, reachable } from '../../kernel/define/definition';
import { agentsOf } from '../../kernel/define/agents-of-module';
import { mcpServerOf } from '../../contract/mcp-names';
import { policySourceOf } from '../../contract/policies';
import { withSandboxHint } from '../../contract/sandbox-lacks';
import { similarNames } from '../../contract/similar-names';
import { loadModule as loadOnce } from './load-module';
import type { ProjectFacts } from '../../contract/service-facts';
import type { ProjectConfig } from './project-config';
import { ProjectConfigSchema } from './project-config';
import { projectFacts } from './project-facts';

export interface AgentSummary {
  readonly name: string;
  readonly description: string;
  /** The input is a job, with a prompt or a schema. */
  readonly takesJob: boolean;
  readonly inputSchema?: Json;
  /** The input in `example` of the configuration. */
  readonly example?: string;
  /** Tools of the project, and workflow tools of its agents. Undefined: only workers know the tools. */
  readonly tools?: readonly string[];
  /** MCP servers, whose tools only workers know. Absent: none. */
  readonly mcp?: readonly string[];
  /** Accepted tools of clients. Absent: none. */
  readonly clientTools?: TakenTools;
}

export interface Project {
  /** Absolute path of the configuration file. */
  readonly file: string;
  readonly config: ProjectConfig;
  /** Absolute. */
  readonly agentsFile: string;
  readonly agents: readonly AgentSummary[];
  readonly models: readonly string[];
  readonly facts: ProjectFacts;
}

export type ModuleLoader = (path: string) => Promise<Record<string, unknown>>;

const patienceMs = 60_000;

export const configurationNames = ['ts', 'mts', 'cts', 'js', 'mjs', 'cjs'].map((extension) => `holdfast.config.${extension}`);

/**
 * Loads a project, and refuses parts that a worker would refuse.
 * @example
 * const { agents, config } = await loadProject('holdfast.config.ts');
 * const policies = () => config.policies;
 * const app = createApp({ client, agents, policies, logger: createLogger() });
 */
export async function loadProject(path?: string, directory: string = process.cwd(), loadModule: ModuleLoader = loadOnce): Promise<Project> {
  const file = findConfiguration(path, directory);
  const config = checkedConfig(await loadConfiguration(file, loadModule), file);
  const agentsFile = resolve(dirname(file), config.agents);
  if (!existsSync(agentsFile)) throw new HoldfastError('config-invalid', `${file}: \`agents\` names ${agentsFile}, which does not exist.`);
  const agents = await loadAgents(agentsFile, loadModule);
  const models = new ModelRegistry(config.models);
  const chats = chatsOf(agents.values());
  for (const agent of chats) checkChatAgent(agent, config, agentsFile, file);
  checkPolicies(config, chats, file);
  for (const agent of chats) checkModel(agent, models, agentsFile, file);
  await checkParts(config, file);
  const { example } = config;
  if (example !== undefined && !agents.has(example.agent))
    throw new HoldfastError('config-invalid', `${file}: \`example.agent\` is "${example.agent}", which ${agentsFile} does not export.`);
  for (const [name, { start, batch }] of Object.entries(config.schedules ?? {})) {
    const { agent } = start ?? batch;
    if (!agents.has(agent))
      throw new HoldfastError('config-invalid', `${file}: the schedule "${name}" starts "${agent}", which ${agentsFile} does not export.`);
  }
  return {
    file,
    config,
    agentsFile,
    facts: projectFacts(agents, config, models),
    models: [...new Set(chats.map(({ model }) => model))],
    agents: [...agents.values()].map((agent) => summaryOf(agent, config)),
  };
}

function summaryOf(agent: AnyAgent, { tools, mcp, example }: ProjectConfig): AgentSummary {
  const { name, description } = agent;
  const job = jobTaker(agent);
  const chats = chatsOf([agent]);
  return {
    name,
    description,
    takesJob: job !== undefined,
    ...defined({
      inputSchema: job?.inputSchema,
      example: example?.agent === name ? example.input : undefined,
      clientTools: takenTogether(chats.map(({ clientTools }) => clientTools)),
    }),
    tools: toolsOf(tools, chats),
    ...(mcp === undefined ? {} : { mcp: Object.keys(mcp) }),
  };
}

function chatsOf(agents: Iterable<AnyAgent>): readonly AgentDefinition[] {
  return [...agents].flatMap(reachable).filter(isChat);
}

function toolsOf(tools: ProjectConfig['tools'], chats: readonly AgentDefinition[]): readonly string[] {
  return [...new Set([...Object.keys(tools ?? {}), ...chats.flatMap((chat) => [...chat.tools, ...chat.ownTools.keys()])])];
}

function findConfiguration(path: string | undefined, directory: string): string {
  if (path !== undefined) {
    const file = resolve(directory, path);
    if (!existsSync(file)) throw new HoldfastError('config-not-found', `There is no configuration file ${file}.`);
    return file;
  }
  const found = configurationNames.map((name) => join(directory, name)).find((candidate) => existsSync(candidate));
  if (found === undefined)
    throw new HoldfastError('config-not-found', `There is no holdfast.config.ts (or .mts, .cts, .js, .mjs, .cjs) in ${directory}.`);
  return found;
}

async function loadConfiguration(file: string, loadModule: ModuleLoader): Promise<unknown> {
  const refuse = (error: unknown): HoldfastError =>
    new HoldfastError('config-invalid', `${file} cannot be loaded: ${messageOf(error)}`, { cause: error });
  const module = await settled(() => loadModule(file), refuse);
  if (typeof module !== 'object' || module === null) return module;
  // The default may be a promise.
  if ('default' in module) return settled(async () => module['default'], refuse);
  // Other modules come from `module.exports = …`.
  if ('__esModule' in module || Object.prototype.toString.call(module) === '[object Module]') {
    throw new HoldfastError('config-invalid', `${file} has no default export. Write: export default defineConfig({ … }).`);
  }
  return module;
}

function checkedConfig(value: unknown, file: string): ProjectConfig {
  const parsed = readable(() => ProjectConfigSchema.safeParse(value), file);
  if (parsed.success) return parsed.data;
  throw new HoldfastError('config-invalid', `${file}: ${parsed.error.issues.map(issueText).join('; ')}.`);
}

/** A configuration may have getters that throw. */
function readable<T>(read: () => T, file: string): T {
  try {
    return read();
  } catch (error) {
    throw new HoldfastError('config-invalid', `${file} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

function issueText(issue: z.core.$ZodIssue): string {
  const field = issue.path.map(String).join('.');
  if (issue.code === 'unrecognized_keys') {
    const known = field === '' ? `; it has ${Object.keys(ProjectConfigSchema.shape).join(', ')}` : '';
    return `${issue.keys.map((key) => `\`${field === '' ? key : `${field}.${key}`}\``).join(', ')} is no field of a configuration${known}`;
  }
  if (field === '') return 'the default export is no configuration; write: export default defineConfig({ … })';
  if (field === 'agents') return '`agents` is required: the path of the agents module, such as "./agents.ts"';
  return `\`${field}\` ${issue.code === 'custom' || issue.code === 'invalid_union' ? issue.message : `is wrong: ${issue.message}`}`;
}

async function loadAgents(agentsFile: string, loadModule: ModuleLoader): Promise<ReadonlyMap<string, AnyAgent>> {
  const refuse = (error: unknown): HoldfastError => {
    const code = codeOf(error) === 'agent-invalid' ? 'agent-invalid' : 'agents-invalid';
    return new HoldfastError(code, `${agentsFile}: ${withSandboxHint(messageOf(error))}`, { cause: error });
  };
  const agents = agentsOf(await settled(() => loadModule(agentsFile), refuse));
  if (agents.size === 0)
    throw new HoldfastError('agents-invalid', `${agentsFile} exports no agent. Make one with defineAgent and export it.`);
  return agents;
}

function checkChatAgent(
  agent: AgentDefinition,
  { tools = {}, mcp = {}, middleware = [], outputs = {}, policies = {} }: ProjectConfig,
  agentsFile: string,
  file: string,
): void {
  const where = relative(dirname(file), agentsFile);
  const parts: readonly [ErrorCode, kind: string, option: keyof ProjectConfig, known: readonly string[], named: readonly string[]][] = [
    ['tool-unknown', 'tool', 'tools', Object.keys(tools), agent.tools.filter((name) => !agent.ownTools.has(name) && !isOfMcp(mcp, name))],
    ['output-unknown', 'output', 'outputs', Object.keys(outputs), agent.output === undefined ? [] : [agent.output]],
    ['policy-unknown', 'policy', 'policies', Object.keys(policies), agent.middleware.flatMap((layer) => traitsOf(layer).asksPolicy ?? [])],
    [
      'worker-half-missing',
      'worker middleware',
      'middleware',
      [...middleware.map(({ name }) => name), ...builtInWorkerMiddlewareNames],
      agent.workerMiddleware.map(({ name }) => name),
    ],
  ];
  for (const [code, kind, option, known, named] of parts) {
    const missing = named.find((name) => !known.includes(name));
    if (missing !== undefined)
      throw new HoldfastError(
        code,
        `${where}: the agent "${agent.name}" names the ${kind} "${missing}", which \`${option}\` of ${file} does not have. ${list(known)}`,
      );
  }
}

/** Only workers ask the servers for their tools. */
function isOfMcp(mcp: ProjectConfig['mcp'], tool: string): boolean {
  return mcpServerOf(Object.keys(mcp ?? {}), tool) !== undefined;
}

/** A policy would not hold a misspelt tool. */
function checkPolicies({ policies = {}, tools, mcp }: ProjectConfig, chats: readonly AgentDefinition[], file: string): void {
  const known = toolsOf(tools, chats);
  for (const [name, policy] of Object.entries(policies)) {
    const missing = policySourceOf(policy)?.tools.find((tool) => !known.includes(tool) && !isOfMcp(mcp, tool));
    if (missing === undefined) continue;
    const [meant] = similarNames(missing, known);
    throw new HoldfastError(
      'tool-unknown',
      `${file}: the policy "${name}" holds the tool "${missing}", which nobody has.${meant === undefined ? '' : ` Did you mean "${meant}"?`} ${list(known)}`,
    );
  }
}

function checkModel(agent: AgentDefinition, models: ModelRegistry, agentsFile: string, file: string): void {
  if (models.explains(agent.model) || mayReplaceModel(agent)) return;
  const [provider = '', ...rest] = agent.model.split('/');
  const meant =
    rest.length === 0
      ? similarNames(agent.model, models.names)
      : similarNames(provider, models.providerNames).map((name) => [name, ...rest].join('/'));
  const hint = meant.length === 0 ? '' : ` Did you mean ${meant.map((name) => `"${name}"`).join(' or ')}?`;
  const known = [...models.names, ...models.providerNames.map((name) => `${name}/…`)];
  throw new HoldfastError(
    'model-unknown',
    `${relative(dirname(file), agentsFile)}: the agent "${agent.name}" names the model "${agent.model}", which neither \`models\` of ${file} nor a provider has.${hint} There are: ${known.join(', ')}.`,
  );
}

/** Wraps around model calls and worker middleware may replace an unknown name. */
function mayReplaceModel({ middleware, workerMiddleware }: AgentDefinition): boolean {
  return workerMiddleware.length > 0 || middleware.some(({ wrapModel }) => wrapModel !== undefined);
}

function list(names: readonly string[]): string {
  return `It has: ${names.join(', ') || 'none'}.`;
}

/** Ends the wait for a promise that never settles after a minute, or when Node would end the process. */
async function settled<T>(work: () => Promise<T>, explain: (error: unknown) => HoldfastError): Promise<T> {
  let refuse: () => void = () => undefined;
  const never = new Promise<never>((_, reject) => {
    refuse = () => reject(new Error('it waits for something that never comes.'));
  });
  const timer = setTimeout(refuse, patienceMs).unref();
  process.once('beforeExit', refuse);
  try {
    return await Promise.race([work(), never]);
  } catch (error) {
    throw explain(error);
  } finally {
    clearTimeout(timer);
    process.off('beforeExit', refuse);
  }
}

/** A running service would hide a worker's error, so the load refuses the same parts. */
async function checkParts({ tools = {}, outputs = {}, middleware, observers, policies }: ProjectConfig, file: string): Promise<void> {
  try {
    const parts = [new ToolRegistry(tools), new OutputRegistry(outputs)];
    void [new WorkerMiddlewareRegistry(middleware ?? []), new Observers(observers), policiesOf(policies)];
    for (const part of parts) await part.ready();
  } catch (error) {
    throw new HoldfastError(codeOf(error) ?? 'config-invalid', `${file}: ${messageOf(error)}`, { cause: error });
  }
}
