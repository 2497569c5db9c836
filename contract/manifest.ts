import type { Json } from './messages/messages';

export type Effect = 'none' | 'idempotent' | 'once';
export type ToolKind = 'invokable' | 'streamable' | 'enhanced' | 'enhanced-streamable';
export type Language = 'en' | 'zh';

/** What the worker knew about a tool when the run began. */
export interface ToolFacts {
  readonly kind: ToolKind;
  readonly effect: Effect;
  readonly timeoutMs: number;
  readonly heartbeatMs: number;
  /** How many attempts are made when one is lost (a crash, a time-out). Of a `once` tool only `reconcile` is tried again. */
  readonly attempts: number;
  readonly resultLimit: number;
  readonly schemaHash: string;
  /** How often the worker calls it while it throws, by its own `retry`. Absent: once. */
  readonly ownAttempts?: number;
  /** How many calls of it work at a time. Absent: as many as there are. Then the server makes a lost call again `attempts` times. */
  readonly concurrency?: number;
  /** No worker runs it: a run ends with the calls of it, for its caller to make. */
  readonly external?: true;
}

export interface ModelFacts {
  readonly timeoutMs: number;
  readonly heartbeatMs: number;
  readonly attempts: number;
  /** How long a call waits for providers that are busy. */
  readonly patienceMs: number;
}

/** Recorded once at the start of a run: the only source for scheduling decisions. Facts equal to the defaults are left out. */
export interface Manifest {
  readonly version: 1;
  readonly language: Language;
  readonly defaults: { readonly tool: ToolFacts; readonly model: ModelFacts };
  readonly tools: Readonly<Record<string, Partial<ToolFacts>>>;
  /** Named models and the provider/model each was resolved to. */
  readonly models: Readonly<Record<string, string>>;
  readonly workerMiddleware: readonly string[];
  /** Names of the schemas that answers have to fit. Absent: none. */
  readonly outputs?: readonly string[];
  /** The tools that the named policies of the configuration hold. Absent: no agent names one. */
  readonly policies?: Readonly<Record<string, readonly string[]>>;
  /** Schemas of the tools about whose calls people are asked, by tool. Absent: nobody is asked. */
  readonly schemas?: Readonly<Record<string, Json>>;
}

export function toolFactsOf(manifest: Manifest, tool: string): ToolFacts {
  return { ...manifest.defaults.tool, ...manifest.tools[tool] };
}

/** What a model is told of a tool. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Json;
}

/** Tools that a model is told of only when it has found them by another one. */
export interface DeferredTools {
  readonly tools: readonly string[];
  /** The tool that it searches with. */
  readonly search: string;
}

/** A worker middleware in an agent's list, by name. */
export interface WorkerMiddlewareRef {
  readonly name: string;
  readonly options?: Json;
}

/** What the agents that can be reached name. */
export interface ManifestRequest {
  readonly agent: string;
  readonly tools: readonly string[];
  readonly models: readonly string[];
  readonly workerMiddleware: readonly string[];
  readonly outputs?: readonly string[];
  /** Policies of the configuration. Absent: none. */
  readonly policies?: readonly string[];
  /** Tools about whose calls people are asked. Absent: none. */
  readonly askedAbout?: readonly string[];
  /** Other keys for arguments, by tool; none may be a property of the tool's schema. */
  readonly argumentAliases: Readonly<Record<string, readonly string[]>>;
  /** The arguments that have them, by tool; each must be one of the tool's. Absent: none. */
  readonly aliasedArguments?: Readonly<Record<string, readonly string[]>>;
  /** The tools among them whose aliases the start gave. Absent: none. */
  readonly aliasesOfStart?: readonly string[];
  readonly language?: Language;
}
