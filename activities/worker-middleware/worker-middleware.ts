import { HoldfastError } from '../../contract/errors';
import type { WorkerMiddlewareRef } from '../../contract/manifest';
import type { FinishReason, Json, JsonObject, Message, ModelSettings, Part, Usage } from '../../contract/messages/messages';
import type { RequestSlots } from '../../contract/record/wire';
import type { ModelChunk } from '../models/chunks';

/** What code on the worker may do to the run that it works for. It counts when the call has come back, and not when its attempt is lost. */
export interface RunAccess {
  /** JSON values of this agent in this run: those of the time when the call began, and what the call itself has changed since. */
  readonly runLocal: {
    get(key: string): Json | undefined;
    set(key: string, value: Json): void;
    delete(key: string): void;
  };
  /** Puts a `custom` event into the log of the run, once the call has come back. */
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
  /** What the tool gets besides its arguments, as the layers outside left it. */
  readonly options: JsonObject;
}

export interface WorkerModelRequest {
  readonly instructions: string;
  readonly messages: readonly Message[];
  readonly tools: readonly string[];
  readonly model: string;
  readonly settings: ModelSettings;
  /** The request as the run made it, with all that it asks for besides. It is for looking at: what a wrap changes here is not heard. */
  readonly slots?: Partial<RequestSlots>;
}

export interface WorkerModelResponse {
  readonly message: Message;
  readonly usage?: Usage;
  readonly finish?: FinishReason;
}

/** The worker middleware of a middleware: I/O around the real call. */
export interface WorkerWraps {
  wrapModel?: {
    generate?(
      request: WorkerModelRequest,
      next: (request: WorkerModelRequest) => Promise<WorkerModelResponse>,
      call: WorkerCall,
    ): Promise<WorkerModelResponse>;
    /** Around an answer that streams. Without it `generate` is put around the collected answer, and nothing is seen before that is done. */
    stream?(
      request: WorkerModelRequest,
      next: (request: WorkerModelRequest) => AsyncIterable<ModelChunk>,
      call: WorkerCall,
    ): AsyncIterable<ModelChunk>;
    /** Says that `generate` only looks on: an answer that streams is seen as it comes, although there is no `stream`. */
    readonly looksOn?: boolean;
  };
  wrapInvokableToolCall?(input: Json, next: ToolNext<Promise<Json>>, call: ToolWorkerCall): Promise<Json>;
  wrapStreamableToolCall?(input: Json, next: ToolNext<AsyncIterable<string>>, call: ToolWorkerCall): AsyncIterable<string>;
  wrapEnhancedInvokableToolCall?(input: Json, next: ToolNext<Promise<readonly Part[]>>, call: ToolWorkerCall): Promise<readonly Part[]>;
  wrapEnhancedStreamableToolCall?(input: Json, next: ToolNext<AsyncIterable<Part>>, call: ToolWorkerCall): AsyncIterable<Part>;
}

/** Without options the tool gets those that the wrap got. */
export type ToolNext<Response> = (input: Json, options?: JsonObject) => Response;

export interface NamedWraps {
  readonly name: string;
  readonly wraps: WorkerWraps;
}

export interface WorkerMiddleware {
  readonly name: string;
  make(options: Json): WorkerWraps;
}

export function defineWorkerMiddleware<Options extends Json = Json>(
  name: string,
  make: (options: Options) => WorkerWraps,
): WorkerMiddleware {
  return { name, make };
}

/** Worker middleware by name; one instance for each name and options. */
export class WorkerMiddlewareRegistry {
  private readonly byName = new Map<string, WorkerMiddleware>();
  private readonly made = new Map<string, WorkerWraps>();

  /** The built-in ones give way to others of their name. */
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

  /** The wraps of an agent's list, first outermost. */
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

/** Puts wraps around a core, first outermost. */
export function wrapAround<Request, Response>(
  wraps: readonly ((request: Request, next: WrapNext<Request, Response>) => Response)[],
  core: WrapNext<Request, Response>,
): WrapNext<Request, Response> {
  return wraps.reduceRight<WrapNext<Request, Response>>((next, wrap) => (request) => wrap(request, next), core);
}
