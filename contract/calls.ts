import type { Failure, FinishReason, Json, JsonObject, Message, StoredMessage, Usage } from './messages/messages';
import type { MiddlewareChange } from './middleware-changes';
import type { ThrownFailure } from './run-executions';
import type { CallWaits, RequestSlots, ToolOutcome } from './record/wire';

/** The state of a call. `running`: scheduled and not back yet, however many attempts failed. */
export type CallStatus = 'running' | 'completed' | 'failed' | 'cancelled';

interface AnyRunCall {
  readonly address: string;
  readonly agent: string;
  readonly runPath: readonly string[];
  readonly status: CallStatus;
  /** When the call was scheduled, in milliseconds since 1970. */
  readonly startedAt: number;
  readonly endedAt?: number;
  /** Attempts by workers. Undefined: the history does not say. */
  readonly attempts?: number;
  /** Why the previous attempt failed, or the latest attempt of an open call. */
  readonly lastFailure?: ThrownFailure;
  /** Middleware that changed the call. Undefined: none, or not known yet. */
  readonly changes?: readonly MiddlewareChange[];
}

/** The request as the run sent it. Worker middleware shows only in `changes`. */
export interface ModelAsked extends Pick<Partial<RequestSlots>, 'instructions' | 'tools' | 'model'> {
  readonly settings?: JsonObject;
  /** Names of worker middleware, outermost first. */
  readonly workerMiddleware?: readonly string[];
  /** The schema that the answer has to fit. */
  readonly output?: string;
  readonly catalog?: readonly string[];
  readonly deferred?: Json;
  /** The last message of a request for a final answer. */
  readonly final?: string;
  /** Part of the messages, from position `from`. */
  readonly messages: readonly StoredMessage[];
  readonly from: number;
  readonly total: number;
}

/** Messages removed and added at one place of the list. */
export interface MessageEdit {
  /** The position in the previous list. */
  readonly at: number;
  readonly removed: readonly StoredMessage[];
  readonly added: readonly StoredMessage[];
}

/** Differences from the agent's previous request. */
export interface RequestDiff {
  readonly address: string;
  readonly messages: readonly MessageEdit[];
  /** Other changed fields, with their previous values. */
  readonly fields: readonly { readonly name: string; readonly before: Json }[];
  /** Set when large edits were left out. */
  readonly more?: true;
}

export interface ModelRunCall extends AnyRunCall {
  readonly kind: 'model';
  readonly turn: number;
  readonly request: ModelAsked;
  /** Undefined: the first call, or the server no longer has the previous call. */
  readonly diff?: RequestDiff;
  readonly response?: {
    /** As the model gave the message. `model-end` has the message after middleware. */
    readonly message?: StoredMessage;
    /** The words of a stream before the stream broke. */
    readonly partial?: Message;
    readonly model?: string;
    readonly usage?: Usage;
    readonly finish?: FinishReason;
    readonly failed?: Failure;
    readonly waited?: CallWaits;
  };
  /** Earlier calls for the same message that failed or did not count. */
  readonly retries: readonly { readonly address: string; readonly failed?: Failure }[];
}

export interface ToolRunCall extends AnyRunCall {
  readonly kind: 'tool';
  readonly tool: string;
  readonly callId: string;
  readonly request: {
    readonly input: Json;
    /** The model's arguments, where parsing or middleware changed them. */
    readonly rawInput?: Json;
    readonly options?: JsonObject;
    /** Names of worker middleware, outermost first. */
    readonly workerMiddleware?: readonly string[];
    /** The answer to the tool's question. */
    readonly answer?: Json;
    /** The tool only says whether an earlier attempt took effect. */
    readonly reconcile?: true;
  };
  /** A tool in the workflow has only the message. */
  readonly response?: { readonly outcome?: ToolOutcome; readonly message?: StoredMessage };
}

export type RunCall = ModelRunCall | ToolRunCall;
