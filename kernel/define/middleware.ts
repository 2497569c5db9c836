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
import type { Observed, ObservedEnd, ObservedError } from '../../contract/observed';
import type { Uncounted } from '../../contract/usage';
import type { ParseInputResult } from '../../contract/record/wire';
import type { CallsBeside } from '../effects/tool-decision';
import type { Agent, AgentInput } from './agent-ref';
import type { OwnToolRef } from './workflow-tools';
import type { FailoverOptions, RetryOptions } from './retry-options';

// The one place where `any` is right: a tool of whatever input.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Runs = (input: any, call: any) => unknown;
/** What agents see of tools: their types. The tools themselves live on the worker. */
export type Tools = Record<string, { execute?: Runs; stream?: Runs; external?: true }>;
/** The forms of tools: those that stream, those that do not, and those that have no `execute` that TypeScript could be sure of. */
export type InputOf<T> = T extends { stream: (input: infer Input, ...rest: never[]) => unknown }
  ? Input
  : T extends { readonly execute?: undefined }
    ? never
    : T extends { execute?: (input: infer Input, ...rest: never[]) => unknown }
      ? Input
      : never;
/** The texts of a stream are one text, the parts of an enhanced tool one list; of preliminary results the last one counts. */
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

// Whatever holds messages takes their shape as `M`: the stored one, unless `agenticMiddleware` or `chatMiddleware` says otherwise.

export interface ModelRequest<M = Message> {
  readonly instructions: string;
  readonly messages: readonly M[];
  readonly tools: readonly string[];
  readonly model: string;
  readonly settings?: ModelSettings;
}

export interface ModelResponse<M = Message> {
  readonly message: M;
  readonly usage?: Usage;
  /** Counts of `usage` that the provider left out: they are 0. */
  readonly uncounted?: readonly Uncounted[];
  /** Why the model stopped. Absent when it came to an end by itself. */
  readonly finish?: FinishReason;
  /** provider/model that answered. */
  readonly model?: string;
}

export interface InterruptOptions {
  readonly kind?: 'question' | 'custom';
  readonly answerSchema?: Json;
  /** From now on, such as '3d'. Then `onDeadline` is the answer. */
  readonly deadline?: string;
  readonly onDeadline?: Json;
  /** Who may answer. Default: anybody. */
  readonly by?: readonly string[];
  /** Whoever has one of these roles may answer as well. */
  readonly roles?: readonly string[];
  /** Who may not answer, whatever their roles are. Given, also empty: an answer has to say who gives it. */
  readonly notBy?: readonly string[];
  /** After which times an event says that nobody has answered yet, such as ['1d', '2d']. */
  readonly remind?: readonly string[];
  /** Who may answer as well after a time without an answer. */
  readonly escalate?: { readonly after: string; readonly by?: readonly string[]; readonly roles?: readonly string[] };
}

/** An event that a hook makes. */
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

/**
 * What a hook or wrap of the workflow side may do. Everything that waits goes through here and through `next`.
 * Made in kernel/hooks: members in context.ts, effects in acting.ts.
 */
