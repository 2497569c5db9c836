import type { MaybePromise } from '../../contract/maybe-promise';
import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import type { DeferredTools, WorkerMiddlewareRef, Language, ToolFacts, ToolKind } from '../../contract/manifest';
import type {
  Failure,
  FinishReason,
  Json,
  Message,
  ModelSettings,
  Part,
  StoredMessage,
  ToolCall,
  Usage,
} from '../../contract/messages/messages';
import { notJson } from '../../contract/messages/messages';
import type { Observed, ObservedEnd, ObservedError, ObservedRequest } from '../../contract/observed';
import type { Uncounted } from '../../contract/usage';
import type { ParseInputResult } from '../../contract/record/wire';
import type { CallsBeside } from '../effects/tool-decision';
import type { Agent, AgentInput } from './agent-ref';
import type { FailoverOptions, RetryOptions } from './retry-options';

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Runs = (input: any, call: any) => unknown;
export type Tools = Record<string, { execute?: Runs; stream?: Runs; external?: true }>;
/** The input of a tool. */
export type InputOf<T> = T extends { stream: (input: infer Input, ...rest: never[]) => unknown }
  ? Input
  : T extends { readonly execute?: undefined }
    ? never
    : T extends { execute?: (input: infer Input, ...rest: never[]) => unknown }
      ? Input
      : never;
/** The output of a tool: streamed texts joined, parts of an enhanced tool as one list, the last preliminary result. */
export type OutputOf<T> = T extends { readonly enhanced: true }
  ? readonly Part[]
  : T extends { stream: (...parameters: never[]) => unknown }
    ? string
    : T extends { readonly execute?: undefined }
      ? never
      : T extends { execute?: (...parameters: never[]) => infer Output }
        ? Last<Output>
        : never;
type Last<Output> = Output extends AsyncIterable<infer Value> ? Value : Awaited<Output>;

// `M` is the shape of messages: the stored shape, unless `agenticMiddleware` or `chatMiddleware` sets another.

export interface ModelRequest<M = Message> extends Omit<ObservedRequest, 'messages'> {
  readonly messages: readonly M[];
}

export interface ModelResponse<M = Message> {
  readonly message: M;
  readonly usage?: Usage;
  /** Counts that are 0 in `usage` because the provider left them out. */
  readonly uncounted?: readonly Uncounted[];
  /** Why the model stopped. Absent: the answer is whole. */
  readonly finish?: FinishReason;
  /** provider/model that answered. */
  readonly model?: string;
}

export interface InterruptOptions {
  readonly kind?: 'question' | 'custom';
  readonly answerSchema?: Json;
  /** A duration from now, such as '3d'. After the deadline, `onDeadline` is the answer. */
  readonly deadline?: string;
  readonly onDeadline?: Json;
  /** Who may answer. Default: anybody. */
  readonly by?: readonly string[];
  /** Roles that may also answer. */
  readonly roles?: readonly string[];
  /** People who may not answer, in any role. If set, even empty, an answer needs a name. */
  readonly notBy?: readonly string[];
  /** Times of reminders for readers, such as ['1d', '2d']. */
  readonly remind?: readonly string[];
  /** People and roles that may also answer, after a time without an answer. */
  readonly escalate?: { readonly after: string; readonly by?: readonly string[]; readonly roles?: readonly string[] };
}

export interface AgentEvent<M = Message> {
  readonly name?: string;
  readonly message?: M;
  readonly action?: Json;
  readonly data?: Json;
}

export interface ValueStore {
  get(key: string): Json | undefined;
  set(key: string, value: Json): void;
}

