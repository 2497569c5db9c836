import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import { addUsage, isTokenCount } from '../../contract/usage';
import type { Part, Usage } from '../../contract/messages/messages';
import type { RequestSlots } from '../../contract/record/wire';
import type { AskedModel } from './asked-model';
import { noteAskedModel } from './asked-model';
import { inTime } from '../calls/in-time';
import type { ModelChunk, GenerateAnswer, GenerateRequest } from './language-model';
import { AnswerAssembly, chunksOf } from './chunks';
import { classify } from '../failures';
import type { ModelRegistry, ResolvedModel } from './models';
import type { Observers, Watched } from '../worker-middleware/observers';
import type { OutputRegistry } from '../schemas/outputs';
import type { ToolRegistry } from '../tools/tools';
import type { ToolSpec } from '../../contract/manifest';
import type { GateTurn } from '../limits/gate';
import type { WorkerMiddlewareRegistry, WorkerCall, WorkerModelRequest, WorkerModelResponse } from '../worker-middleware/worker-middleware';

export interface ModelCallParts {
  readonly models: ModelRegistry;
  readonly tools: ToolRegistry;
  readonly middleware: WorkerMiddlewareRegistry;
  readonly outputs?: Pick<OutputRegistry, 'specOf' | 'parse'>;
  readonly observers?: Observers;
  readonly stallMs?: number;
  readonly turnOf?: (model: string, request: GenerateRequest) => Promise<GateTurn | undefined>;
}

export class CalledModel {
  answeredBy = '';
  streams = false;
  private readonly calls: ProviderCall[] = [];

  constructor(
    private readonly parts: ModelCallParts,
    private readonly slots: Partial<RequestSlots>,
    private readonly call: WorkerCall,
  ) {}

  get spent(): Usage | undefined {
    const usages = this.calls.map(({ usage }) => usage);
    return usages.reduce((sum, usage) => (sum === undefined || usage === undefined ? (sum ?? usage) : addUsage(sum, usage)), undefined);
  }

  async generate(asked: WorkerModelRequest): Promise<WorkerModelResponse> {
    const resolved = await this.resolve(asked);
    const request = this.requestOf(asked);
    const call = await this.begin(resolved, request, asked);
    try {
      const answer = await resolved.model.generate(request);
      call.hear(answer);
      const response = responseOf(answer);
      call.watched?.end({ response });
      return response;
    } catch (error) {
      throw call.failed(error);
    } finally {
      call.end();
    }
  }

  async *stream(asked: WorkerModelRequest): AsyncGenerator<ModelChunk> {
    const resolved = await this.resolve(asked);
    const { model } = resolved;
    if (model.stream === undefined) {
      const { message, ...rest } = await this.generate(asked);
      if (!Array.isArray(message.parts)) throw noMessage(this.answeredBy);
      yield* chunksOf({ parts: message.parts, ...rest });
      return;
    }
    this.streams = true;
    const { stallMs } = this.parts;
    const stall = new AbortController();
    const request = this.requestOf(asked);
    const call = await this.begin(resolved, request, asked);
    const assembly = call.watched && new AnswerAssembly();
    try {
      const chunks = model.stream({ ...request, signal: AbortSignal.any([this.call.signal, stall.signal]) });
      for await (const chunk of stallMs === undefined ? chunks : unlessSilent(chunks, stallMs, this.answeredBy, () => stall.abort())) {
        assembly?.add(chunk);
        call.hear(chunk);
        yield chunk;
      }
      if (assembly?.complete === true) call.watched?.end({ response: responseOf(assembly.answer()) });
    } catch (error) {
      throw call.failed(error);
    } finally {
      call.end();
    }
  }

  private async begin(resolved: ResolvedModel, request: GenerateRequest, asked: WorkerModelRequest): Promise<ProviderCall> {
    const turn = await this.parts.turnOf?.(resolved.id, request);
    // A model that ignores its signal must not keep the turn.
    if (turn !== undefined) this.call.signal.addEventListener('abort', () => turn.end(), { once: true });
    const call = new ProviderCall(resolved, turn, this.parts.observers?.model(this.call, { model: this.answeredBy, request: asked }));
    this.calls.push(call);
    return call;
  }

  private async resolve(asked: WorkerModelRequest): Promise<ResolvedModel> {
    const resolved = await this.parts.models.resolve(asked.model);
    this.answeredBy = resolved.id;
    return resolved;
  }

