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

/** What a run is started with. The first recorded history is a contract: fields are added, never changed. */
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
  /** Calls of tools that the input ends in run before the model is asked. */
  readonly runPendingToolCalls?: true;
  readonly language?: Language;
  /** Absent: none. */
  readonly options?: RunOptions;
  /** Absent: none. */
  readonly tags?: readonly string[];
  readonly by?: string;
  /** Large snapshots may go to external storage. */
  readonly externalStorage?: boolean;
  /** Session values that the run begins with, of an isolated agent. */
  readonly session?: JsonObject;
  /** Of the run of an isolated agent. */
  readonly parent?: ParentRun;
  /** The run stays open between turns. Absent: it ends with its first answer. */
  readonly conversation?: ConversationStart;
}

/** The run that an isolated agent is part of. */
export interface ParentRun {
  readonly id: string;
  /** The exported agent that it is found in, by its name. */
  readonly from: string;
  /** Which one of that name in there, when it is not the first. */
  readonly nth?: number;
  /** Where the agent stands in the run that somebody started, however deep. */
  readonly path: AgentPath;
  /** Which messages of its input are words of other agents, by position. Absent: none. */
  readonly context?: readonly number[];
  /** Who wrote to the turn that it works for: names, and null for somebody without one. Absent: no turn. */
  readonly writers?: readonly (string | null)[];
}

/** What the run of an isolated agent tells its parent while it runs: interrupts that opened and ended in it. */
export interface ChildNews {
  readonly run: string;
  readonly events: readonly EventBody[];
  /** It was cancelled and is about to end: what it has used and set. A cancelled workflow has no result that could say so. */
  readonly left?: { readonly usage: ChildUsage; readonly session?: JsonObject };
}

/** The slots of a model request that seldom change; an input carries only those that did. */
export interface RequestSlots {
  readonly instructions: string;
  readonly tools: readonly string[];
  readonly model: string;
  readonly settings: ModelSettings | null;
  readonly workerMiddleware: readonly WorkerMiddlewareRef[];
  readonly stream: StreamMode;
  /** The name of the schema that the last answer has to fit. */
  readonly output: string | null;
  /** Absent: the server makes a failed call again. */
  readonly retries?: RetryMode | null;
  /** Tools whose arguments layers of the workflow see: the answer brings along what parsing makes of them. Absent: none. */
  readonly parse?: readonly string[] | null;
  /** What the model is told of the offered tools that no worker knows, as the run itself answers them. Absent: there are none. */
  readonly specs?: readonly ToolSpec[] | null;
  /** Tools that the model has to search for, by means of its own. Absent: none. */
  readonly deferred?: DeferredTools | null;
  /** Makes the call one for a final answer: the last message tells the model this, and there are no tools. */
  readonly final?: string | null;
  /** Tools that the model is told about behind the instructions, by name and description. Absent: none. */
  readonly catalog?: readonly string[] | null;
}

/** A model request, in the one shape that it has from the run to the provider. */
export interface StoredRequest {
  readonly messages: readonly StoredMessage[];
  readonly slots: Partial<RequestSlots>;
}

/**
 * The run makes failed calls again, by its own rules: the failure comes back as a result, with `kernel-partial` beside what a stream had
 * said when it broke. A call that was lost with its worker is still made again by the server.
 */
export type RetryMode = 'kernel' | 'kernel-partial';

/** A model call that failed, and what the worker thinks of another attempt. */
export interface ModelFailure extends Failure {
  readonly retryable?: boolean;
  /** How long the provider wants to be left alone. */
  readonly retryAfterMs?: number;
}

/**
 * How a call answers. `whole`: at once. `live`: as it comes, for everybody to see. `held`: as it comes, but seen by nobody before it is
 * final, because a layer of the workflow changes it.
 */
export type StreamMode = 'whole' | 'live' | 'held';

