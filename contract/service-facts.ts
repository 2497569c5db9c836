import type { Effect } from './manifest';
import type { Usage } from './messages/messages';
import type { ModelPrices } from './prices';
import type { RunCost } from './service';
import type { Timestamp } from './timestamp';
import type { UsageByModel } from './usage';

/** An agent that users can start, or that such an agent reaches. */
export interface ServedAgent {
  readonly name: string;
  readonly description: string;
  readonly kind: 'chat' | 'sequential' | 'loop' | 'parallel' | 'team' | 'hand-over' | 'custom';
  /** Whether users can start runs. */
  readonly isExported: boolean;
  /** Set for an agent with a model. */
  readonly model?: string;
  readonly tools: readonly string[];
  /** Direct sub-agents, agent tools or steps. */
  readonly agents: readonly string[];
  readonly middleware: readonly string[];
  readonly policies: readonly string[];
  /** The most turns of an agent with a model. */
  readonly maxIterations?: number;
}

export interface ServedTool {
  readonly name: string;
  readonly description: string;
  /** `workflow`: the run answers. `external`: the caller answers. */
  readonly kind: 'worker' | 'workflow' | 'external' | 'mcp';
  /** Not for `workflow` and `external`. */
  readonly effect?: Effect;
  readonly timeout?: string;
  /** The most concurrent calls. */
  readonly concurrency?: number;
  /** Use by this process's worker. Undefined: no worker. */
  readonly use?: LimitUse;
}

/** A model name of agents. */
export interface ServedModel {
  readonly name: string;
  /** Candidates for the name; the first with a key wins. */
  readonly candidates: readonly string[];
  /** The model in this process. Undefined: no worker or usable candidate. */
  readonly id?: string;
}

/** One worker's use of a limit. Other workers may use more. */
export interface LimitUse {
  /** Running calls. */
  readonly atWork: number;
  readonly waiting: number;
  /** Calls that began in the last minute. */
  readonly lastMinute: number;
  /** Tokens of the last minute's calls. */
  readonly tokensLastMinute: number;
}

/** The call limit of a model, by `provider/model`, `provider/*` or `*`. */
export interface ServedLimit {
  readonly models: string;
  readonly concurrent?: number;
  readonly perMinute?: number;
  readonly tokensPerMinute?: number;
  /** Use by this process's worker. Undefined: no worker. */
  readonly use?: LimitUse;
}

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
  /** Whether this process has a worker. */
  readonly hasWorker: boolean;
  /** The URL of a run in Temporal's web UI, with placeholders {workflowId} and maybe {namespace}. */
  readonly temporalUi?: string;
  readonly agents: readonly ServedAgent[];
  readonly tools: readonly ServedTool[];
  readonly models: readonly ServedModel[];
  readonly limits: readonly ServedLimit[];
  /** Prices of a million tokens by model: `models.prices` of the configuration. */
  readonly prices: ModelPrices;
  readonly problems: readonly ServiceProblem[];
}

export type ProjectFacts = Pick<ServiceFacts, 'agents' | 'tools' | 'models' | 'limits'>;

/** Run counts without isolated agents. */
export interface RunCounts {
  readonly running: number;
  readonly waiting: number;
  readonly idle: number;
  /** Runs that ended at `since` or later. */
  readonly completed: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly since: Timestamp;
}

export interface ServedBuild {
  readonly id: string;
  /** When the server first saw the build. */
  readonly since?: Timestamp;
  /** New runs start under this build. */
  readonly isNewest: boolean;
  /** Open runs, with isolated agents. Undefined: too many builds to count. */
  readonly openRuns?: number;
  /** The last poll of a worker. Undefined: not recently. */
  readonly polledAt?: Timestamp;
  /** `draining`: older, with open runs. `unserved`: runs wait without a worker. */
  readonly state: 'newest' | 'draining' | 'drained' | 'unserved';
}

export interface BuildList {
  readonly taskQueue: string;
  readonly builds: readonly ServedBuild[];
}

export type BulkAction = 'cancel' | 'retry' | 'upgrade';

export const usageGroups = ['agent', 'model', 'day'] as const;
export type UsageGroup = (typeof usageGroups)[number];

export interface UsageRow {
  /** The agent, the model, or the day in UTC. */
  readonly key: string;
  /** Model calls with an answer. */
  readonly calls: number;
  readonly usage: Usage;
  readonly usageByModel: UsageByModel;
  readonly cost?: RunCost;
}

/** Usage of model calls by run histories. Each call counts once. */
export interface UsageReport {
  readonly by: UsageGroup;
  readonly since: Timestamp;
  readonly until: Timestamp;
  /** Largest first; days in order. */
  readonly rows: readonly UsageRow[];
  readonly total: Omit<UsageRow, 'key'>;
  /** Executions that are counted, and executions still to count. */
  readonly counted: number;
  readonly left: number;
  /** Unreadable histories, whose usage is missing. */
  readonly unreadable: number;
  /** More executions exist. Ask for a shorter time. */
  readonly more: boolean;
  /** Calls without token counts. */
  readonly uncounted: number;
}
