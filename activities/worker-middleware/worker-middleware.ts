import { HoldfastError } from '../../contract/errors';
import type { WorkerMiddlewareRef } from '../../contract/manifest';
import type { FinishReason, Json, JsonObject, Message, ModelSettings, Part, Usage } from '../../contract/messages/messages';
import type { RequestSlots } from '../../contract/record/wire';
import type { ModelChunk } from '../models/language-model';

/** A worker's access to its run. Changes count when the call returns, not for a lost attempt. */
export interface RunAccess {
  /** JSON values of the agent in the run, as of the call's beginning plus the call's changes. */
  readonly runLocal: {
    get(key: string): Json | undefined;
    set(key: string, value: Json): void;
    delete(key: string): void;
  };
  /** Adds a `custom` event to the run's log when the call returns. */
  sendEvent(name: string, data: Json): void;
}

export interface WorkerCall extends RunAccess {
  readonly agent: string;
  readonly id: string;
  readonly attempt: number;
  readonly signal: AbortSignal;
}

export interface ToolWorkerCall extends WorkerCall {
  readonly tool: string;
  readonly callId: string;
  /** The tool's options, with the changes of outer layers. */
  readonly options: JsonObject;
}

export interface WorkerModelRequest {
  readonly instructions: string;
  readonly messages: readonly Message[];
  readonly tools: readonly string[];
  readonly model: string;
  readonly settings: ModelSettings;
  /** The run's original request, to read. Changes have no effect. */
  readonly slots?: Partial<RequestSlots>;
}

export interface WorkerModelResponse {
  readonly message: Message;
  readonly usage?: Usage;
  readonly finish?: FinishReason;
}

/** The worker part of a middleware: I/O around the real call. */
export interface WorkerWraps {
  wrapModel?: {
    generate?(
      request: WorkerModelRequest,
      next: (request: WorkerModelRequest) => Promise<WorkerModelResponse>,
      call: WorkerCall,
    ): Promise<WorkerModelResponse>;
    /** Around a stream. Without `stream`, `generate` gets the collected answer, and readers see nothing before `generate` returns. */
    stream?(
      request: WorkerModelRequest,
      next: (request: WorkerModelRequest) => AsyncIterable<ModelChunk>,
      call: WorkerCall,
    ): AsyncIterable<ModelChunk>;
    /** `generate` does not change the answer, so readers see the stream at once. */
    readonly looksOn?: boolean;
  };
  wrapInvokableToolCall?(input: Json, next: ToolNext<Promise<Json>>, call: ToolWorkerCall): Promise<Json>;
  wrapStreamableToolCall?(input: Json, next: ToolNext<AsyncIterable<string>>, call: ToolWorkerCall): AsyncIterable<string>;
  wrapEnhancedInvokableToolCall?(input: Json, next: ToolNext<Promise<readonly Part[]>>, call: ToolWorkerCall): Promise<readonly Part[]>;
  wrapEnhancedStreamableToolCall?(input: Json, next: ToolNext<AsyncIterable<Part>>, call: ToolWorkerCall): AsyncIterable<Part>;
}

/** Default options: the wrap's options. */
export type ToolNext<Response> = (input: Json, options?: JsonObject) => Response;

export interface NamedWraps {
  readonly name: string;
  readonly wraps: WorkerWraps;
}

export interface WorkerMiddleware {
  readonly name: string;
  make(options: Json): WorkerWraps;
}

/**
 * Defines the part of a middleware that runs on the worker, around the real model and tool calls. Agents name the middleware by `onWorker`.
 * @example
 * export const audit = defineWorkerMiddleware('audit', (options: { topic: string }) => ({
 *   async wrapInvokableToolCall(input, next, call) {
 *     console.log(options.topic, call.id);
 *     return next(input);
 *   },
 * }));
 */
export function defineWorkerMiddleware<Options extends Json = Json>(
  name: string,
  make: (options: Options) => WorkerWraps,
): WorkerMiddleware {
  return { name, make };
}

export class WorkerMiddlewareRegistry {
  private readonly byName = new Map<string, WorkerMiddleware>();
  private readonly made = new Map<string, WorkerWraps>();

  /** A given middleware replaces the built-in middleware of its name. */
  constructor(middleware: readonly WorkerMiddleware[], builtIn: readonly WorkerMiddleware[] = []) {
    for (const one of middleware) {
      if (typeof one?.name !== 'string' || typeof one.make !== 'function')
        throw new HoldfastError('config-invalid', 'An entry of `middleware` is no worker middleware; make it with defineWorkerMiddleware.');
      if (this.byName.has(one.name)) throw new HoldfastError('config-invalid', `Two worker middleware are named "${one.name}".`);
      this.byName.set(one.name, one);
    }
    for (const one of builtIn) if (!this.byName.has(one.name)) this.byName.set(one.name, one);
  }

  get names(): readonly string[] {
    return [...this.byName.keys()];
  }

  named(refs: readonly WorkerMiddlewareRef[]): readonly NamedWraps[] {
    return refs.map(({ name, options }) => {
      const one = this.byName.get(name);
      if (one === undefined) throw new HoldfastError('worker-half-missing', `This worker has no worker middleware "${name}".`);
      const key = `${name} ${JSON.stringify(options ?? null)}`;
      const wraps = this.made.get(key) ?? one.make(options ?? null);
      this.made.set(key, wraps);
      return { name, wraps };
    });
  }
}

type WrapNext<Request, Response> = (request: Request) => Response;

export function wrapAround<Request, Response>(
  wraps: readonly ((request: Request, next: WrapNext<Request, Response>) => Response)[],
  core: WrapNext<Request, Response>,
): WrapNext<Request, Response> {
  return wraps.reduceRight<WrapNext<Request, Response>>((next, wrap) => (request) => wrap(request, next), core);
}
