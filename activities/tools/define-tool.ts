import type { MaybePromise } from '../../contract/maybe-promise';
import type { Principal } from '../../contract/access';
import type { z } from 'zod';
import type { Effect } from '../../contract/manifest';
import type { Json, JsonObject, Part } from '../../contract/messages/messages';
import type { Schema } from '../schemas/schema';
import type { RunAccess } from '../worker-middleware/worker-middleware';

/** Without a user nobody is named. Without a proof the name is a claim. */
export type CallPrincipal = Pick<Principal, 'tenant'> & Partial<Omit<Principal, 'tenant'>>;

export interface ToolCallContext<Values extends JsonObject = JsonObject> extends RunAccess {
  /** The values at the start of the run, without changes by hooks. */
  readonly values: Readonly<Values>;
  /** The tags at the start of the run. */
  readonly tags: readonly string[];
  /** The author of the message that began the turn of a conversation, or the starter of the run. */
  readonly principal: CallPrincipal;
  readonly callId: string;
  /** Equal for all executions of a call, also after crashes; unique in the workflow. */
  readonly idempotencyKey: string;
  readonly attempt: number;
  readonly signal: AbortSignal;
  /** The run's options for the tool, changed by worker middleware. */
  readonly options: JsonObject;
  /** Present after an answer to the tool's interrupt. */
  readonly resumed?: { readonly answer: unknown; readonly state: Json | undefined };
  /** Shows progress to readers, outside the result. Values outside JSON or over 64 KB are dropped. */
  progress(data: Json): void;
  /** Asks a human and ends this execution. The next execution has `resumed`. */
  interrupt(info: Json, options?: { state?: Json; answerSchema?: z.ZodType; deadline?: string }): never;
}

export type Reconciled<Output> = { readonly happened: true; readonly result: Output } | { readonly happened: false } | 'unknown';

export interface ToolBasics<Input, Output> {
  readonly description: string;
  /** A zod schema, a schema of the AI SDK or a JSON Schema. */
  readonly inputSchema: Schema<Input>;
  /** After a crash `none` and `idempotent` calls repeat; `once` calls only with `reconcile` or a human. */
  readonly effect?: Effect;
  /** Longest time of one execution. Default: 60s. */
  readonly timeout?: string;
  /** How soon a dead worker is noticed. Default: 10s. */
  readonly heartbeat?: string;
  /** Most calls at the same time, on this worker or with Redis on all workers of the task queue. Default: no limit. */
  readonly concurrency?: number;
  /** Most executions of a call that throws. Default: 1. */
  readonly retry?: { readonly attempts: number };
  /** Most bytes of a result. Default: 256 KB, at most 1 MB. */
  readonly resultLimit?: number;
  readonly reconcile?: (input: Input, call: ToolCallContext) => MaybePromise<Reconciled<Output>>;
}

/** Returns its result at once. */
export interface Tool<Input = never, Output = unknown> extends ToolBasics<Input, Output> {
  execute(input: Input, call: ToolCallContext): MaybePromise<Output>;
}

/** Streams its result: the pieces together. Without a reader of the run `execute` is used. */
export interface StreamableTool<Input = never> extends ToolBasics<Input, string> {
  stream(input: Input, call: ToolCallContext): AsyncIterable<string>;
  execute?(input: Input, call: ToolCallContext): MaybePromise<string>;
}

/** Returns or streams parts, texts and files, for the model to see. */
export interface EnhancedTool<Input = never> extends ToolBasics<Input, readonly Part[]> {
  readonly enhanced: true;
  execute?(input: Input, call: ToolCallContext): MaybePromise<readonly Part[]>;
  stream?(input: Input, call: ToolCallContext): AsyncIterable<Part>;
}

/** A tool without code on a worker: a run ends with the calls, and the caller makes the calls, as in a browser. */
export interface ExternalTool<Input = never> {
  readonly description: string;
  readonly inputSchema: Schema<Input>;
  readonly external: true;
  readonly execute?: undefined;
}

/**
 * Defines a tool with the type of its input. Agents name the tool, and the worker runs it.
 * @example
 * export const refund = defineTool({
 *   description: 'Pays money back for an order.',
 *   inputSchema: z.object({ orderId: z.string(), amount: z.number().positive() }),
 *   effect: 'once',
 *   execute: async ({ orderId, amount }, call) => `Paid ${amount} for ${orderId} under ${call.idempotencyKey}.`,
 * });
 */
export function defineTool<Input>(tool: EnhancedTool<Input>): EnhancedTool<Input>;
export function defineTool<Input>(tool: StreamableTool<Input>): StreamableTool<Input>;
export function defineTool<Input>(tool: ExternalTool<Input>): ExternalTool<Input>;
export function defineTool<Input, Output>(tool: Tool<Input, Output>): Tool<Input, Output>;
export function defineTool(tool: object): object {
  return tool;
}

/** Thrown by `call.interrupt`. Code that catches errors must rethrow this error. */
export class ToolInterrupt extends Error {
  constructor(
    readonly info: Json,
    readonly options: { state?: Json; answerSchema?: z.ZodType; deadline?: string } = {},
  ) {
    super('The tool asks a human.');
    this.name = 'ToolInterrupt';
  }
}