/** Actions of a hook or wrap on the workflow side. */
export interface HookContext<T extends Tools = Tools, M = Message> {
  readonly agent: string;
  readonly runPath: readonly string[];
  readonly runId: string;
  /** Values that earlier hooks returned in `values`. */
  readonly values: Readonly<Record<string, Json | undefined>>;
  readonly session: ValueStore;
  readonly runLocal: ValueStore & { delete(key: string): void };
  readonly usage: Usage;
  /** The report of the last answer, while earlier messages are unchanged. */
  readonly lastAnswer: LastAnswer | undefined;
  /** The language of built-in texts. */
  readonly language: Language;
  readonly iteration: number;
  /** The last message of the user, as text. */
  readonly userMessage: string;
  /** The unique place of the agent in the started run, for keys of `session`. An isolated agent has one place in both runs. */
  readonly placeInRun: readonly string[];
  /** In `afterAgent`: the tool result with which the agent ended. Undefined: an answer. */
  readonly directAnswer: StoredMessage | undefined;
  /** In a wrap of a tool call: the calls of the same message, in order. */
  readonly callsBeside: CallsBeside | undefined;
  /** The facts of a tool at the beginning of the run. Undefined: no worker has the tool. */
  toolFacts(tool: string): ToolFacts | undefined;
  /** The tool of a written name, which may be an alias. An unknown name stays. */
  nameOfTool(written: string): string;
  /** The call with canonical names of tool and arguments. */
  namedCall(call: Pick<ToolCall, 'id' | 'name' | 'input'>): ToolCall;
  /** The calls of a message, with canonical names. */
  namedCalls(message: M): readonly ToolCall[];
  /** Whether a message carries the words of another agent. */
  isFromOthers(message: { readonly id?: string }): boolean;
  /** The `facts` of the agent's middleware under a name, in list order. */
  factsOfMiddleware(name: string): readonly Json[];
  sendEvent(name: string, data: Json): void;
  /** A whole event: any of message, action and data. Default name: `agent-event`. */
  sendEvent(event: AgentEvent<M>): void;
  /** The message with a lasting id: in an event, and in the state if a hook returns the message unchanged. */
  ensureMessageId(message: M): M & { readonly id: string };
  /** In a wrap of a tool call: sets the `action` of the call's event. The last action counts. */
  sendToolAction(action: Json): void;
  /** Waits for a person's answer. The run may continue as new or move meanwhile. */
  interrupt<Answer = unknown>(info: Json, options?: InterruptOptions): Promise<Answer>;
  /** Asks a person to decide about a tool call. */
  approve(call: ToolCall, options?: Omit<InterruptOptions, 'kind' | 'answerSchema'> & { readonly problem?: string }): Promise<unknown>;
  /** Whether a tool accepts arguments, and their parsed value. */
  parse(tool: string, input: Json): Promise<ParseInputResult>;
  /** I/O from a hook: a tool by name, run as an activity. The model does not see the call. */
  call<Name extends keyof T & string>(tool: Name, input: InputOf<T[Name]>): Promise<OutputOf<T[Name]>>;
  model(
    name: string,
    request: {
      readonly messages: readonly M[];
      readonly instructions?: string;
      readonly settings?: ModelSettings;
      /** Worker tools whose descriptions follow the instructions. The model cannot call these tools. */
      readonly catalog?: readonly string[];
      /** False: the server does not repeat a failed call. */
      readonly retry?: boolean;
    },
  ): Promise<ModelResponse<M>>;
  sleep(duration: string): Promise<void>;
  /**
   * The first branch that ends, by name; if a branch throws first, the race throws. Then the other branches end: questions are withdrawn,
   * sleeps stop. Each branch acts through its own `ctx`.
   */
  race<Branches extends Readonly<Record<string, (ctx: HookContext<T, M>) => unknown>>>(branches: Branches): Promise<RaceOf<Branches>>;
  /** The result of `act`, or undefined if the time is up first. Then all waits of `act` end. */
  within<Value>(duration: string, act: (ctx: HookContext<T, M>) => MaybePromise<Value>): Promise<Value | undefined>;
  /** Milliseconds since 1970 by the clock of the run. */
  now(): number;
  /** From 0 up to 1, the same when the run is replayed. */
  random(): number;
}

export type RaceOf<Branches> = {
  readonly [Name in keyof Branches & string]: {
    readonly first: Name;
    readonly value: Branches[Name] extends (ctx: never) => infer Value ? Awaited<Value> : never;
  };
}[keyof Branches & string];

export interface LastAnswer {
  readonly position: number;
  /** The tokens of the whole request and of the answer. */
  readonly tokens: number;
}

/** A tool that the run itself answers, deterministic like a hook. No worker knows the tool. */
export interface WorkflowTool<T extends Tools = Tools> {
  readonly name: string;
  readonly description: string;
  /** A JSON Schema. Misfitting arguments go back to the model. */
  readonly inputSchema: Json;
  /** The agents for `ctx.runAgent`. */
  readonly agents?: readonly Agent<string, unknown, unknown>[];
  execute(input: Json, ctx: ToolContext<T>): MaybePromise<Json>;
}

export interface ToolContext<T extends Tools = Tools> extends HookContext<T> {
  readonly toolCall: ToolCall;
  /** The messages of the agent, up to the message with this call. */
  readonly messages: readonly StoredMessage[];
  /**
   * Runs one of `agents` in its own conversation, and returns the answer. Input: a text, a job that fits `inputSchema`, or messages;
   * `ctx.messages` keep their ids. A function is called only when the agent begins.
   */
  runAgent(
    name: string,
    input: AgentInput | (() => readonly Message[]),
    options?: {
      /** Shows the agent's events to readers of the run. */
      readonly forwardEvents?: boolean;
      /** Replaces the model of the agent. */
      readonly model?: string;
    },
  ): Promise<string>;
}

export const ownMark = Symbol.for('holdfast.own-tool');

export interface OwnToolRef {
  readonly name: string;
  readonly [ownMark]: unknown;
}

/** Undefined keeps the state. Otherwise a partial update, and values for later hooks. */
export type Update<State> = void | (Partial<State> & { readonly values?: Readonly<Record<string, Json>> });

export interface RunSetup {
  readonly instructions: string;
  readonly tools: readonly string[];
  readonly returnDirectly: readonly string[];
}