export interface HookContext<T extends Tools = Tools, M = Message> {
  readonly agent: string;
  readonly runPath: readonly string[];
  readonly runId: string;
  /** Context propagation: what earlier hooks passed on. A hook passes values on by returning `values`. */
  readonly values: Readonly<Record<string, Json | undefined>>;
  readonly session: ValueStore;
  readonly runLocal: ValueStore & { delete(key: string): void };
  readonly usage: Usage;
  /** What the last answer reported, while nothing before it has changed. */
  readonly lastAnswer: LastAnswer | undefined;
  /** Of the texts that are not the agent's own. */
  readonly language: Language;
  readonly iteration: number;
  /** What the user said last, as text. */
  readonly userMessage: string;
  /**
   * Where the agent is in the run that somebody started: an isolated agent is at the same place there and in its own run, and no two agents
   * share one. Name by it what you keep in `session` for one agent.
   */
  readonly placeInRun: readonly string[];
  /** In `afterAgent`: the result of a tool with which the agent ended. Undefined: it ended with an answer. */
  readonly directAnswer: StoredMessage | undefined;
  /** In a wrap of a tool call: the calls of the same message that the run makes, in the order of the model, whichever comes here first. */
  readonly callsBeside: CallsBeside | undefined;
  /** What the worker knew about a tool when the run began. Undefined: no worker has it. */
  toolFacts(tool: string): ToolFacts | undefined;
  /** The tool behind a name in the messages: the model may have written an alias. A name that no tool of the agent has stays. */
  nameOfTool(written: string): string;
  /** A call in the messages by the name of its tool and the tool's own keys, whatever aliases the model wrote. */
  namedCall(call: Pick<ToolCall, 'id' | 'name' | 'input'>): ToolCall;
  /** The calls of a message in the same way. */
  namedCalls(message: M): readonly ToolCall[];
  /** Whether a message tells the agent what another agent said. */
  isFromOthers(message: { readonly id?: string }): boolean;
  /** What middleware of this agent says under a name of its trait `facts`, in the order of the list. */
  factsOfMiddleware(name: string): readonly Json[];
  sendEvent(name: string, data: Json): void;
  /** A whole event: a message, an action, data, in any mixture. Its name is `agent-event` where it has none. */
  sendEvent(event: AgentEvent<M>): void;
  /** The message under an id that it keeps: in an event, and in the state when a hook returns it unchanged. */
  ensureMessageId(message: M): M & { readonly id: string };
  /** In a wrap of a tool call: what the event of this call carries as its `action`. The last one counts. */
  sendToolAction(action: Json): void;
  /** Waits for a human. The run may be continued, moved and resumed in between; the answer arrives exactly here. */
  interrupt<Answer = unknown>(info: Json, options?: InterruptOptions): Promise<Answer>;
  /** Asks a human to decide about a tool call. */
  approve(call: ToolCall, options?: Omit<InterruptOptions, 'kind' | 'answerSchema'> & { readonly problem?: string }): Promise<unknown>;
  /** Whether a tool would take arguments, and what they mean to it. */
  parse(tool: string, input: Json): Promise<ParseInputResult>;
  /** I/O from a hook: a tool by name, run as an activity, not shown to the model. */
  call<Name extends keyof T & string>(tool: Name, input: InputOf<T[Name]>): Promise<OutputOf<T[Name]>>;
  model(
    name: string,
    request: {
      readonly messages: readonly M[];
      readonly instructions?: string;
      readonly settings?: ModelSettings;
      /** Tools of the worker that the model is told about, with their descriptions, behind the instructions. It cannot call them. */
      readonly catalog?: readonly string[];
      /** With `false` a failed call is not made again by the server: it throws at once. */
      readonly retry?: boolean;
    },
  ): Promise<ModelResponse<M>>;
  sleep(duration: string): Promise<void>;
  /**
   * What ends first, by its name. Each branch acts through the `ctx` that it is given; all others are over then: their questions are
   * withdrawn, their sleeps end. A branch that throws first is what the race throws.
   */
  race<Branches extends Readonly<Record<string, (ctx: HookContext<T, M>) => unknown>>>(branches: Branches): Promise<RaceOf<Branches>>;
  /** What `act` ends with, or nothing when the time is up before; then what it waits for is over. */
  within<Value>(duration: string, act: (ctx: HookContext<T, M>) => MaybePromise<Value>): Promise<Value | undefined>;
  /** Milliseconds since 1970 by the run's own clock. */
  now(): number;
  /** From 0 up to 1, the same when the run is replayed. */
  random(): number;
}

/** How a race ends: which branch was first, and with what. */
export type RaceOf<Branches> = {
  readonly [Name in keyof Branches & string]: {
    readonly first: Name;
    readonly value: Branches[Name] extends (ctx: never) => infer Value ? Awaited<Value> : never;
  };
}[keyof Branches & string];

/** The answer of the last model call, and what it reported. */
export interface LastAnswer {
  /** Where it stands among the messages. */
  readonly position: number;
  /** What its call took: all that the model was given, and the answer. */
  readonly tokens: number;
}

/** A tool that the run itself answers, deterministic like a hook. No worker knows it; the model sees it as any other. */
export interface WorkflowTool<T extends Tools = Tools> {
  readonly name: string;
  readonly description: string;
  /** A JSON Schema. Arguments that do not fit go back to the model. */
  readonly inputSchema: Json;
  /** The agents that it may run by `ctx.runAgent`. */
  readonly agents?: readonly Agent<string, unknown, unknown>[];
  execute(input: Json, ctx: ToolContext<T>): MaybePromise<Json>;
}

/** What a workflow tool acts with: what hooks have, and its call. */
export interface ToolContext<T extends Tools = Tools> extends HookContext<T> {
  readonly toolCall: ToolCall;
  /** The messages of the agent, up to the one that makes this call. */
  readonly messages: readonly StoredMessage[];
  /**
   * Runs one of the tool's `agents` in a conversation of its own, and returns what it answers. What it begins with is a text, a job that fits its
   * `inputSchema`, or messages: those of `ctx.messages` keep their ids. A function is called only when the agent really begins.
   */
  runAgent(
    name: string,
    input: AgentInput | (() => readonly Message[]),
    options?: {
      /** Readers of the run see what the agent does. */
      readonly forwardEvents?: boolean;
      /** In place of the agent's own. */
      readonly model?: string;
    },
  ): Promise<string>;
}

/** Nothing keeps everything; otherwise a partial update, and values to pass on. */
export type Update<State> = void | (Partial<State> & { readonly values?: Readonly<Record<string, Json>> });

export interface RunSetup {
  readonly instructions: string;
  readonly tools: readonly string[];
  readonly returnDirectly: readonly string[];
}

