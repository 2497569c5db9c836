import type { AgentPath } from './agent-paths';
import type { ConversationStart } from '../conversations';
import type { EventBody, WireEvent } from '../events';
import type { Answer, Interrupt } from '../interrupts';
import type { MiddlewareChange } from '../middleware-changes';
import type { DeferredTools, WorkerMiddlewareRef, Language, Manifest, ToolSpec } from '../manifest';
import type { Failure, FinishReason, Json, JsonObject, Message, ModelSettings, StoredMessage, ToolCall, Usage } from '../messages/messages';
import type { RunOptions } from '../run-options';
import type { ListItem, Splice } from './splice';
import type { ChildUsage, Uncounted } from '../usage';

/** The start of a run. Recorded histories have it: fields are added, never changed. */
export interface StartInput {
  readonly version: 1;
  readonly tenant: string;
  readonly id: string;
  readonly agent: string;
  readonly input: Json;
  /** Absent: none. */
  readonly values?: JsonObject;
  readonly settings?: ModelSettings;
  readonly model?: string;
  readonly stream: boolean;
  /** Tool calls at the end of the input run before the model is asked. */
  readonly runPendingToolCalls?: true;
  readonly language?: Language;
  /** Absent: none. */
  readonly options?: RunOptions;
  /** Absent: none. */
  readonly tags?: readonly string[];
  readonly by?: string;
  /** Large snapshots may go to external storage. */
  readonly externalStorage?: boolean;
  /** Session values at the start of an isolated agent. */
  readonly session?: JsonObject;
  /** Of an isolated agent. */
  readonly parent?: ParentRun;
  /** The run stays open between turns. Absent: one answer. */
  readonly conversation?: ConversationStart;
}

/** The parent run of an isolated agent. */
export interface ParentRun {
  readonly id: string;
  /** The exported agent that contains the agent, by name. */
  readonly from: string;
  /** Which agent of that name, if not the first. */
  readonly nth?: number;
  /** The place of the agent in the root run, at any depth. */
  readonly path: AgentPath;
  /** Which input messages are words of other agents, by position. Absent: none. */
  readonly context?: readonly number[];
  /** Who wrote to the turn: names, null for unnamed people. Absent: no turn. */
  readonly writers?: readonly (string | null)[];
}

/** News of an isolated agent for its parent: interrupts that opened and ended. */
export interface ChildNews {
  readonly run: string;
  readonly events: readonly EventBody[];
  /** Cancelled and about to end: usage and session values. A cancelled workflow has no result. */
  readonly left?: { readonly usage: ChildUsage; readonly session?: JsonObject };
}

/** The slots of a model request that seldom change. An input carries only changed slots. */
export interface RequestSlots {
  readonly instructions: string;
  readonly tools: readonly string[];
  readonly model: string;
  readonly settings: ModelSettings | null;
  readonly workerMiddleware: readonly WorkerMiddlewareRef[];
  readonly stream: StreamMode;
  /** The schema of the last answer, by name. */
  readonly output: string | null;
  /** Absent: the server repeats a failed call. */
  readonly retries?: RetryMode | null;
  /** Tools whose arguments layers see: the answer brings their parsed arguments. Absent: none. */
  readonly parse?: readonly string[] | null;
  /** Descriptions of offered tools that the run answers. Absent: none. */
  readonly specs?: readonly ToolSpec[] | null;
  /** Tools to search for. Absent: none. */
  readonly deferred?: DeferredTools | null;
  /** For a final answer: the last message, without tools. */
  readonly final?: string | null;
  /** Tools described after the instructions. Absent: none. */
  readonly catalog?: readonly string[] | null;
}

/** A model request, in one shape from the run to the provider. */
export interface StoredRequest {
  readonly messages: readonly StoredMessage[];
  readonly slots: Partial<RequestSlots>;
}

/**
 * The run repeats failed calls: the failure comes back as a result, with `kernel-partial` beside the words of a broken stream. The server still
 * repeats a call that was lost with its worker.
 */
export type RetryMode = 'kernel' | 'kernel-partial';

/** A failed model call, and the worker's advice about another attempt. */
export interface ModelFailure extends Failure {
  readonly retryable?: boolean;
  /** How long the provider wants no calls. */
  readonly retryAfterMs?: number;
}

