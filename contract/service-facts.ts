import type { Effect } from './manifest';
import type { Usage } from './messages/messages';
import type { ModelPrices } from './prices';
import type { RunCost } from './service';
import type { Timestamp } from './timestamp';
import type { UsageByModel } from './usage';

/** What a service tells of itself, of its builds and of what runs have used. */

/** An agent that somebody can start, or that one of those can reach. */
export interface ServedAgent {
  readonly name: string;
  readonly description: string;
  readonly kind: 'chat' | 'sequential' | 'loop' | 'parallel' | 'team' | 'hand-over' | 'custom';
  /** Whether a run can be started with it. */
  readonly isExported: boolean;
  /** Of an agent that asks a model. */
  readonly model?: string;
  readonly tools: readonly string[];
  /** The agents directly inside of it, as sub-agents, tools or steps. */
  readonly agents: readonly string[];
  readonly middleware: readonly string[];
  readonly policies: readonly string[];
  /** Of an agent that asks a model: how many turns a run of it may take. */
  readonly maxIterations?: number;
}

export interface ServedTool {
  readonly name: string;
  readonly description: string;
  /** `workflow`: the run itself answers it. `external`: its caller does. */
  readonly kind: 'worker' | 'workflow' | 'external';
  /** Of a tool of the workers. */
  readonly effect?: Effect;
  readonly timeout?: string;
  /** How many calls of it work at a time. */
  readonly concurrency?: number;
  /** Of a tool with `concurrency`: what the worker in this process makes of it. Undefined where this process has none. */
  readonly use?: LimitUse;
}

/** A name that agents have for a model. */
export interface ServedModel {
  readonly name: string;
  /** The models that it may mean, the first with a key wins. */
  readonly candidates: readonly string[];
  /** What it means in this process. Undefined where this process has no worker, or none can be used. */
  readonly id?: string;
}

/** What of a limit the calls of one worker take. Other workers may take more of it. */
export interface LimitUse {
  /** Calls at work. */
  readonly atWork: number;
  /** Calls that wait for their turn, here or until they come back. */
  readonly waiting: number;
  /** Calls that began in the last minute. */
  readonly lastMinute: number;
  /** Tokens that calls of the last minute took. */
  readonly tokensLastMinute: number;
}

/** How many calls may be made of a model, by `provider/model`, `provider/*` or `*`. */
export interface ServedLimit {
  readonly models: string;
  readonly concurrent?: number;
  readonly perMinute?: number;
  readonly tokensPerMinute?: number;
  /** Of the worker in this process. Undefined where this process has none. */
  readonly use?: LimitUse;
}

/** Something that a person should look at. */
export interface ServiceProblem {
  readonly code: string;
  readonly message: string;
  /** What to change. */
  readonly fix?: string;
}

export interface ServiceFacts {
  readonly version: string;
  readonly namespace: string;
  readonly tenant: string;
  readonly taskQueue: string;
  readonly server: { readonly kind: 'embedded' | 'configured'; readonly address: string };
  /** Whether a worker is in the same process. */
  readonly hasWorker: boolean;
  /** The page of a run in Temporal's own web UI, with {workflowId} and maybe {namespace} to fill in. */
  readonly temporalUi?: string;
  readonly agents: readonly ServedAgent[];
  readonly tools: readonly ServedTool[];
  readonly models: readonly ServedModel[];
  readonly limits: readonly ServedLimit[];
  /** What a million tokens cost, by the name of the model: `models.prices` of the configuration. */
  readonly prices: ModelPrices;
  readonly problems: readonly ServiceProblem[];
}

/** What of the facts a project says. */
export type ProjectFacts = Pick<ServiceFacts, 'agents' | 'tools' | 'models' | 'limits'>;

/** How many runs there are, isolated agents not counted. */
export interface RunCounts {
  readonly running: number;
  readonly waiting: number;
  readonly idle: number;
  /** Those that ended since `since`. */
  readonly completed: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly since: Timestamp;
}

export interface ServedBuild {
  readonly id: string;
  /** When the server first heard of it. */
  readonly since?: Timestamp;
  /** New runs go to it. */
  readonly isNewest: boolean;
  /** How many runs are open under it, isolated agents counted. Undefined: it was not counted, as one of too many builds. */
  readonly openRuns?: number;
  /** When a worker last asked for work of this build. Undefined: none of late. */
  readonly polledAt?: Timestamp;
  /** `draining`: older, with open runs. `unserved`: runs of it wait, and no worker has its code. */
  readonly state: 'newest' | 'draining' | 'drained' | 'unserved';
}

export interface BuildList {
  readonly taskQueue: string;
  readonly builds: readonly ServedBuild[];
}

/** What can be done to many runs at once. */
export type BulkAction = 'cancel' | 'retry' | 'upgrade';

export const usageGroups = ['agent', 'model', 'day'] as const;
export type UsageGroup = (typeof usageGroups)[number];

export interface UsageRow {
  /** The name of the agent or model, or the day in UTC. */
  readonly key: string;
  /** Calls of models that came back with an answer. */
  readonly calls: number;
  readonly usage: Usage;
  readonly usageByModel: UsageByModel;
  readonly cost?: RunCost;
}

/** What model calls have used, by what the histories of runs say. Each call is counted once, in the run or isolated agent that made it. */
export interface UsageReport {
  readonly by: UsageGroup;
  readonly since: Timestamp;
  readonly until: Timestamp;
  /** The largest first; days in their order. */
  readonly rows: readonly UsageRow[];
  readonly total: Omit<UsageRow, 'key'>;
  /** Executions of runs and isolated agents: those that are counted, and those that are not yet. */
  readonly counted: number;
  readonly left: number;
  /** Histories that could not be read: what they used is not counted. */
  readonly unreadable: number;
  /** There are more executions than are looked at. A shorter time is counted whole. */
  readonly more: boolean;
  /** Calls that said no tokens. */
  readonly uncounted: number;
}
