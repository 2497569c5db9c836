import type { MaybePromise } from '../../contract/maybe-promise';
import type { Json, Message, ModelSettings, Usage } from '../../contract/messages/messages';
import type { HookContext, ModelRequest, ModelResponse } from '../../kernel/define/middleware';

export type Values = Readonly<Record<string, Json | undefined>>;

/** Values that all callbacks of one agent in one run share. They last until the run ends, also over a continue-as-new. */
export interface InvocationState {
  get(key: string): Json | undefined;
  set(key: string, value: Json): void;
  delete(key: string): void;
}

/** The run of the agent that a callback belongs to. */
export interface Invocation {
  readonly agent: string;
  readonly runId: string;
  /** Tokens so far. */
  readonly usage: Usage;
  /** What the user said last, as text. */
  readonly userMessage: string;
  readonly state: InvocationState;
  /** What a hook may do: ask people, call tools, sleep. Absent on the worker and in tests of a chain. */
  readonly ctx?: HookContext;
}

export interface CallbackArgs {
  readonly invocation: Invocation;
  /** What earlier callbacks passed on. A callback passes values on by returning `values`. */
  readonly values: Values;
}

export interface CallbackResult {
  readonly values?: Readonly<Record<string, Json>>;
  /** An error beside a value. A throw is one without. */
  readonly error?: unknown;
}

export type Callback<Args, Result> = (args: Args) => MaybePromise<Result | null | undefined | void>;

export interface CallbackOptions {
  /** Later callbacks run after an error too. The first error still counts. Default: false. */
  readonly continueOnError?: boolean;
  /** Later callbacks run after a custom value too. The last value counts. Default: false. */
  readonly continueOnResponse?: boolean;
  /** What stops the chain keeps what earlier callbacks returned. Default: false, it stands alone. */
  readonly mergeOnStop?: boolean;
}

/** What a chain came to; it may be both. */
export interface ChainOutcome<Result> {
  readonly result?: Result;
  readonly error?: Error;
}

/** The copy of a request that callbacks may change. Which model is called is not theirs to change. */
export interface ModelRequestDraft {
  instructions: string;
  messages: Message[];
  tools: string[];
  readonly model: string;
  settings?: ModelSettings;
}

/** The copy of a response that callbacks may change. A message is replaced, not changed. */
export type ModelResponseDraft = { -readonly [Field in keyof ModelResponse]: ModelResponse[Field] };

export interface BeforeModelArgs extends CallbackArgs {
  readonly request: ModelRequestDraft;
}
export interface BeforeModelResult extends CallbackResult {
  /** Is the answer, and the model is not called. `after` callbacks run. */
  readonly customResponse?: string | ModelResponse;
}
export interface AfterModelArgs extends CallbackArgs {
  readonly request: ModelRequest;
  readonly response?: ModelResponseDraft;
  /** Why there is no response: `code: message`. */
  readonly error?: Error;
}
export interface AfterModelResult extends CallbackResult {
  /** Takes the place of the response, or of the error. */
  readonly customResponse?: string | ModelResponse;
}

export interface BeforeToolArgs extends CallbackArgs {
  readonly toolCallId: string;
  readonly toolName: string;
  /** May be changed or replaced. */
  arguments: Json;
}
export interface BeforeToolResult extends CallbackResult {
  /** Is the result. Neither the tool nor `after` callbacks run. */
  readonly customResult?: Json;
  readonly modifiedArguments?: Json;
}
export interface AfterToolArgs extends CallbackArgs {
  readonly toolCallId: string;
  readonly toolName: string;
  /** Those that the tool was called with. */
  readonly arguments: Json;
  readonly result?: Json;
  readonly error?: Error;
}
export interface AfterToolResult extends CallbackResult {
  /** Takes the place of the result, or of the error. */
  readonly customResult?: Json;
  /** The run ends with this result; the model is not asked again. */
  readonly skipSummarization?: boolean;
}

/** What callbacks of each place get and return. */
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

/** Makes what callbacks behind a call see in place of its result. Nothing: they see the result. */
export type CallbackResultView = (
  args: Omit<AfterToolArgs, 'error' | 'result'> & { readonly result: Json },
) => MaybePromise<Json | undefined | void>;

export interface ToolResultMessagesArgs extends CallbackArgs {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly arguments: Json;
  readonly result: Json;
  /** What the model sees otherwise. */
  readonly defaultMessage: Message;
}
export type ToolResultMessages = Callback<ToolResultMessagesArgs, Message | readonly Message[]>;

export type BeforeAgentArgs = CallbackArgs;
export interface BeforeAgentResult extends CallbackResult {
  /** Is the answer, and the agent does not run. Neither do `after` callbacks. */
  readonly customResponse?: string | Message;
}
export interface AfterAgentArgs extends CallbackArgs {
  /** The last message of the agent, if it came to one. */
  readonly response?: Message;
  /** Why the agent failed: `code: message`. */
  readonly error?: Error;
}
export interface AfterAgentResult extends CallbackResult {
  /** Is shown behind the answer. */
  readonly customResponse?: string | Message;
}
