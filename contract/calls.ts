import type { Failure, FinishReason, Json, JsonObject, Message, StoredMessage, Usage } from './messages/messages';
import type { MiddlewareChange } from './middleware-changes';
import type { ThrownFailure } from './run-executions';
import type { CallWaits, RequestSlots, ToolOutcome } from './record/wire';

/** How a call stands. `running`: it was scheduled and has not come back, whatever its attempts came to. */
export type CallStatus = 'running' | 'completed' | 'failed' | 'cancelled';

interface AnyRunCall {
  readonly address: string;
  readonly agent: string;
  readonly runPath: readonly string[];
  readonly status: CallStatus;
  /** When it was scheduled, in milliseconds since 1970. */
  readonly startedAt: number;
  readonly endedAt?: number;
  /** How often workers have had it. Undefined: its history does not say so. */
  readonly attempts?: number;
  /** Why the attempt before the last one failed, or the last one of a call that has no end. */
  readonly lastFailure?: ThrownFailure;
  /** Who changed something of it. Undefined: nobody, or the run has not gone on yet. */
  readonly changes?: readonly MiddlewareChange[];
}

/** What a model was asked, as the run sent it. What worker middleware made of it is told in `changes` only. */
export interface ModelAsked extends Pick<Partial<RequestSlots>, 'instructions' | 'tools' | 'model'> {
  readonly settings?: JsonObject;
  /** Names of worker middleware, outermost first. */
  readonly workerMiddleware?: readonly string[];
  /** The schema that the answer has to fit. */
  readonly output?: string;
  readonly catalog?: readonly string[];
  readonly deferred?: Json;
  /** What the model is told at the end of a request for a final answer. */
  readonly final?: string;
  /** A part of the messages: `from` is the position of the first one. */
  readonly messages: readonly StoredMessage[];
  readonly from: number;
  readonly total: number;
}

/** Messages that went and came at one place of the list. */
export interface MessageEdit {
  /** The position in the list before. */
  readonly at: number;
  readonly removed: readonly StoredMessage[];
  readonly added: readonly StoredMessage[];
}

/** How a request differs from that of the agent's call before. */
export interface RequestDiff {
  /** Of the call before. */
  readonly address: string;
  readonly messages: readonly MessageEdit[];
  /** What else is another one, with what it was before. */
  readonly fields: readonly { readonly name: string; readonly before: Json }[];
  /** Edits that are too large were left out. */
  readonly more?: true;
}

export interface ModelRunCall extends AnyRunCall {
  readonly kind: 'model';
  readonly turn: number;
  readonly request: ModelAsked;
  /** Undefined: it is the first call of the agent, or the server no longer has the one before. */
  readonly diff?: RequestDiff;
  readonly response?: {
    /** As the model gave it. `model-end` has it as layers left it. */
    readonly message?: StoredMessage;
    /** What a stream had said when it broke. */
    readonly partial?: Message;
    readonly model?: string;
    readonly usage?: Usage;
    readonly finish?: FinishReason;
    readonly failed?: Failure;
    readonly waited?: CallWaits;
  };
  /** Earlier calls for the same message that failed, or whose answer did not count. */
  readonly retries: readonly { readonly address: string; readonly failed?: Failure }[];
}

export interface ToolRunCall extends AnyRunCall {
  readonly kind: 'tool';
  readonly tool: string;
  readonly callId: string;
  readonly request: {
    readonly input: Json;
    /** The arguments as the model gave them, where parsing or a layer changed them. */
    readonly rawInput?: Json;
    readonly options?: JsonObject;
    /** Names of worker middleware, outermost first. */
    readonly workerMiddleware?: readonly string[];
    /** The tool had asked, and goes on with this answer. */
    readonly answer?: Json;
    /** The tool is only asked whether an earlier attempt took effect. */
    readonly reconcile?: true;
  };
  /** What came back. A tool of the workflow has the message that counts. */
  readonly response?: { readonly outcome?: ToolOutcome; readonly message?: StoredMessage };
}

/** A call of a model or a tool, by its address. */
export type RunCall = ModelRunCall | ToolRunCall;