export interface AgentState<M = Message> {
  readonly messages: readonly M[];
  readonly tools: readonly string[];
  /** Tools that the model finds with a search tool. Absent: none. */
  readonly deferred?: DeferredTools;
}

/** Returned by a hook that ends the agent without another model call. */
export interface Ending<M = Message> {
  /** A message of the state, or a new message of the assistant, which is shown and appended. The first answer counts. */
  readonly answer: M;
}

/**
 * The workflow side of a middleware.
 *
 * Errors: an error of a hook ends the run with the hook's name; coded errors, interrupts and cancellation pass unchanged.
 * Result: hooks return nothing or a partial update; wraps return the result of `next`, or their own.
 * Rules: no clock, randomness or I/O; wait only for `ctx` and `next`; leave no promise running.
 * Replay: the code runs again with recorded results, without effects.
 */
export interface AgentMiddleware<T extends Tools = Tools, M = Message> {
  readonly name: string;
  readonly options?: Json;
  /** Set by `onWorker`. */
  readonly onWorker?: WorkerMiddlewareRef;
  /**
   * Says that `wrapModel` or `wrapToolCall` may change the result, so readers get only the final answer. Without this flag readers see a
   * stream at once, and a later change replaces the stream.
   */
  readonly changesOutput?: boolean;
  /** `retry` of the agent. Only one middleware may have `retry`. */
  readonly retry?: RetryOptions;
  /** `failover` of the agent. Only one middleware may have `failover`. */
  readonly failover?: FailoverOptions;
  /** Tools that the run answers and the model is offered. */
  readonly tools?: readonly (WorkflowTool<T> | OwnToolRef)[];
  /** With `answer`, the agent, later hooks and `afterAgent` do not run. */
  beforeAgent?(setup: RunSetup, ctx: HookContext<T, M>): MaybePromise<Update<RunSetup & Ending<M>>>;
  /** Observes the beginning of the agent, of model calls and of tool calls. Observers change nothing. */
  onStart?(observed: Observed, ctx: HookContext<T, M>): MaybePromise<void>;
  onEnd?(observed: ObservedEnd, ctx: HookContext<T, M>): MaybePromise<void>;
  /** Called instead of `onEnd` after a failure, but not after a cancel. */
  onError?(observed: ObservedError, ctx: HookContext<T, M>): MaybePromise<void>;
  beforeModelRewriteState?(state: AgentState<M>, ctx: HookContext<T, M>): MaybePromise<Update<AgentState<M>>>;
  afterModelRewriteState?(state: AgentState<M>, ctx: HookContext<T, M>): MaybePromise<Update<AgentState<M>>>;
  wrapModel?(
    request: ModelRequest<M>,
    next: (request: ModelRequest<M>) => Promise<ModelResponse<M>>,
    ctx: HookContext<T, M>,
  ): Promise<ModelResponse<M>>;
  /** The tools that `wrapToolCall` sees. Default: all. */
  readonly onlyTools?: readonly string[];
  /** Tools for `ctx.call`. A run whose worker lacks a tool fails at its start. */
  readonly callsTools?: readonly string[];
  /** Tools about which hooks ask people: the interrupt shows the schema, and misfitting edits are refused. */
  readonly asksAbout?: readonly string[];
  /** The kinds of tools that `wrapToolCall` sees. Default: all. */
  readonly onlyKinds?: readonly ToolKind[];
  wrapToolCall?(call: ToolCall, next: (call: ToolCall) => Promise<Json>, ctx: HookContext<T, M>): Promise<Json>;
  afterToolCalls?(state: AgentState<M>, ctx: HookContext<T, M>): MaybePromise<Update<AgentState<M> & Ending<M>>>;
  /** Appended messages are shown after the answer, which stays the result. */
  afterAgent?(state: AgentState<M>, ctx: HookContext<T, M>): MaybePromise<void | { readonly append?: readonly M[] }>;
  /** Called instead of `afterAgent` after a failure, but not after a cancel. The run keeps its failure. */
  afterFailure?(failure: Failure, state: AgentState<M>, ctx: HookContext<T, M>): MaybePromise<void | { readonly append?: readonly M[] }>;
}

/**
 * Puts a worker middleware into an agent's middleware list, by name, with JSON options.
 * @example
 * export const audited = defineAgent({
 *   name: 'audited',
 *   description: 'Answers, on the record.',
 *   instructions: 'You are careful.',
 *   model: 'default',
 *   tools: ['findOrder'],
 *   middleware: [onWorker('audit', { topic: 'orders' })],
 * });
 */
export function onWorker(name: string, options?: Json): AgentMiddleware {
  const problem = options === undefined ? undefined : notJson(options);
  if (problem !== undefined) throw new HoldfastError('agent-invalid', `onWorker("${name}"): options must be JSON; ${problem}.`);
  return { name, onWorker: { name, ...defined({ options }) } };
}
