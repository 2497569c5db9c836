import { z } from 'zod';
import type { StorageDriver } from '@temporalio/common';
import type { ModelLimits } from '../../activities/limits/limit';
import { limitsForm } from '../../activities/limits/limit';
import type { McpServerOptions } from '../../activities/mcp/options';
import { McpSchema } from '../../activities/mcp/options';
import type { ModelProvider } from '../../activities/models/language-model';
import type { ModelsOptions } from '../../activities/models/models';
import type { WorkerMiddleware } from '../../activities/worker-middleware/worker-middleware';
import { duration } from '../../contract/check';
import { withoutCredentials } from '../../contract/credentials';
import type { Observer } from '../../contract/observed';
import type { ConfiguredSchedule } from '../../contract/schedules';
import { isTenant, tenantForm } from '../../contract/names';
import { problemOfPolicies } from '../../contract/policies';
import { problemOfSchedule } from '../../client/schedules/schedule-spec';
import { shown } from '../../contract/shown';
import { hostProblem, publicUrlProblem, taskQueueProblem } from '../../host/check-settings';
import type { A2aOptions } from '../a2a/push/targets';
import { A2aOptionsSchema } from '../a2a/push/targets';
import { AccessOptionsSchema } from '../access/options';
import type { AccessOptions } from '../access/parts';
import type { ModelPrices } from '../../contract/prices';
import type { AguiOptions } from '../agui/options';
import type { AiSdkUiOptions } from '../ai-sdk/parts';
import { AiSdkUiOptionsSchema } from '../ai-sdk/parts';
import { AguiOptionsSchema } from '../agui/options';
import { formed } from '../formed';
import type { FeedOptions } from '../feed/feed-options';
import { FeedOptionsSchema } from '../feed/feed-options';
import type { NotifyOptions } from '../notices/options';
import { NotifySchema } from '../notices/options';
import type { ServiceStore } from '../store/store';
import { StoreSchema } from '../store/store';
import type { TriggerOptions } from '../triggers/options';
import { TriggersSchema } from '../triggers/options';

/** Environment variables and flags override `taskQueue`, `tenant` and `http`. */
export interface ProjectConfig {
  /** Path of the agents module, from the configuration file. All exported agents are served. */
  readonly agents: string;
  readonly tools?: Readonly<Record<string, unknown>>;
  /** MCP servers by their names. Agents name the tool `pay` of the server `company` as `company_pay`. */
  readonly mcp?: Readonly<Record<string, McpServerOptions>>;
  /** Schemas that agents name as their `output`. */
  readonly outputs?: Readonly<Record<string, unknown>>;
  /** Policies that agents name with `approvalsBy`. */
  readonly policies?: Readonly<Record<string, object>>;
  /** Schedules that start runs or batches, by name. The service applies changes of the file at its start. */
  readonly schedules?: Readonly<Record<string, ConfiguredSchedule>>;
  /** Worker middleware that agents name with `onWorker`. */
  readonly middleware?: readonly WorkerMiddleware[];
  /** Observe the worker's model and tool calls. */
  readonly observers?: readonly Observer[];
  readonly models?: Omit<ModelsOptions, 'demo'> & {
    /** Prices of a million tokens by model, in any currency. Absent: runs have no cost. */
    readonly prices?: ModelPrices;
  };
  readonly taskQueue?: string;
  readonly tenant?: string;
  /** Language of Holdfast's texts for models. Default: en. */
  readonly language?: 'en' | 'zh';
  readonly http?: {
    readonly port?: number;
    readonly host?: string;
    /** URL by which people and other services reach the service, with the path of a proxy. Default: the address of the request. */
    readonly publicUrl?: string;
    /** More names in requests to a service on loopback. */
    readonly hosts?: readonly string[];
    /** Sites whose pages may use the service, such as 'https://desk.example.com'. '*': every page. Default: none. */
    readonly origins?: readonly string[];
    /** A run's page in Temporal's web UI, such as 'https://temporal.example.com/namespaces/{namespace}/workflows/{workflowId}'. */
    readonly temporalUi?: string;
  };
  /** Who may do what through the service. Absent: the service listens on loopback only, and names are claims. */
  readonly access?: AccessOptions;
  /** Where the service keeps keys, sessions, deliveries and the audit log. Default: files in HOLDFAST_DIR, or Redis with HOLDFAST_REDIS_URL. */
  readonly store?: ServiceStore;
  /** Collects the events of all runs for `GET /events`. */
  readonly feed?: FeedOptions;
  /** Webhooks that start runs, by the name in `POST /v1/triggers/NAME`. */
  readonly triggers?: Readonly<Record<string, TriggerOptions>>;
  /** Who is told that runs wait, end or are stuck. */
  readonly notify?: readonly NotifyOptions[];
  readonly agui?: AguiOptions;
  readonly aiSdk?: AiSdkUiOptions;
  readonly a2a?: A2aOptions;
  /** The proposal of `holdfast dev`. */
  readonly example?: { readonly agent: string; readonly input: string };
  /** Stores large snapshots. The embedded server has its own storage. */
  readonly storage?: StorageDriver;
  /** Compresses new data of runs; compressed data is always read. Default: with the embedded server only. */
  readonly compress?: boolean;
}

