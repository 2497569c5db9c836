import type { Author } from '../access';
import type { AgentPath } from './agent-paths';
import type { ConversationStart } from '../conversations';
import type { EventBody, WireEvent } from '../events';
import type { Answer, Interrupt } from '../interrupts';
import type { MiddlewareChange } from '../middleware-changes';
import type { DeferredTools, WorkerMiddlewareRef, Language, Manifest, McpTool, ToolFacts, ToolSpec } from '../manifest';
import type { Failure, FinishReason, Json, JsonObject, Message, ModelSettings, StoredMessage, ToolCall, Usage } from '../messages/messages';
import type { RunOptions } from '../run-options';
import type { ListItem, Splice } from './splice';
import type { ChildUsage, Uncounted } from '../usage';

/** Recorded histories have this form: add fields, never change them. */
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
  readonly runPendingToolCalls?: true;
  readonly language?: Language;
  readonly options?: RunOptions;
  readonly tags?: readonly string[];
  readonly by?: string;
  /** Roles of the starter, and how the name was proven. Absent: a claimed name. */
  readonly roles?: readonly string[];
  readonly proof?: string;
  readonly externalStorage?: boolean;
  readonly session?: JsonObject;
  readonly parent?: ParentRun;
  readonly conversation?: ConversationStart;
}

export interface ParentRun {
  readonly id: string;
  /** The exported agent that contains the isolated agent. */
  readonly from: string;
  /** Counts agents of one name. Absent: the first. */
  readonly nth?: number;
  /** The place in the root run, at any depth. */
  readonly path: AgentPath;
  /** Positions of input messages by other agents. Absent: none. */
  readonly context?: readonly number[];
  /** Writers of the turn, null for unnamed people. Absent: no turn. */
  readonly writers?: readonly (string | null)[];
  /** The author of the turn. Absent: the starter. */
  readonly author?: Author;
}

export interface ChildNews {
  readonly run: string;
  readonly events: readonly EventBody[];
  /** A cancelled workflow has no result. */
  readonly left?: { readonly usage: ChildUsage; readonly session?: JsonObject };
}

/** Seldom changed parts of a model request. An input has only changed slots. */
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
  /** Tools whose parsed arguments middleware sees. Absent: none. */
  readonly parse?: readonly string[] | null;
  /** Descriptions of workflow tools. Absent: none. */
  readonly specs?: readonly ToolSpec[] | null;
  /** Tools to search for. Absent: none. */
  readonly deferred?: DeferredTools | null;
  /** The last message of a request for a final answer, without tools. */
  readonly final?: string | null;
  /** Tools described after the instructions. Absent: none. */
  readonly catalog?: readonly string[] | null;
}

export interface StoredRequest {
  readonly messages: readonly StoredMessage[];
  readonly slots: Partial<RequestSlots>;
}

/**
 * The run repeats failed calls: the result has the failure, and with `kernel-partial` the words of a broken stream. The server still
 * repeats calls of a lost worker.
 */
export type RetryMode = 'kernel' | 'kernel-partial';

export interface ModelFailure extends Failure {
  readonly retryable?: boolean;
  readonly retryAfterMs?: number;
}

/** `whole`: at once. `live`: as a stream for all readers. `held`: as a hidden stream, because workflow middleware changes the answer. */
export type StreamMode = 'whole' | 'live' | 'held';

