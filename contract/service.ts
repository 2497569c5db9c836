import type { ConversationView } from './conversations';
import type { RunHead, RunStatus } from './events';
import type { Interrupt } from './interrupts';
import type { Failure, Json, StoredMessage } from './messages/messages';
import type { PlannedStage } from './policies';
import type { Timestamp } from './timestamp';

/** A run in a list. */

export interface ListedRun {
  readonly id: string;
  readonly agent: string;
  readonly status: RunStatus;
  /** When the run began, before any continue-as-new or upgrade. */
  readonly startedAt: Timestamp;
  readonly closedAt?: Timestamp;
  /** Open interrupts, oldest first. */
  readonly interrupts: readonly Interrupt[];
  /** When the oldest interrupt opened. Undefined: a run of an old build. */
  readonly waitingSince?: Timestamp;
  readonly tags: readonly string[];
  readonly startedBy?: string;
  /** The parent run of an isolated agent. */
  readonly parent?: string;
}

export interface ListedInterrupt {
  readonly runId: string;
  /** The agent that the run was started with. */
  readonly agent: string;
  /** When the interrupt opened. Undefined: a run of an old build. */
  readonly waitingSince?: Timestamp;
  readonly tags: readonly string[];
  readonly startedBy?: string;
  readonly interrupt: Interrupt;
}

interface Page {
  /** Whether more entries follow. */
  readonly more: boolean;
  /** Pass as `after` for the next page. Undefined: last page. */
  readonly next?: string;
}

/** Runs, newest first. */
export interface RunPage extends Page {
  readonly runs: readonly ListedRun[];
  readonly noWorker?: NoWorker;
  /** The total number of runs, if requested. */
  readonly total?: number;
}

/** Interrupts: newest runs first, and oldest first within a run. */
export interface InterruptPage extends Page {
  readonly interrupts: readonly ListedInterrupt[];
}

export interface MessageReceipt {
  readonly id: string;
  /** Undefined: without a worker, or after `wait`, the message waits on the server. */
  readonly turn?: number;
}

/** A message of a conversation, with its position. */
export interface ConversationMessage {
  readonly message: StoredMessage;
  /** 0: before the first turn. */
  readonly turn: number;
  /** The offset in the log. */
  readonly offset: number;
  readonly time: number;
  readonly agent?: string;
  /** The sender. */
  readonly by?: string;
  /** The model was stopped after these words. */
  readonly partial?: true;
}

export interface TranscriptPage {
  readonly messages: readonly ConversationMessage[];
  /** Position for the previous page. Undefined: first page. */
  readonly before?: number;
}

/**
 * `asked`: the run asks again, with the added stages. `unchanged`: the policy asks nothing new. `left`: waits for a worker. `failed`: the
 * run waits as before.
 */
export interface PolicyOutcome {
  readonly runId: string;
  readonly interruptId: string;
  readonly tool: string;
  readonly outcome: 'asked' | 'unchanged' | 'left' | 'failed';
  /** Added stages. */
  readonly added: readonly PlannedStage[];
  readonly error?: Failure;
}

export interface PolicyPage {
  readonly policy: string;
  readonly version: string;
  readonly outcomes: readonly PolicyOutcome[];
  /** Whether more runs wait. */
  readonly more: boolean;
  /** Pass as `after` for the next page. */
  readonly next?: string;
}

/** The cost of a run so far, in the currency of the prices. */
export interface RunCost {
  readonly amount: number;
  /** Whether all tokens have a price, without isolated agents. */
  readonly complete: boolean;
  /** Models without a price. */
  readonly unpriced?: readonly string[];
}

/** A task queue without a worker, whose runs stand still. */
export interface NoWorker {
  readonly taskQueue: string;
  /** The last poll of a worker. Absent: the server forgets workers after some minutes. */
  readonly since?: Timestamp;
}

/** A run without messages, which have a route of their own. */
export interface ShownRun extends RunHead {
  readonly cost?: RunCost;
  readonly noWorker?: NoWorker;
}

export interface StartedRun {
  readonly id: string;
  readonly isNew: boolean;
  readonly agent: string;
  /** Options that an existing run with the id does not have. */
  readonly ignored?: readonly string[];
}

/** The result for one of many runs. No error: done, or possible with `dryRun`. */
export interface RunOutcome {
  readonly id: string;
  /** For an upgrade: the newest build, and whether the run moved, or would with `dryRun`. */
  readonly build?: string;
  readonly moved?: boolean;
  readonly error?: Failure;
}

export interface AnswerOutcome {
  readonly runId: string;
  readonly interruptId: string;
  readonly error?: Failure;
}

export interface ListedAgent {
  readonly name: string;
  readonly description: string;
  /** Whether the input is a job, for a prompt or a schema. */
  readonly takesJob: boolean;
  /** The schema of jobs. */
  readonly inputSchema?: Json;
  /** The input from `example` of the configuration. */
  readonly example?: string;
}

/** A policy of the configuration. */
export interface ListedPolicy {
  readonly name: string;
  readonly version: string;
  readonly tools: readonly string[];
}

export interface ShownConversation extends ConversationView, Pick<RunHead, 'id' | 'agent' | 'interrupts' | 'usage' | 'nextOffset'> {}
