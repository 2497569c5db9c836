import type { MaybePromise } from '../../contract/maybe-promise';
import type { z } from 'zod';
import type { Effect } from '../../contract/manifest';
import type { Json, JsonObject, Part } from '../../contract/messages/messages';
import type { Schema } from '../schemas/schema';
import type { RunAccess } from '../worker-middleware/worker-middleware';

export interface ToolCallContext<Values extends JsonObject = JsonObject> extends RunAccess {
  /** What the run was started with: for whom it works. A hook that changes the values of its agent does not change these. */
  readonly values: Readonly<Values>;
  /** The tags that the run was started with. */
  readonly tags: readonly string[];
  readonly callId: string;
  /** The same for every execution of this call, also after crashes; unique in the workflow. */
  readonly idempotencyKey: string;
  readonly attempt: number;
  readonly signal: AbortSignal;
  /** What the start of the run gave for this tool, as the layers left it. Empty when there is nothing. */
  readonly options: JsonObject;
  /** Present when the tool is entered again after its interrupt was answered. */
  readonly resumed?: { readonly answer: unknown; readonly state: Json | undefined };
  /** Tells those who watch how far the call is. It is no part of the result; what is no JSON or has more than 64 KB is left out. */
  progress(data: Json): void;
  /** Asks a human. Ends this execution; the tool is entered again with `resumed`. */
  interrupt(info: Json, options?: { state?: Json; answerSchema?: z.ZodType; deadline?: string }): never;
}

export type Reconciled<Output> = { readonly happened: true; readonly result: Output } | { readonly happened: false } | 'unknown';

/** What all kinds of tools have. */
export interface ToolBasics<Input, Output> {
  readonly description: string;
  /** A zod schema, a schema of the AI SDK or a JSON Schema. */
  readonly inputSchema: Schema<Input>;
  /** `none` and `idempotent` calls are made again after a crash; `once` calls never, without asking `reconcile` or a human. */
  readonly effect?: Effect;
  /** How long one execution may take. Default 60s. */
  readonly timeout?: string;
  /** How soon a dead worker is noticed. Default 10s. */
  readonly heartbeat?: string;
  /** How many calls of it work at a time, on this worker or with Redis on all workers of the task queue. Default: as many as there are. */
  readonly concurrency?: number;
  /** How often a call that throws is made in all. Default 1. */
  readonly retry?: { readonly attempts: number };
  /** Bytes that a result may have. Default 256 KB, at most 1 MB. */
  readonly resultLimit?: number;
  readonly reconcile?: (input: Input, call: ToolCallContext) => MaybePromise<Reconciled<Output>>;
}

/** Gives its result at once. */
export interface Tool<Input = never, Output = unknown> extends ToolBasics<Input, Output> {
  execute(input: Input, call: ToolCallContext): MaybePromise<Output>;
}

/** Gives its result as it comes; all pieces together are the result. With `execute`, that is used where nobody follows the run. */
export interface StreamableTool<Input = never> extends ToolBasics<Input, string> {
  stream(input: Input, call: ToolCallContext): AsyncIterable<string>;
  execute?(input: Input, call: ToolCallContext): MaybePromise<string>;
}

/** Gives a list of parts, texts and files, that the model sees as such: at once, as they come, or either. */
export interface EnhancedTool<Input = never> extends ToolBasics<Input, readonly Part[]> {
  readonly enhanced: true;
  execute?(input: Input, call: ToolCallContext): MaybePromise<readonly Part[]>;
  stream?(input: Input, call: ToolCallContext): AsyncIterable<Part>;
}

/** What no worker runs. A run ends with the calls of it, for its caller to make: in a browser, on a phone, in another system. */
export interface ExternalTool<Input = never> {
  readonly description: string;
  readonly inputSchema: Schema<Input>;
  readonly external: true;
  readonly execute?: undefined;
}

export function defineTool<Input>(tool: EnhancedTool<Input>): EnhancedTool<Input>;
export function defineTool<Input>(tool: StreamableTool<Input>): StreamableTool<Input>;
export function defineTool<Input>(tool: ExternalTool<Input>): ExternalTool<Input>;
export function defineTool<Input, Output>(tool: Tool<Input, Output>): Tool<Input, Output>;
export function defineTool(tool: object): object {
  return tool;
}

/** Thrown by `call.interrupt`. It is no error: code that catches errors should let it pass. */
export class ToolInterrupt extends Error {
  constructor(
    readonly info: Json,
    readonly options: { state?: Json; answerSchema?: z.ZodType; deadline?: string } = {},
  ) {
    super('The tool asks a human.');
    this.name = 'ToolInterrupt';
  }
}
