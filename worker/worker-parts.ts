import type { ConnectionLike } from '@temporalio/client';
import type { DataConverter, LoadedDataConverter } from '@temporalio/common';
import { loadDataConverter } from './sdk-internals';
import type { LoopWatch } from '../activities/health/loop-watch';
import { RedisLink } from '../activities/limits/redis-turns';
import { Turns } from '../activities/limits/turns';
import { ModelRegistry } from '../activities/models/models';
import type { WorkerParts } from '../activities/parts';
import { defaultModelFacts } from '../activities/parts';
import { policiesOf } from '../activities/policies';
import { OutputRegistry } from '../activities/schemas/outputs';
import { ToolRegistry, defaultToolFacts } from '../activities/tools/tools';
import { MessageStore } from '../activities/transcripts/message-store';
import { Observers } from '../activities/worker-middleware/observers';
import { WorkerMiddlewareRegistry } from '../activities/worker-middleware/worker-middleware';
import { defined } from '../contract/defined';
import { millisecondsOf } from '../contract/duration';
import type { ToolFacts } from '../contract/manifest';
import { processBus } from '../host/event-bus';
import type { FactEvent } from '../host/history/history-facts';
import type { HistorySource } from '../host/history/history-pages';
import { answerLookup } from './answer-lookup';
import { builtInWorkerMiddleware } from './built-in-worker-middleware';
import type { WorkerOptions } from './create-worker';
import { runHistory } from './run-history';
import { newestBuildOf, newestBuildTrials } from './upgrade';

/** What of a worker's options its activities need. */
export type PartsOptions = Pick<
  WorkerOptions,
  | 'tools'
  | 'outputs'
  | 'policies'
  | 'middleware'
  | 'observers'
  | 'models'
  | 'language'
  | 'toolDefaults'
  | 'modelFacts'
  | 'environment'
  | 'redisUrl'
  | 'deltas'
  | 'modelStallMs'
  | 'messageCacheBytes'
  | 'onProblem'
>;

/** How activities reach the server. */
export interface PartsServer {
  readonly source: HistorySource<FactEvent>;
  readonly connection: () => ConnectionLike;
  /** What a Worker of one's own has is known when it has been made: these are asked when a call needs them. */
  readonly taskQueue: () => string;
  readonly dataConverter: () => DataConverter | undefined;
  readonly loop?: LoopWatch;
  /** Undefined: limits are not shared. */
  readonly redis?: RedisLink | undefined;
}

/** `before`: what the worker has worked with so far. Transcripts and the turns of limits that stay as they are go on. */
export function partsOf(options: PartsOptions, server: PartsServer, before?: WorkerParts): WorkerParts {
  const toolDefaults: ToolFacts = { ...defaultToolFacts, ...options.toolDefaults };
  const { source, connection, taskQueue, dataConverter, loop, redis } = server;
  const { limits = {}, patience } = options.models ?? {};
  const converter = (): LoadedDataConverter => loadDataConverter(dataConverter());
  const tools = new ToolRegistry(options.tools, toolDefaults);
  return {
    tools,
    turns: new Turns(limits, redis === undefined ? undefined : (name, limit) => redis.turnsOf(name, limit), undefined, before?.turns),
    models: new ModelRegistry(options.models, options.environment),
    middleware: new WorkerMiddlewareRegistry(options.middleware ?? [], builtInWorkerMiddleware()),
    outputs: new OutputRegistry(options.outputs ?? {}),
    policies: policiesOf(options.policies),
    observers: new Observers(options.observers, options.onProblem),
    ...defined({ loop, onProblem: options.onProblem }),
    messages: before?.messages ?? new MessageStore(runHistory(source, converter), options.messageCacheBytes),
    deltas: options.deltas ?? processBus,
    stallMs: options.modelStallMs ?? 300_000,
    answers: answerLookup(source, converter),
    tryNewestBuild: (input) => newestBuildTrials(connection(), source.namespace, taskQueue(), dataConverter())(input),
    newestBuild: (deployment) => newestBuildOf(connection(), source.namespace, deployment),
    language: options.language ?? 'en',
    toolDefaults,
    modelFacts: {
      ...defaultModelFacts,
      ...(patience === undefined ? {} : { patienceMs: millisecondsOf(patience, 'config-invalid') }),
      ...options.modelFacts,
    },
  };
}

/** Opens what limits are shared by, where there are limits. */
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

/** Checks what of the tools and outputs is known only after a while. */
export async function partsReady({ tools, outputs }: WorkerParts): Promise<void> {
  await tools.ready();
  await outputs.ready();
}

/** As long as the longest tool: what a shutdown waits for. */
export function longestTool({ tools }: WorkerParts): number {
  return Math.max(...tools.names.map((name) => tools.factsOf(name)?.timeoutMs ?? 0), 10_000);
}
