import type { Language } from '../../contract/manifest';
import type { Json, Message, ModelSettings, StoredMessage } from '../../contract/messages/messages';
import type { ToolAliases } from '../../contract/run-options';
import type { JobSchema } from '../../contract/schema/job-schema';
import type { Agent } from './agent-ref';
import type { MiddlewareEntry, ToolCallMiddleware } from './classic-middleware';
import type { LimitOptions } from './iteration-limits';
import type { OwnToolRef, Tools, WorkflowTool } from './middleware';
import type { FailoverOptions, RetryOptions } from './retry-options';

export type UnknownToolHandler = (name: string, input: Json) => string;
/** Changes the arguments of a call before parsing. Names are canonical. */
export type ToolArgumentsHandler = (name: string, input: Json) => Json;

export interface HistoryEntry<M = StoredMessage> {
  readonly isUserInput: boolean;
  /** Absent for the user. */
  readonly agent?: string;
  readonly message: M;
}

export type HistoryRewriter = (history: readonly HistoryEntry[], agent: string) => readonly Message[];

export type ToolName<T extends Tools> = (keyof T & string) | `mcp:${string}`;

export interface AgentOptions<T extends Tools, Name extends string, Input> extends LimitOptions {
  readonly name: Name;
  readonly description: string;
  readonly instructions: string;
  readonly model: string;
  readonly settings?: ModelSettings;
  /** Makes the first user message of a typed input. */
  readonly prompt?: (input: Input) => string;
  /** A JSON Schema, or a schema of a library such as zod. Without `prompt` the model gets the job as JSON. */
  readonly inputSchema?: JobSchema<Input>;
  readonly tools: readonly (ToolName<T> | WorkflowTool<T> | OwnToolRef)[];
  /** A name in the worker's `outputs`: the schema of the answer. */
  readonly output?: string;
  readonly middleware?: readonly MiddlewareEntry<T>[];
  /** Wraps of tool calls around all middleware, first outermost. */
  readonly toolCallMiddlewares?: readonly ToolCallMiddleware<T>[];
  readonly language?: Language;
  /** Tools that clients may bring with a message, for one turn: all, or by name. The client makes the calls. Default: none. */
  readonly clientTools?: boolean | readonly string[];
  /** Tools whose result is the answer of the run. */
  readonly returnDirectly?: readonly (keyof T & string)[];
  /** Offers the tool `exit`, which ends the run with a final result. */
  readonly exitTool?: boolean;
  /** Runs the tool calls of a message in sequence. Default: in parallel. */
  readonly sequentialTools?: boolean;
  /** `return` (default) hands a tool's error to the model, `fail` ends the run. */
  readonly toolErrors?: 'return' | 'fail';
  readonly unknownTool?: UnknownToolHandler;
  readonly toolArguments?: ToolArgumentsHandler;
  readonly toolAliases?: { readonly [Tool in keyof T & string]?: ToolAliases };
  /** When the model is asked again. Default: the server retries temporary failures. */
  readonly retry?: RetryOptions;
  /** Other models, used after all retries of a model failed. */
  readonly failover?: FailoverOptions;
  /** Agents to hand over to. A sub-agent may hand back. */
  readonly subAgents?: readonly Agent<string, unknown, unknown>[];
  /** As a sub-agent, never hands back to the parent. */
  readonly disallowTransferToParent?: boolean;
  /** Makes the first messages from the conversation so far. Default: words of other agents become context. */
  readonly historyRewriter?: HistoryRewriter;
  /** The key in `ctx.session` for the text of the answer. */
  readonly outputKey?: string;
}
