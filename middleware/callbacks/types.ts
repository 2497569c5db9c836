import type { MaybePromise } from '../../contract/maybe-promise';
import type { Json, Message, ModelSettings, Usage } from '../../contract/messages/messages';
import type { HookContext, ModelRequest, ModelResponse } from '../../kernel/define/middleware';

/** Shared by all callbacks of an agent in a run, also over a continue-as-new. */
export interface InvocationState {
  get(key: string): Json | undefined;
  set(key: string, value: Json): void;
  delete(key: string): void;
}

export interface Invocation {
  readonly agent: string;
  readonly runId: string;
  readonly usage: Usage;
  readonly userMessage: string;
  readonly state: InvocationState;
  /** Absent on the worker and in chains by hand. */
  readonly ctx?: HookContext;
}

export interface CallbackArgs {
  readonly invocation: Invocation;
  /** From earlier callbacks, which return `values`. */
  readonly values: Readonly<Record<string, Json | undefined>>;
}

export interface CallbackResult {
  readonly values?: Readonly<Record<string, Json>>;
  /** An error beside a value; a throw has no value. */
  readonly error?: unknown;
}

export type Callback<Args, Result> = (args: Args) => MaybePromise<Result | null | undefined | void>;

export interface CallbackOptions {
  /** Later callbacks run after an error, too. The first error counts. Default: false. */
  readonly continueOnError?: boolean;
  /** Later callbacks run after a custom value, too. The last value counts. Default: false. */
  readonly continueOnResponse?: boolean;
  /** The stopping result keeps fields of earlier results. Default: false. */
  readonly mergeOnStop?: boolean;
}

export interface ChainOutcome<Result> {
  readonly result?: Result;
  readonly error?: Error;
}

/** Callbacks may change all but the model. */
export interface ModelRequestDraft {
  instructions: string;
  messages: Message[];
  tools: string[];
  readonly model: string;
  settings?: ModelSettings;
}

/** A message is replaced, not changed. */
export type ModelResponseDraft = { -readonly [Field in keyof ModelResponse]: ModelResponse[Field] };

export interface BeforeModelArgs extends CallbackArgs {
  readonly request: ModelRequestDraft;
}
export interface BeforeModelResult extends CallbackResult {
  /** The answer: the model is not called, and `after` callbacks run. */
  readonly customResponse?: string | ModelResponse;
}
export interface AfterModelArgs extends CallbackArgs {
  readonly request: ModelRequest;
  readonly response?: ModelResponseDraft;
  /** Why there is no response: `code: message`. */
  readonly error?: Error;
}
export interface AfterModelResult extends CallbackResult {
  /** Replaces the response, or the error. */
  readonly customResponse?: string | ModelResponse;
}

export interface BeforeToolArgs extends CallbackArgs {
  readonly toolCallId: string;
  readonly toolName: string;
  arguments: Json;
}
export interface BeforeToolResult extends CallbackResult {
  /** The result: neither the tool nor `after` callbacks run. */
  readonly customResult?: Json;
  readonly modifiedArguments?: Json;
}
export interface AfterToolArgs extends Readonly<BeforeToolArgs> {
  readonly result?: Json;
  readonly error?: Error;
}
export interface AfterToolResult extends CallbackResult {
  /** Replaces the result, or the error. */
  readonly customResult?: Json;
  /** The run ends with this result. */
  readonly skipSummarization?: boolean;
}

export interface Places {
  readonly beforeAgent: readonly [BeforeAgentArgs, BeforeAgentResult];
  readonly afterAgent: readonly [AfterAgentArgs, AfterAgentResult];
  readonly beforeModel: readonly [BeforeModelArgs, BeforeModelResult];
  readonly afterModel: readonly [AfterModelArgs, AfterModelResult];
  readonly beforeTool: readonly [BeforeToolArgs, BeforeToolResult];
  readonly afterTool: readonly [AfterToolArgs, AfterToolResult];
}
export type Place = keyof Places;
export type CallbackAt<At extends Place> = Callback<Places[At][0], Places[At][1]>;

/** Replaces a result for later callbacks. Undefined: the result. */
export type CallbackResultView = (args: Readonly<BeforeToolArgs> & { readonly result: Json }) => MaybePromise<Json | undefined | void>;

export interface ToolResultMessagesArgs extends Readonly<BeforeToolArgs> {
  readonly result: Json;
  readonly defaultMessage: Message;
}
export type ToolResultMessages = Callback<ToolResultMessagesArgs, Message | readonly Message[]>;

export type BeforeAgentArgs = CallbackArgs;
export interface BeforeAgentResult extends CallbackResult {
  /** The answer: neither the agent nor `after` callbacks run. */
  readonly customResponse?: string | Message;
}
export interface AfterAgentArgs extends CallbackArgs {
  readonly response?: Message;
  /** Why the agent failed: `code: message`. */
  readonly error?: Error;
}
export interface AfterAgentResult extends CallbackResult {
  readonly customResponse?: string | Message;
}