  private requestOf(asked: WorkerModelRequest): GenerateRequest {
    const { output = null, final = null, catalog = null, deferred = null } = this.slots;
    const specs = this.slots.specs ?? [];
    const told = (name: string): ToolSpec => specOf(name, specs, this.parts.tools);
    const spec = output === null ? undefined : this.parts.outputs?.specOf(output);
    const request: GenerateRequest = {
      instructions: catalog === null ? asked.instructions : withCatalog(asked.instructions, catalog, specs, this.parts.tools),
      messages: asked.messages,
      tools: (final === null ? asked.tools : []).map(told),
      settings: asked.settings,
      signal: this.call.signal,
      ...defined({ output: spec }),
      ...(deferred === null ? {} : { deferred: { tools: deferred.tools.map(told), search: told(deferred.search) } }),
    };
    return final === null ? request : finalRequest(request, final);
  }
}

function withCatalog(instructions: string, catalog: readonly string[], specs: readonly ToolSpec[], tools: ToolRegistry): string {
  const lines = catalog.map((name) => `- ${name}: ${specOf(name, specs, tools).description.replace(/\s+/g, ' ')}`);
  return [...(instructions === '' ? [] : [instructions, '']), ...lines].join('\n');
}

function finalRequest({ settings: { toolChoice: _, ...settings }, ...request }: GenerateRequest, told: string): GenerateRequest {
  return { ...request, settings, messages: [...request.messages, { role: 'user', parts: [{ type: 'text', text: told }] }] };
}

class ProviderCall {
  usage: Usage | undefined;

  constructor(
    private readonly model: AskedModel,
    private readonly turn: GateTurn | undefined,
    readonly watched: Watched<{ readonly response: WorkerModelResponse }> | undefined,
  ) {}

  /** An answer, a chunk and an error may each report usage; the last report counts. */
  hear(said: unknown): void {
    this.usage = checkedUsage((said as { usage?: unknown } | null | undefined)?.usage) ?? this.usage;
  }

  failed(error: unknown): unknown {
    this.hear(error);
    noteAskedModel(error, this.model);
    const { code, message } = classify(error);
    this.watched?.fail({ code, message });
    return error;
  }

  end(): void {
    // Observers count only the first end.
    this.watched?.fail({ code: 'model-failed', message: 'The stream of the model was cut off.' });
    this.turn?.end(this.usage && this.usage.inputTokens + this.usage.outputTokens);
  }
}

export function responseOf(answer: GenerateAnswer | undefined): WorkerModelResponse {
  const { parts, usage, finish } = answer ?? {};
  return {
    message: { role: 'assistant', parts: parts as readonly Part[] },
    ...defined({ usage, finish }),
  };
}

/** A stream that is silent for long has probably lost its connection. */
async function* unlessSilent(
  chunks: AsyncIterable<ModelChunk>,
  stallMs: number,
  model: string,
  giveUp: () => void,
): AsyncGenerator<ModelChunk> {
  const iterator = chunks[Symbol.asyncIterator]();
  let over = false;
  try {
    for (;;) {
      const result = await inTime(iterator.next(), stallMs, () => {
        throw Object.assign(new Error(`The model ${model} has said nothing for ${stallMs / 1000} s.`), { isRetryable: true });
      });
      if (result.done === true) {
        over = true;
        return;
      }
      yield result.value;
    }
  } finally {
    // A silent stream may never end, so its end is not awaited.
    if (!over) {
      giveUp();
      void Promise.resolve(iterator.return?.()).catch(() => undefined);
    }
  }
}

const exitToolSpec: ToolSpec = {
  name: 'exit',
  description: 'Ends the conversation with a final result.',
  inputSchema: {
    type: 'object',
    properties: { final_result: { type: 'string', description: 'The final result.' } },
    required: ['final_result'],
    additionalProperties: false,
  },
};

/** A run's tool hides a worker's tool with the same name. */
function specOf(name: string, own: readonly ToolSpec[], tools: ToolRegistry): ToolSpec {
  const spec = own.find((one) => one.name === name) ?? (name === exitToolSpec.name ? exitToolSpec : tools.specOf(name));
  if (spec === undefined) throw new HoldfastError('tool-unknown', `This worker has no tool "${name}".`);
  return spec;
}

export function noMessage(model: string): HoldfastError {
  return new HoldfastError('model-response-invalid', `The model ${model} answered with no message.`);
}

export function checkedUsage(usage: unknown): Usage | undefined {
  if (typeof usage !== 'object' || usage === null) return undefined;
  const counts = usage as Partial<Record<keyof Usage, unknown>>;
  if (!isTokenCount(counts.inputTokens) && !isTokenCount(counts.outputTokens)) return undefined;
  const count = (value: unknown): number => (isTokenCount(value) ? value : 0);
  const cachedInputTokens = count(counts.cachedInputTokens);
  const reasoningTokens = count(counts.reasoningTokens);
  return {
    inputTokens: count(counts.inputTokens),
    outputTokens: count(counts.outputTokens),
    ...(cachedInputTokens > 0 ? { cachedInputTokens } : {}),
    ...(reasoningTokens > 0 ? { reasoningTokens } : {}),
  };
}