export interface AgentState<M = Message> {
  readonly messages: readonly M[];
  readonly tools: readonly string[];
  /** Tools that the model has to search for by means of its own. Absent: none. */
  readonly deferred?: DeferredTools;
}

/** Returned by a hook that ends the agent: no model is asked after that. */
export interface Ending<M = Message> {
  /** A message of the state, or one of the assistant, which is shown and appended. The first one counts. */
  readonly answer: M;
}

/**
 * The workflow side of a middleware: deterministic, it decides.
 *
 * Errors: whatever a hook throws ends the run and names the hook; coded errors, interrupts and cancellation pass as they are.
 * Result: `before` and `after` hooks return nothing or a partial update; wraps return what `next` returns, or answer themselves.
 * Rules: no clock, no randomness, no I/O; wait only for `ctx` and `next`; leave no promise running.
 * On replay: the code runs again with the recorded results; effects do not happen again.
 */
export interface AgentMiddleware<T extends Tools = Tools, M = Message> {
  readonly name: string;
  readonly options?: Json;
  /** Set by `onWorker`: the entry stands for a worker middleware. */
  readonly onWorker?: WorkerMiddlewareRef;
  /**
   * Says that `wrapModel` or `wrapToolCall` may change what comes back: then nobody sees an answer before it is final. Without it an
   * answer that streams is seen as it comes, and one that was changed afterwards is announced as replaced.
   */
  readonly changesOutput?: boolean;
  /** `retry` of the agent, brought by a middleware. One of them has it: retries do not stack. Where the middleware stands makes no difference. */
  readonly retry?: RetryOptions;
  /** `failover` of the agent, in the same way. */
  readonly failover?: FailoverOptions;
  /** Tools that come with the middleware. The run itself answers them; the model is offered them with the tools of the agent. */
  readonly tools?: readonly (WorkflowTool<T> | OwnToolRef)[];
  /** With `answer` the agent does not run, and neither do the hooks behind this one, nor `afterAgent`. */
  beforeAgent?(setup: RunSetup, ctx: HookContext<T, M>): MaybePromise<Update<RunSetup & Ending<M>>>;
  /** Looks on: told when the agent begins, when it calls a model, when it calls a tool. Like `onEnd` and `onError` it changes nothing. */
  onStart?(observed: Observed, ctx: HookContext<T, M>): MaybePromise<void>;
  onEnd?(observed: ObservedEnd, ctx: HookContext<T, M>): MaybePromise<void>;
  /** In place of `onEnd` when it failed. A cancelled run tells nothing more. */
  onError?(observed: ObservedError, ctx: HookContext<T, M>): MaybePromise<void>;
  beforeModelRewriteState?(state: AgentState<M>, ctx: HookContext<T, M>): MaybePromise<Update<AgentState<M>>>;
  afterModelRewriteState?(state: AgentState<M>, ctx: HookContext<T, M>): MaybePromise<Update<AgentState<M>>>;
  wrapModel?(
    request: ModelRequest<M>,
    next: (request: ModelRequest<M>) => Promise<ModelResponse<M>>,
    ctx: HookContext<T, M>,
  ): Promise<ModelResponse<M>>;
  /** The tools whose calls `wrapToolCall` sees. Default: all. Calls of others are spared the parsing before policy. */
  readonly onlyTools?: readonly string[];
  /** Tools that hooks call by `ctx.call`: a run whose worker lacks one fails at its start, and not when it comes to the call. */
  readonly callsTools?: readonly string[];
  /** Tools about whose calls its hooks ask people: the interrupt shows their schema, and an edit that does not fit is refused. */
  readonly asksAbout?: readonly string[];
  /** The kinds of tools whose calls it sees. Default: all. */
  readonly onlyKinds?: readonly ToolKind[];
  wrapToolCall?(call: ToolCall, next: (call: ToolCall) => Promise<Json>, ctx: HookContext<T, M>): Promise<Json>;
  afterToolCalls?(state: AgentState<M>, ctx: HookContext<T, M>): MaybePromise<Update<AgentState<M> & Ending<M>>>;
  /** What it appends is shown behind the answer, which stays the result of the run. */
  afterAgent?(state: AgentState<M>, ctx: HookContext<T, M>): MaybePromise<void | { readonly append?: readonly M[] }>;
  /** In place of `afterAgent` when the agent failed. The run keeps its failure; a cancelled one does not come here. */
  afterFailure?(failure: Failure, state: AgentState<M>, ctx: HookContext<T, M>): MaybePromise<void | { readonly append?: readonly M[] }>;
}

/** Puts a worker middleware into an agent's middleware list, by name, with JSON options. */
export function onWorker(name: string, options?: Json): AgentMiddleware {
  const problem = options === undefined ? undefined : notJson(options);
  if (problem !== undefined) throw new HoldfastError('agent-invalid', `onWorker("${name}"): options must be JSON; ${problem}.`);
  return { name, onWorker: { name, ...defined({ options }) } };
}