/**
 * How a call answers. `whole`: at once. `live`: as it comes, for everybody. `held`: as it comes, but unseen before the answer is final, because a
 * layer of the workflow changes it.
 */
export type StreamMode = 'whole' | 'live' | 'held';

export interface CallModelInput {
  /** The edited list: of an earlier model activity, or `start`, the first messages of the run. */
  readonly base?: string;
  readonly splices?: readonly Splice[];
  readonly slots?: Partial<RequestSlots>;
  readonly path: readonly string[];
  readonly turn: number;
  readonly runLocal?: RunLocalEdit;
  readonly events?: readonly WireEvent[];
}

export interface RunLocalChange {
  readonly set?: JsonObject;
  readonly delete?: readonly string[];
}

/** Changes by an execution of a call. The id is unique: the history has only one of two attempts. */
export interface CallChange extends RunLocalChange {
  readonly id: string;
}

/** Run-local values of a call: those of an earlier call, then brought changes, then other changes. Without an edit there are none. */
export interface RunLocalEdit extends RunLocalChange {
  /** An earlier activity of this run. Absent: no values. */
  readonly base?: string;
  /** Changes from calls of this run, by id, in order. */
  readonly brought?: readonly string[];
}

/** How a call waited before it was made. */
export interface CallWaits {
  /** How often it was put off. */
  readonly times: number;
  /** For its turn, in milliseconds. */
  readonly turnMs: number;
  /** For a provider that was busy. */
  readonly busyMs: number;
}

/** An answer of a model activity. The kernel checks that `address` is the activity id. */
export interface CallModelResult {
  readonly address: string;
  readonly message?: StoredMessage;
  readonly model?: string;
  readonly usage?: Usage;
  /** Counts of `usage` that the provider left out: they are 0. */
  readonly uncounted?: readonly Uncounted[];
  /** Absent: a normal end. */
  readonly finish?: FinishReason;
  readonly failed?: ModelFailure;
  /** Words of a broken stream, if requested. */
  readonly partial?: Message;
  /** Parsed tool calls of the message, in order. null: unknown. */
  readonly parsed?: readonly (ParseInputResult | null)[];
  /** The answer read by the agent's output. Absent: unknown. */
  readonly read?: ParseOutputResult;
  /** Absent: made at once. */
  readonly waited?: CallWaits;
  /** Changes by worker middleware. Absent: none. */
  readonly changes?: readonly MiddlewareChange[];
  readonly runLocal?: CallChange;
  readonly events?: readonly WireEvent[];
}

export interface CallToolInput {
  readonly tool: string;
  readonly callId: string;
  readonly input: Json;
  /** Of the parsed arguments, if a policy saw them. The tool runs only with this hash. */
  readonly inputHash?: string;
  /** The arguments of the model, if parsing changed them. */
  readonly rawInput?: Json;
  /** Options of the run for this tool, after layers. */
  readonly options?: JsonObject;
  readonly path: readonly string[];
  /** The idempotency key after the workflow's id, if it is not the activity's id. */
  readonly key?: string;
  readonly resumed?: { readonly answer: Json; readonly state?: Json };
  /** Asks whether an earlier attempt took effect, instead of running the tool. */
  readonly reconcile?: true;
  readonly workerMiddleware?: readonly WorkerMiddlewareRef[];
  readonly runLocal?: RunLocalEdit;
  readonly events?: readonly WireEvent[];
  /** The start has values or tags for the tool. */
  readonly about?: true;
  /** A call of a hook, without transcript. */
  readonly hidden?: boolean;
  /** Absent: whole. */
  readonly stream?: Exclude<StreamMode, 'whole'>;
}

export interface CallToolResult {
  readonly address: string;
  readonly outcome: ToolOutcome;
  /** Changes by worker middleware. Absent: none. */
  readonly changes?: readonly MiddlewareChange[];
  readonly runLocal?: CallChange;
  readonly events?: readonly WireEvent[];
}

