import type { ConversationView } from './conversations';
import type { RunHead, RunStatus } from './events';
import type { Interrupt } from './interrupts';
import type { Failure, Json, StoredMessage } from './messages/messages';
import type { PlannedStage } from './policies';
import type { Timestamp } from './timestamp';

/** What clients and the HTTP service answer. */

export interface ListedRun {
  readonly id: string;
  readonly agent: string;
  readonly status: RunStatus;
  /** When the run began, over continue-as-new and upgrades. */
  readonly startedAt: Timestamp;
  readonly closedAt?: Timestamp;
  /** What is open, the longest first. */
  readonly interrupts: readonly Interrupt[];
  /** Since when the first of them is open. Undefined of runs of a build that did not say so. */
  readonly waitingSince?: Timestamp;
  readonly tags: readonly string[];
  readonly startedBy?: string;
  /** The run that it is part of, of an isolated agent. */
  readonly parent?: string;
}

export interface ListedInterrupt {
  readonly runId: string;
  /** The agent that the run was started with. */
  readonly agent: string;
  /** Since when it is open. Undefined of runs of a build that did not say so. */
  readonly waitingSince?: Timestamp;
  readonly tags: readonly string[];
  readonly startedBy?: string;
  readonly interrupt: Interrupt;
}

interface Page {
  /** Whether there are more behind these. */
  readonly more: boolean;
  /** Given as `after`, it asks for those. Undefined when there are none. */
  readonly next?: string;
}

/** Runs, newest first. */
export interface RunPage extends Page {
  readonly runs: readonly ListedRun[];
  /** Where one of them runs, and nobody is there to do its work. The service says it. */
  readonly noWorker?: NoWorker;
  /** How many there are in all, when that was asked for. */
  readonly total?: number;
}

/** What waits for somebody: the newest runs first, of a run what has waited longest first. */
export interface InterruptPage extends Page {
  readonly interrupts: readonly ListedInterrupt[];
}

/** What came of a message. */
export interface MessageReceipt {
  readonly id: string;
  /** The turn in which it takes effect. Undefined: no worker was there to take it, or `wait` was over. It waits on the server. */
  readonly turn?: number;
}

/** A message of a conversation, with where it stands. */
export interface ConversationMessage {
  readonly message: StoredMessage;
  /** 0: it stood there before the first turn. */
  readonly turn: number;
  /** Of its event in the log. */
  readonly offset: number;
  readonly time: number;
  /** The agent that said it. */
  readonly agent?: string;
  /** Who sent it. */
  readonly by?: string;
  /** Somebody stopped the model: this is what it had said by then. */
  readonly partial?: true;
}

export interface TranscriptPage {
  readonly messages: readonly ConversationMessage[];
  /** For the page before this one. Undefined: there is none. */
  readonly before?: number;
}

/**
 * What became of a question. `asked`: the run asks again, with the stages that are added. `unchanged`: the policy asks nothing besides. `left`: no worker
 * has taken it yet, and it counts when one does. `failed`: the run waits as before.
 */
export interface PolicyOutcome {
  readonly runId: string;
  readonly interruptId: string;
  readonly tool: string;
  readonly outcome: 'asked' | 'unchanged' | 'left' | 'failed';
  /** The stages that are asked besides. */
  readonly added: readonly PlannedStage[];
  readonly error?: Failure;
}

export interface PolicyPage {
  readonly policy: string;
  readonly version: string;
  readonly outcomes: readonly PolicyOutcome[];
  /** Whether more runs wait behind these. */
  readonly more: boolean;
  /** Given as `after`, it goes on with those. */
  readonly next?: string;
}

/** What a run has cost so far, in the currency of the prices. */
export interface RunCost {
  readonly amount: number;
  /** Whether all of its tokens have a price. Those of isolated agents have theirs in their own runs. */
  readonly complete: boolean;
  /** The models without a price. */
  readonly unpriced?: readonly string[];
}

/** No worker polls the task queue: what runs there stands still. */
export interface NoWorker {
  readonly taskQueue: string;
  /** When one last did. Absent: the server remembers none. It forgets a worker some minutes after its last poll. */
  readonly since?: Timestamp;
}

/** A run as the service shows it: its messages have a route of their own. */
export interface ShownRun extends RunHead {
  readonly cost?: RunCost;
  /** Where it runs, and nobody is there to do its work. */
  readonly noWorker?: NoWorker;
}

export interface StartedRun {
  readonly id: string;
  readonly isNew: boolean;
  readonly agent: string;
  /** Options that the found run does not have. */
  readonly ignored?: readonly string[];
}

/** What became of one run of many. Without an error it is done, and with `dryRun` it could be. */
export interface RunOutcome {
  readonly id: string;
  /** Of an upgrade: the newest build, and whether the run moved to it. With `dryRun`: whether it would be asked to. */
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
  /** Its input is a job, of which a prompt makes a text, or a schema says how it looks. */
  readonly takesJob: boolean;
  /** What its jobs have to fit. */
  readonly inputSchema?: Json;
  /** The input that `example` of the configuration gives it. */
  readonly example?: string;
}

/** A policy of the configuration. */
export interface ListedPolicy {
  readonly name: string;
  readonly version: string;
  readonly tools: readonly string[];
}

/** How a conversation stands. */
export interface ShownConversation extends ConversationView, Pick<RunHead, 'id' | 'agent' | 'interrupts' | 'usage' | 'nextOffset'> {}