/**
 * Gives the types. The load checks the configuration.
 * @example
 * export default defineConfig({
 *   agents: 'agents.ts',
 *   tools,
 *   models: { names: { default: 'openai/gpt-5' } },
 * });
 */
export function defineConfig(config: ProjectConfig): ProjectConfig {
  return config;
}

function withMethods<T>(methods: readonly string[], problem: string): z.ZodType<T> {
  return z.custom<T>(
    (value) =>
      typeof value === 'object' &&
      value !== null &&
      methods.every((method) => typeof (value as Record<string, unknown>)[method] === 'function'),
    problem,
  );
}

function isTool(value: unknown): boolean {
  const { execute, stream, external } = (value ?? {}) as { execute?: unknown; stream?: unknown; external?: unknown };
  return typeof execute === 'function' || typeof stream === 'function' || external === true;
}

function isObserver(value: unknown): boolean {
  const { name, onStart, onEnd, onError } = (value ?? {}) as Partial<Record<keyof Observer, unknown>>;
  return typeof name === 'string' && [onStart, onEnd, onError].some((hook) => typeof hook === 'function');
}

function isSchema(value: unknown): boolean {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

function checkedText(problemOf: (text: string) => string | undefined): z.ZodType<string> {
  return z.string().superRefine((text, context) => {
    const problem = problemOf(text);
    if (problem !== undefined) context.addIssue({ code: 'custom', message: `is ${shown(withoutCredentials(text))}. ${problem}` });
  });
}

function isOrigin(text: string): boolean {
  return text === '*' || (URL.canParse(text) && new URL(text).origin === text);
}

function isPageOfRun(text: string): boolean {
  const filled = text.replaceAll('{workflowId}', 'x').replaceAll('{namespace}', 'x');
  return filled !== text && text.includes('{workflowId}') && URL.canParse(filled) && /^https?:$/.test(new URL(filled).protocol);
}

const price = z.number().min(0);

export const ProjectConfigSchema = z.strictObject({
  agents: z.string().min(1),
  tools: z.record(z.string(), z.custom<object>(isTool, 'is no tool; make it with defineTool from holdfast/worker')).optional(),
  mcp: McpSchema.optional(),
  outputs: z.record(z.string(), z.custom<object>(isSchema, 'is no schema; use a zod schema or a JSON Schema')).optional(),
  policies: z
    .record(z.string(), z.custom<object>())
    .superRefine((policies, context) => {
      const problem = problemOfPolicies(policies);
      if (problem !== undefined) context.addIssue({ code: 'custom', message: `is refused: ${problem}` });
    })
    .optional(),
  schedules: z
    .record(z.string(), z.custom<ConfiguredSchedule>())
    .superRefine((schedules, context) => {
      for (const [name, spec] of Object.entries(schedules)) {
        const problem = problemOfSchedule(name, spec);
        if (problem !== undefined) context.addIssue({ code: 'custom', message: `are refused. ${problem.replace(/\.$/, '')}` });
      }
    })
    .optional(),
  middleware: z
    .array(withMethods<WorkerMiddleware>(['make'], 'is no worker middleware; make it with defineWorkerMiddleware from holdfast/worker'))
    .optional(),
  observers: z.array(z.custom<Observer>(isObserver, 'is no observer; it has a name and onStart, onEnd or onError')).optional(),
  models: z
    .strictObject({
      providers: z.record(z.string(), withMethods<ModelProvider>(['model'], 'is no provider; it has a function model(name)')).optional(),
      names: z.record(z.string(), z.union([z.string().min(1), z.array(z.string().min(1))], 'is no model and no list of models')).optional(),
      limits: formed<ModelLimits>(limitsForm, 'models.limits').optional(),
      patience: formed<string>(duration, 'models.patience').optional(),
      prices: z
        .record(
          z.string(),
          z.strictObject({ input: price, output: price, cachedInput: price.optional() }, 'is no price such as { input: 2.5, output: 10 }'),
        )
        .optional(),
    })
    .optional(),
  taskQueue: checkedText(taskQueueProblem).optional(),
  tenant: z.string().refine(isTenant, `is no name of a tenant: use ${tenantForm}`).optional(),
  language: z.enum(['en', 'zh']).optional(),
  http: z
    .strictObject({
      port: z.int().min(0).max(65_535).optional(),
      host: checkedText(hostProblem).optional(),
      publicUrl: checkedText(publicUrlProblem).optional(),
      hosts: z.array(z.string().min(1)).optional(),
      origins: z.array(z.string().refine(isOrigin, 'is no origin such as "https://desk.example.com", and not "*"')).optional(),
      temporalUi: z
        .string()
        .refine(isPageOfRun, 'is no page of a run such as "https://temporal.example.com/namespaces/{namespace}/workflows/{workflowId}"')
        .optional(),
    })
    .optional(),
  access: AccessOptionsSchema.optional(),
  store: StoreSchema.optional(),
  feed: FeedOptionsSchema.optional(),
  triggers: TriggersSchema.optional(),
  notify: NotifySchema.optional(),
  agui: AguiOptionsSchema.optional(),
  aiSdk: AiSdkUiOptionsSchema.optional(),
  a2a: A2aOptionsSchema.optional(),
  example: z.strictObject({ agent: z.string(), input: z.string() }).optional(),
  storage: withMethods<StorageDriver>(['store', 'retrieve'], 'is no storage driver').optional(),
  compress: z.boolean().optional(),
});
