import type { ConnectionLike } from '@temporalio/client';
import type { DataConverter, LoadedDataConverter } from '@temporalio/common';
import type { LoopWatch } from '../activities/health/loop-watch';
import { RedisLink } from '../activities/limits/redis-turns';
import { Turns } from '../activities/limits/turns';
import type { McpServerOptions } from '../activities/mcp/options';
import { McpServers } from '../activities/mcp/servers';
import type { ModelsOptions } from '../activities/models/models';
import { ModelRegistry } from '../activities/models/models';
import type { WorkerParts } from '../activities/parts';
import { defaultModelFacts } from '../activities/parts';
import { policiesOf } from '../activities/policies';
import { OutputRegistry } from '../activities/schemas/outputs';
import { ToolRegistry, defaultToolFacts } from '../activities/tools/tools';
import { MessageStore } from '../activities/transcripts/message-store';
import { Observers } from '../activities/worker-middleware/observers';
import type { WorkerMiddleware } from '../activities/worker-middleware/worker-middleware';
import { WorkerMiddlewareRegistry } from '../activities/worker-middleware/worker-middleware';
import { defined } from '../contract/defined';
import { millisecondsOf } from '../contract/duration';
import type { DeltaSink } from '../contract/deltas';
import type { HoldfastError } from '../contract/errors';
import type { Language, ModelFacts, ToolFacts } from '../contract/manifest';
import type { Observer } from '../contract/observed';
import { processBus } from '../host/event-bus';
import type { FactEvent } from '../host/history/history-facts';
import type { HistorySource } from '../host/history/history-pages';
import { loadedConverter } from '../host/payloads/loaded-converter';
import { answerLookup } from './answer-lookup';
import { builtInWorkerMiddleware } from './built-in-worker-middleware';
import { runHistory } from './run-history';
import { newestBuildTrials } from './builds/upgrade';

export interface PartsOptions {
  readonly tools: Readonly<Record<string, unknown>>;
  /** The schemas that agents name as their `output`. */
  readonly outputs?: Readonly<Record<string, unknown>>;
  /** The policies that agents name with `approvalsBy`. */
  readonly policies?: Readonly<Record<string, unknown>>;
  /** MCP servers by their names. Agents name the tool `pay` of the server `company` as `company_pay`. */
  readonly mcp?: Readonly<Record<string, McpServerOptions>>;
  readonly middleware?: readonly WorkerMiddleware[];
  /** Observe the model and tool calls of this worker, inside all worker middleware. */
  readonly observers?: readonly Observer[];
  readonly models?: ModelsOptions;
  readonly language?: Language;
  readonly toolDefaults?: Partial<ToolFacts>;
  readonly modelFacts?: Partial<ModelFacts>;
  /** A Redis by which all workers of the task queue share the limits of models and tools. Default: limits of each worker. */
  readonly redisUrl?: string;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Receives tokens while a call runs. Default: the readers of this process. */
  readonly deltas?: DeltaSink;
  /** Milliseconds of silence in a model's stream before the call is repeated. Default 5 minutes. */
  readonly modelStallMs?: number;
  /** Memory for transcripts, which are otherwise read from the history. Default 64 MB. */
  readonly messageCacheBytes?: number;
  /** Called once for each problem that needs a person, such as open runs whose code is missing. Default: a line on stderr. */
  readonly onProblem?: (problem: HoldfastError) => void;
}

export interface PartsServer {
  readonly source: HistorySource<FactEvent>;
  readonly connection: () => ConnectionLike;
  /** A user's own Worker has these values only after its creation. */
  readonly taskQueue: () => string;
  readonly dataConverter: () => DataConverter | undefined;
  readonly loop?: LoopWatch;
  readonly redis?: RedisLink | undefined;
}

/** `before`: the parts so far, whose transcripts and turns of unchanged limits are kept. */
export function partsOf(options: PartsOptions, server: PartsServer, before?: WorkerParts): WorkerParts {
  const toolDefaults: ToolFacts = { ...defaultToolFacts, ...options.toolDefaults };
  const { source, connection, taskQueue, dataConverter, loop, redis } = server;
  const { limits = {}, patience } = options.models ?? {};
  const converter = (): LoadedDataConverter => loadedConverter(dataConverter());
  const tools = new ToolRegistry(options.tools, toolDefaults);
  return {
    tools,
    turns: new Turns(limits, redis === undefined ? undefined : (name, limit) => redis.turnsOf(name, limit), undefined, before?.turns),
    models: new ModelRegistry(options.models, options.environment),
    middleware: new WorkerMiddlewareRegistry(options.middleware ?? [], builtInWorkerMiddleware()),
    outputs: new OutputRegistry(options.outputs ?? {}),
    policies: policiesOf(options.policies),
    observers: new Observers(options.observers, options.onProblem),
    ...(options.mcp === undefined && before?.mcp === undefined ? {} : { mcp: new McpServers(options.mcp ?? {}, before?.mcp) }),
    ...defined({ loop, onProblem: options.onProblem }),
    messages: before?.messages ?? new MessageStore(runHistory(source, converter), options.messageCacheBytes),
    deltas: options.deltas ?? processBus,
    stallMs: options.modelStallMs ?? 300_000,
    answers: answerLookup(source, converter),
    tryNewestBuild: (input) => newestBuildTrials(connection(), source.namespace, taskQueue(), dataConverter())(input),
    language: options.language ?? 'en',
    toolDefaults,
    modelFacts: {
      ...defaultModelFacts,
      ...(patience === undefined ? {} : { patienceMs: millisecondsOf(patience, 'config-invalid') }),
      ...options.modelFacts,
    },
  };
}

export async function openRedis(
  { redisUrl, models, tools, toolDefaults, onProblem = () => undefined }: PartsOptions,
  queue: string,
): Promise<RedisLink | undefined> {
  const isLimited =
    models?.limits !== undefined ||
    toolDefaults?.concurrency !== undefined ||
    Object.values(tools).some((tool) => (tool as { concurrency?: unknown } | null)?.concurrency !== undefined);
  return redisUrl === undefined || !isLimited ? undefined : RedisLink.open(redisUrl, queue, onProblem);
}

export async function partsReady({ tools, outputs }: WorkerParts): Promise<void> {
  await tools.ready();
  await outputs.ready();
}

/** The time that a shutdown waits, in milliseconds. */
export function longestTool({ tools, mcp, toolDefaults }: WorkerParts): number {
  return Math.max(...tools.names.map((name) => tools.factsOf(name)?.timeoutMs ?? 0), mcp?.longest(toolDefaults.timeoutMs) ?? 0, 10_000);
}