export interface CallModelInput {
  /** An earlier model activity, or `start` for the first messages of the run. */
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

/** The id is unique, because the history has only one of two attempts. */
export interface CallChange extends RunLocalChange {
  readonly id: string;
}

/** Values of an earlier call, then brought changes, then new ones. Absent: no values. */
export interface RunLocalEdit extends RunLocalChange {
  /** An earlier activity. Absent: no values. */
  readonly base?: string;
  /** Ids of changes from calls of this run, in order. */
  readonly brought?: readonly string[];
}

export interface CallWaits {
  readonly times: number;
  readonly turnMs: number;
  readonly busyMs: number;
}

/** The kernel checks that `address` is the activity id. */
export interface CallModelResult {
  readonly address: string;
  readonly message?: StoredMessage;
  readonly model?: string;
  readonly usage?: Usage;
  /** Counts of `usage` that the provider omitted, set to 0. */
  readonly uncounted?: readonly Uncounted[];
  /** Absent: a normal end. */
  readonly finish?: FinishReason;
  readonly failed?: ModelFailure;
  readonly partial?: Message;
  /** Parsed tool calls of the message, in order. null: unknown. */
  readonly parsed?: readonly (ParseInputResult | null)[];
  /** Absent: unknown. */
  readonly read?: ParseOutputResult;
  readonly waited?: CallWaits;
  readonly changes?: readonly MiddlewareChange[];
  readonly runLocal?: CallChange;
  readonly events?: readonly WireEvent[];
}

export interface CallToolInput {
  readonly tool: string;
  readonly callId: string;
  readonly input: Json;
  /** The tool runs only with these arguments. */
  readonly inputHash?: string;
  readonly rawInput?: Json;
  readonly options?: JsonObject;
  readonly path: readonly string[];
  /** The idempotency key after the workflow id. Absent: the activity id. */
  readonly key?: string;
  readonly resumed?: { readonly answer: Json; readonly state?: Json };
  /** Asks whether an earlier attempt took effect, instead of running the tool. */
  readonly reconcile?: true;
  readonly workerMiddleware?: readonly WorkerMiddlewareRef[];
  readonly runLocal?: RunLocalEdit;
  readonly events?: readonly WireEvent[];
  readonly author?: Author;
  /** The start has values, tags or an author for the tool. */
  readonly about?: true;
  readonly hidden?: boolean;
  /** Absent: whole. */
  readonly stream?: Exclude<StreamMode, 'whole'>;
  /** Present for a tool of an MCP server. */
  readonly mcp?: McpCall;
}

export interface McpCall extends Pick<McpTool, 'server' | 'tool' | 'inputSchema'>, Pick<ToolFacts, 'effect' | 'timeoutMs'> {}

export interface CallToolResult {
  readonly address: string;
  readonly outcome: ToolOutcome;
  readonly changes?: readonly MiddlewareChange[];
  readonly runLocal?: CallChange;
  readonly events?: readonly WireEvent[];
}

export type ToolOutcome =
  | { readonly type: 'done'; readonly messageId: string; readonly output: Json; readonly multipart?: true }
  | { readonly type: 'failed'; readonly messageId: string; readonly error: Failure }
  | { readonly type: 'interrupted'; readonly info: Json; readonly state?: Json; readonly answerSchema?: Json; readonly deadlineMs?: number }
  /** `timedOut`: the worker took too long. `why`: the worker's sentence. Neither: the worker was lost. */
  | {
      readonly type: 'unsettled';
      readonly timedOut?: true;
      readonly why?: string;
      readonly worker?: string;
      /** The answer of `reconcile`. */
      readonly said?: 'unknown' | 'nothing';
    }
  /** `reconcile` says that the call did not happen. */
  | { readonly type: 'undone' };

export interface ParseInputRequest {
  readonly tool: string;
  readonly input: Json;
  /** The schema of a tool of an MCP server. */
  readonly schema?: Json;
}

export type ParseInputResult =
  | { readonly ok: true; /** Absent when parsing changed nothing. */ readonly input?: Json; readonly hash: string }
  | { readonly ok: false; readonly message: string };

export interface ParseOutputRequest {
  readonly output: string;
  readonly text: string;
}

export type ParseOutputResult = { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly message: string };

/** Snapshot lists with ids in place of messages. */
export interface NamedMessages {
  /** For keys missing in `lists`. */
  readonly lists?: Readonly<Record<string, readonly ListItem[]>>;
  /** Replaces `shown`, which is then empty. */
  readonly shown?: readonly ListItem[];
}

/** `state` is the kernel's RunState without lists; each message is stored once. */
export interface Snapshot {
  readonly state: unknown;
  /** The messages of each agent, by path joined with "/". */
  readonly lists: Readonly<Record<string, readonly StoredMessage[]>>;
  /** Messages that readers saw and the root agent's list lacks. */
  readonly shown: readonly StoredMessage[];
  /**
   * Edits from the root agent's list to the last messages that readers saw, without `shown`: hooks may have edited the list since the
   * checkpoint. Absent: no edits.
   */
  readonly seen?: readonly Splice[];
  /** Whether readers saw the words of all agents. */
  readonly together?: boolean;
  readonly nextOffset: number;
  readonly events: readonly WireEvent[];
  /** Absent: `lists` and `shown` are whole. */
  readonly named?: NamedMessages;
  /** The run had ended and goes on. */
  readonly retried?: true;
  /** The build that took the run over. Absent: the run keeps its build. */
  readonly movedTo?: string;
}

export interface TrialVerdict {
  readonly build: string;
  readonly failure?: Failure;
}

export interface UpgradeReceipt {
  readonly build: string;
  /** False: the run already has the build. */
  readonly moved: boolean;
}

export interface AgentRunInput {
  readonly start: StartInput;
  readonly snapshot?: Snapshot;
}

/** `refused`: why a retry is impossible. */
export type RetryPoint = AgentRunInput | { readonly refused: Failure };

/** For a cancelled run or a failed isolated agent. */
export type KeptPoint = { readonly runId: string; readonly point: RetryPoint; readonly failed?: true };

export interface AgentRunResult {
  readonly output: Json;
  /** Absent: the output is the text. */
  readonly text?: string;
  /** External tool calls of a run without an answer. */
  readonly pendingToolCalls?: readonly ToolCall[];
  readonly usage: Usage | ChildUsage;
  readonly base?: string;
  readonly splices?: readonly Splice[];
  readonly events?: readonly WireEvent[];
  readonly session?: JsonObject;
  readonly silent?: true;
  /** News that may not have reached the parent. */
  readonly news?: ChildNews['events'];
}

/** A fast query for open runs. */
export interface StatusReply {
  readonly status: 'running' | 'waiting' | 'idle';
  readonly interrupts: readonly Interrupt[];
  readonly nextOffset: number;
}

export interface ResumeReceipt {
  readonly sequence: number;
}

export type { Answer, ListItem, Manifest, Splice };