export interface CallModelInput {
  /** The list that the splices edit: an earlier model activity of this run, or `start`, the messages that the run began with. */
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

/** What an execution of a call changed. The id is its own: of two attempts only one is in the history. */
export interface CallChange extends RunLocalChange {
  readonly id: string;
}

/**
 * The run-local values that a call gets: those of an earlier call, over them what calls brought since, then what changed besides.
 * A call without an edit gets none.
 */
export interface RunLocalEdit extends RunLocalChange {
  /** An activity of this run that was scheduled earlier. Absent: the edit begins with no values. */
  readonly base?: string;
  /** Changes that calls of this run have come back with, by id, in the order in which they count. */
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

/** An answer of a model activity. `address` echoes the activity id, and the kernel checks it. */
export interface CallModelResult {
  readonly address: string;
  readonly message?: StoredMessage;
  readonly model?: string;
  readonly usage?: Usage;
  /** Counts of `usage` that the provider left out: they are 0. */
  readonly uncounted?: readonly Uncounted[];
  /** Absent when the model came to an end by itself. */
  readonly finish?: FinishReason;
  readonly failed?: ModelFailure;
  /** What a stream had said when it broke. Present only when it was asked for. */
  readonly partial?: Message;
  /** What parsing made of the tool calls of the message, in their order. null: not known yet. */
  readonly parsed?: readonly (ParseInputResult | null)[];
  /** What the output that the agent names makes of the answer. Absent: not known yet. */
  readonly read?: ParseOutputResult;
  /** Absent: the call was made at once. */
  readonly waited?: CallWaits;
  /** What worker middleware changed. Absent: nothing. */
  readonly changes?: readonly MiddlewareChange[];
  readonly runLocal?: CallChange;
  readonly events?: readonly WireEvent[];
}

export interface CallToolInput {
  readonly tool: string;
  readonly callId: string;
  readonly input: Json;
  /** Of the parsed arguments, when a policy saw them; the tool runs with arguments of this hash only. */
  readonly inputHash?: string;
  /** The arguments as the model gave them, when parsing changed them. */
  readonly rawInput?: Json;
  /** Options of the run for this tool, as the layers left them. */
  readonly options?: JsonObject;
  readonly path: readonly string[];
  /** What comes after the workflow's id in the idempotency key, when it differs from the activity's id. */
  readonly key?: string;
  readonly resumed?: { readonly answer: Json; readonly state?: Json };
  /** Asks the tool whether an earlier attempt took effect, instead of running it. */
  readonly reconcile?: true;
  readonly workerMiddleware?: readonly WorkerMiddlewareRef[];
  readonly runLocal?: RunLocalEdit;
  readonly events?: readonly WireEvent[];
  /** The run was started with values or tags, which the tool gets. Absent: with neither. */
  readonly about?: true;
  /** Set for calls that come from a hook and are no part of the transcript. */
  readonly hidden?: boolean;
  /** Absent: whole. */
  readonly stream?: Exclude<StreamMode, 'whole'>;
}

export interface CallToolResult {
  readonly address: string;
  readonly outcome: ToolOutcome;
  /** What worker middleware changed. Absent: nothing. */
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

/** Lists of a snapshot in which ids stand for messages of its conversations, and for what another agent is told of one. */
export interface NamedMessages {
  /** In place of those that are missing in `lists`. */
  readonly lists?: Readonly<Record<string, readonly ListItem[]>>;
  /** In place of `shown`, which is empty then. */
  readonly shown?: readonly ListItem[];
}

/** What goes over a continue-as-new. `state` is the kernel's RunState without its lists; messages stand here once. */
export interface Snapshot {
  readonly state: unknown;
  /** The messages of each agent, by its path joined with "/". */
  readonly lists: Readonly<Record<string, readonly StoredMessage[]>>;
  /** Messages of the root agent that readers saw and that its list does not have yet. */
  readonly shown: readonly StoredMessage[];
  /**
   * Makes the messages that readers saw last, without the shown ones, out of the root agent's list: that one is of the last iteration
   * border, and a hook may have edited it since. Absent: with the list itself readers see what they saw.
   */
  readonly seen?: readonly Splice[];
  /** Whether readers saw what all agents of the conversation said. Absent: there is no list of it. */
  readonly together?: boolean;
  readonly nextOffset: number;
  readonly events: readonly WireEvent[];
  /** Messages that are made of those in the lists of conversations. Absent: all stand whole in `lists` and `shown`. */
  readonly named?: NamedMessages;
  /** The run had failed, and is tried again from here. */
  readonly retried?: true;
  /** The build that the run moved to, which tried it before. Absent: the run keeps its build. */
  readonly movedTo?: string;
}

/** What the newest build says of an open run: its name, and what speaks against going on there. */
export interface TrialVerdict {
  readonly build: string;
  readonly failure?: Failure;
}

/** What came of asking a run to move to the newest build. */
export interface UpgradeReceipt {
  readonly build: string;
  /** False: it is under the newest build already. */
  readonly moved: boolean;
}

export interface AgentRunInput {
  readonly start: StartInput;
  readonly snapshot?: Snapshot;
}

/** What the failure of a run carries besides: what it goes on with when it is tried again, or why it cannot be. */
export type RetryPoint = AgentRunInput | { readonly refused: Failure };

/** What a cancelled run, or an isolated agent that failed, goes on with, and the execution that kept it. */
export type KeptPoint = { readonly runId: string; readonly point: RetryPoint; readonly failed?: true };

export interface AgentRunResult {
  readonly output: Json;
  /** Absent when the output is the text. */
  readonly text?: string;
  /** Calls of external tools that the run ended with: it has no answer yet. */
  readonly pendingToolCalls?: readonly ToolCall[];
  /** Of an isolated agent with what of it each model has used. */
  readonly usage: Usage | ChildUsage;
  readonly base?: string;
  readonly splices?: readonly Splice[];
  readonly events?: readonly WireEvent[];
  /** Session values that an isolated agent has set. */
  readonly session?: JsonObject;
  /** An isolated agent that made no event at all. */
  readonly silent?: true;
  /** Of an isolated agent: what may not have reached the run that it is part of before this did. */
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