export type ToolOutcome =
  | { readonly type: 'done'; readonly messageId: string; readonly output: Json; readonly multipart?: true }
  | { readonly type: 'failed'; readonly messageId: string; readonly error: Failure }
  | { readonly type: 'interrupted'; readonly info: Json; readonly state?: Json; readonly answerSchema?: Json; readonly deadlineMs?: number }
  /**
   * Nobody knows whether it happened. `timedOut`: its worker was there, and took too long. `why`: what its worker said, a sentence. With neither
   * the worker was lost.
   */
  | {
      readonly type: 'unsettled';
      readonly timedOut?: true;
      readonly why?: string;
      /** Which worker had the call. Absent: it could not say so. */
      readonly worker?: string;
      /** What `reconcile` said. Absent of what was lost otherwise. */
      readonly said?: 'unknown' | 'nothing';
    }
  /** Asked by reconcile, the tool says that it did not happen. */
  | { readonly type: 'undone' };

export interface ParseInputRequest {
  readonly tool: string;
  readonly input: Json;
}

export type ParseInputResult =
  | { readonly ok: true; /** Absent when parsing changed nothing. */ readonly input?: Json; readonly hash: string }
  | { readonly ok: false; readonly message: string };

export interface ParseOutputRequest {
  readonly output: string;
  readonly text: string;
}

export type ParseOutputResult = { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly message: string };

/** Lists of a snapshot with ids in place of messages of its conversations. */
export interface NamedMessages {
  /** For keys missing in `lists`. */
  readonly lists?: Readonly<Record<string, readonly ListItem[]>>;
  /** In place of `shown`, which is then empty. */
  readonly shown?: readonly ListItem[];
}

/** What goes over a continue-as-new. `state` is the kernel's RunState without lists; each message stands here once. */
export interface Snapshot {
  readonly state: unknown;
  /** The messages of each agent, by its path joined with "/". */
  readonly lists: Readonly<Record<string, readonly StoredMessage[]>>;
  /** Messages of the root agent that readers saw and its list lacks. */
  readonly shown: readonly StoredMessage[];
  /**
   * Edits that turn the root agent's list into the messages that readers saw last, without the shown ones: the list is of the last checkpoint, and
   * hooks may have edited it since. Absent: readers saw the list itself.
   */
  readonly seen?: readonly Splice[];
  /** Whether readers saw the words of all agents. Absent: there is no such list. */
  readonly together?: boolean;
  readonly nextOffset: number;
  readonly events: readonly WireEvent[];
  /** Messages derived from conversations. Absent: all are whole in `lists` and `shown`. */
  readonly named?: NamedMessages;
  /** The run had ended, and goes on from here. */
  readonly retried?: true;
  /** The build that tried the run and got it. Absent: the run keeps its build. */
  readonly movedTo?: string;
}

/** The verdict of the newest build on an open run. */
export interface TrialVerdict {
  readonly build: string;
  readonly failure?: Failure;
}

export interface UpgradeReceipt {
  readonly build: string;
  /** False: the run is already there. */
  readonly moved: boolean;
}

export interface AgentRunInput {
  readonly start: StartInput;
  readonly snapshot?: Snapshot;
}

/** The point for a retry in the failure of a run, or why there is none. */
export type RetryPoint = AgentRunInput | { readonly refused: Failure };

/** The point of a cancelled run or failed isolated agent, and its execution. */
export type KeptPoint = { readonly runId: string; readonly point: RetryPoint; readonly failed?: true };

export interface AgentRunResult {
  readonly output: Json;
  /** Absent when the output is the text. */
  readonly text?: string;
  /** Calls of external tools at the end of the run: there is no answer yet. */
  readonly pendingToolCalls?: readonly ToolCall[];
  /** Of an isolated agent with its usage by model. */
  readonly usage: Usage | ChildUsage;
  readonly base?: string;
  readonly splices?: readonly Splice[];
  readonly events?: readonly WireEvent[];
  /** Changed session values of an isolated agent. */
  readonly session?: JsonObject;
  /** An isolated agent without any event. */
  readonly silent?: true;
  /** News of an isolated agent that may not have reached its parent. */
  readonly news?: ChildNews['events'];
}

/** The query, a fast path for open runs. */
export interface StatusReply {
  readonly status: 'running' | 'waiting' | 'idle';
  readonly interrupts: readonly Interrupt[];
  readonly nextOffset: number;
}

export interface ResumeReceipt {
  readonly sequence: number;
}

export type { Answer, ListItem, Manifest, Splice };
