import { randomUUID } from 'node:crypto';
import type { DeltaBody } from '../contract/plain/deltas';
import { HoldfastError } from '../contract/plain/errors';
import type { FoldedRequest } from '../contract/plain/fold';
import { addUsage } from '../contract/plain/fold';
import { jsonSize, limits } from '../contract/plain/limits';
import type { Failure, FinishReason, Message, Part, StoredMessage, Usage } from '../contract/plain/messages';
import { isMessage, notJson } from '../contract/plain/messages';
import type { ParseInputResult } from '../contract/plain/wire';
import { abortOf } from './abort';
import type { ModelChunk } from './chunks';
import { AnswerAssembly, chunksOf } from './chunks';
import { exitToolSpec } from './exit-tool';
import { modelVerdict } from './failures';
import { HalfWatch } from './half-guard';
import { parsedCalls } from './parse-calls';
import { consume, orAborted } from './model-stream';
import { streamed, whole } from './model-layers';
import type { GenerateAnswer, GenerateRequest, LanguageModel, ModelRegistry } from './models';
import type { Observers, Watched } from './observers';
import type { ToolRegistry, ToolSpec } from './tools';
import type { HalfRegistry, WorkerCall, WorkerModelRequest, WorkerModelResponse } from './worker-middleware';

export interface ModelAnswer {
  readonly message: StoredMessage;
  readonly model: string;
  readonly usage?: Usage;
  readonly finish?: FinishReason;
  readonly parsed?: readonly (ParseInputResult | null)[];
}

export interface ModelCallParts {
  readonly models: ModelRegistry;
  readonly tools: ToolRegistry;
  readonly halves: HalfRegistry;
  readonly outputs?: { specOf(name: string): GenerateRequest['output'] };
  readonly observers?: Observers;
  /** How long a stream may be silent. */
  readonly stallMs?: number;
}

/** What is left of a call that gave no answer. */
export interface BrokenAnswer {
  readonly said: Message;
  /** What providers reported of it. */
  readonly usage?: Usage;
}

/**
 * One model call on the worker: worker halves around the provider. Knows no Temporal; in-memory runs use it too. When the call is
 * cancelled, a stream gives what it has said by then; when it breaks, `onBreak` gets that.
 */
export async function generate(
  request: FoldedRequest,
  parts: ModelCallParts,
  call: WorkerCall,
  publish?: (delta: DeltaBody) => void,
  onBreak: (left: BrokenAnswer) => void = () => undefined,
  watch = new HalfWatch(),
): Promise<ModelAnswer> {
  const { slots, messages } = request;
  const provider = new Provider(parts, { output: slots.output ?? undefined, final: slots.final ?? undefined }, call);
  const halves = parts.halves.named(slots.halves ?? []);
  const asked: WorkerModelRequest = {
    instructions: slots.instructions ?? '',
    messages,
    tools: slots.tools ?? [],
    model: slots.model ?? 'default',
    settings: slots.settings ?? {},
  };
  const withParsed = async (answer: ModelAnswer): Promise<ModelAnswer> => ({
    ...answer,
    ...(await parsedCalls(parts.tools, slots.parse, answer.message)),
  });
  const assembly = new AnswerAssembly();
  try {
    if ((slots.stream ?? 'whole') === 'whole') {
      const run = whole(halves, (changed) => provider.generate(changed), call, watch);
      const response = await orAborted(run(asked), call.signal);
      return await withParsed(checkedAnswer(response?.message, response, provider.answeredBy));
    }
    const chunks = streamed(halves, (changed) => provider.stream(changed), call, watch)(asked);
    const ended = await consume(chunks, call.signal, (chunk) => {
      assembly.add(chunk);
      if (publish !== undefined && provider.streams) publishChunk(chunk, publish);
    });
    const answer = assembly.answer();
    if (ended === 'aborted') return partialAnswer(answer.parts, provider, call.signal);
    if (!assembly.complete) throw brokenOff(provider.answeredBy);
    return await withParsed(checkedAnswer({ role: 'assistant', parts: answer.parts }, answer, provider.answeredBy));
  } catch (error) {
    const { spent } = provider;
    onBreak({ said: { role: 'assistant', parts: assembly.answer().parts }, ...(spent === undefined ? {} : { usage: spent }) });
    throw error;
  }
}

/** The model behind the halves. Which one answered shows when it was asked. */
class Provider {
  answeredBy = '';
  /** The answer came in pieces. */
  streams = false;
  /** What each call has taken, by its last word. */
  private readonly taken: (Usage | undefined)[] = [];

  constructor(
    private readonly parts: ModelCallParts,
    private readonly asks: { readonly output: string | undefined; readonly final: string | undefined },
    private readonly call: WorkerCall,
  ) {}

  /** What all calls have taken that were made for this one. */
  get spent(): Usage | undefined {
    return this.taken.reduce((sum, usage) => (sum === undefined || usage === undefined ? (sum ?? usage) : addUsage(sum, usage)), undefined);
  }

  async generate(asked: WorkerModelRequest): Promise<WorkerModelResponse> {
    const model = await this.resolve(asked);
    const watched = this.watched(asked);
    try {
      const response = responseOf(await this.counted(() => model.generate(this.requestOf(asked))));
      watched?.end({ response });
      return response;
    } catch (error) {
      watched?.fail(failureOf(error));
      throw error;
    }
  }

  async *stream(asked: WorkerModelRequest): AsyncGenerator<ModelChunk> {
    const model = await this.resolve(asked);
    if (model.stream === undefined) {
      const { message, ...rest } = await this.generate(asked);
      if (!Array.isArray(message.parts)) throw noMessage(this.answeredBy);
      yield* chunksOf({ parts: message.parts, ...rest });
      return;
    }
    this.streams = true;
    const { stallMs } = this.parts;
    const stall = new AbortController();
    const chunks = model.stream({ ...this.requestOf(asked), signal: AbortSignal.any([this.call.signal, stall.signal]) });
    const heard = stallMs === undefined ? chunks : unlessSilent(chunks, stallMs, this.answeredBy, () => stall.abort());
    const watched = this.watched(asked);
    const take = this.taker();
    try {
      for await (const chunk of watched === undefined ? heard : lookedOn(heard, watched)) {
        take(chunk);
        yield chunk;
      }
    } catch (error) {
      take(error);
      throw error;
    }
  }

  /** Observers look on at the model itself, inside of all halves. */
  private watched(request: WorkerModelRequest): ModelWatched | undefined {
    return this.parts.observers?.model(this.call, { model: this.answeredBy, request });
  }

  private async counted(answer: () => Promise<GenerateAnswer>): Promise<GenerateAnswer> {
    const take = this.taker();
    try {
      const given = await answer();
      take(given);
      return given;
    } catch (error) {
      take(error);
      throw error;
    }
  }

  /** Hears from an answer, a chunk or an error what its call has taken, if it says so. */
  private taker(): (said: unknown) => void {
    const call = this.taken.push(undefined) - 1;
    return (said) => (this.taken[call] = checkedUsage((said as { usage?: unknown } | null | undefined)?.usage) ?? this.taken[call]);
  }

  private async resolve(asked: WorkerModelRequest): Promise<LanguageModel> {
    const { id, model } = await this.parts.models.resolve(asked.model);
    this.answeredBy = id;
    return model;
  }

  private requestOf(asked: WorkerModelRequest): GenerateRequest {
    const { output, final } = this.asks;
    const spec = output === undefined ? undefined : this.parts.outputs?.specOf(output);
    const request: GenerateRequest = {
      instructions: asked.instructions,
      messages: asked.messages,
      tools: (final === undefined ? asked.tools : []).map((name) => specOf(name, this.parts.tools)),
      settings: asked.settings,
      signal: this.call.signal,
      ...(spec === undefined ? {} : { output: spec }),
    };
    return final === undefined ? request : finalRequest(request, final);
  }
}

/** Nothing that halves put into the request is left to call a tool by, and the last word is not theirs. */
function finalRequest({ settings: { toolChoice: _, ...settings }, ...request }: GenerateRequest, told: string): GenerateRequest {
  return { ...request, settings, messages: [...request.messages, { role: 'user', parts: [{ type: 'text', text: told }] }] };
}

type ModelWatched = Watched<{ readonly response: WorkerModelResponse }>;

function responseOf(answer: GenerateAnswer | undefined): WorkerModelResponse {
  const { parts, usage, finish } = answer ?? {};
  return {
    message: { role: 'assistant', parts: parts as readonly Part[] },
    ...(usage === undefined ? {} : { usage }),
    ...(finish === undefined ? {} : { finish }),
  };
}

function failureOf(error: unknown): Failure {
  const { code, message } = modelVerdict(error);
  return { code, message };
}

/** A stream whose sum is told when it has ended. One that nobody reads to its end was cut off. */
async function* lookedOn(chunks: AsyncIterable<ModelChunk>, watched: ModelWatched): AsyncGenerator<ModelChunk> {
  const assembly = new AnswerAssembly();
  try {
    for await (const chunk of chunks) {
      assembly.add(chunk);
      yield chunk;
    }
    if (assembly.complete) watched.end({ response: responseOf(assembly.answer()) });
  } catch (error) {
    watched.fail(failureOf(error));
    throw error;
  } finally {
    watched.fail({ code: 'model-failed', message: 'The stream of the model was cut off.' });
  }
}

/** A stream that says nothing for long has lost its connection without anybody noticing. */
async function* unlessSilent(
  chunks: AsyncIterable<ModelChunk>,
  stallMs: number,
  model: string,
  giveUp: () => void,
): AsyncGenerator<ModelChunk> {
  const iterator = chunks[Symbol.asyncIterator]();
  let timer: NodeJS.Timeout | undefined;
  let over = false;
  try {
    for (;;) {
      const next = iterator.next();
      next.catch(() => undefined);
      const silent = new Promise<never>((_, reject) => {
        timer = setTimeout(() => {
          reject(Object.assign(new Error(`The model ${model} has said nothing for ${stallMs / 1000} s.`), { isRetryable: true }));
          giveUp();
        }, stallMs);
      });
      const result = await Promise.race([next, silent]).finally(() => clearTimeout(timer));
      if (result.done === true) {
        over = true;
        return;
      }
      yield result.value;
    }
  } finally {
    // Nobody waits for the end of a stream that has gone silent.
    if (!over) void Promise.resolve(iterator.return?.()).catch(() => undefined);
  }
}

function specOf(name: string, tools: ToolRegistry): ToolSpec {
  const spec = name === exitToolSpec.name ? exitToolSpec : tools.specOf(name);
  if (spec === undefined) throw new HoldfastError('tool-unknown', `This worker has no tool "${name}".`);
  return spec;
}

function publishChunk(chunk: ModelChunk, publish: (delta: DeltaBody) => void): void {
  switch (chunk.type) {
    case 'text':
      if (chunk.text !== '') publish({ type: 'text-delta', text: chunk.text });
      return;
    case 'reasoning':
      if (chunk.text !== '') publish({ type: 'reasoning-delta', text: chunk.text });
      return;
    case 'tool-input-start':
      publish({ type: 'tool-input-start', callId: chunk.callId, tool: chunk.tool });
      return;
    case 'tool-input':
      publish({ type: 'tool-input-delta', callId: chunk.callId, text: chunk.text });
  }
}

function checkedAnswer(
  message: unknown,
  { usage, finish }: { readonly usage?: unknown; readonly finish?: unknown },
  model: string,
): ModelAnswer {
  if (!isMessage(message)) throw noMessage(model);
  const problem = notJson(message);
  if (problem !== undefined) throw new HoldfastError('model-response-invalid', `The answer of ${model} is not JSON: ${problem}.`);
  const bytes = jsonSize(message);
  if (bytes > limits.payload - 16_384) throw new HoldfastError('model-response-too-large', `The answer of ${model} has ${bytes} bytes.`);
  const counted = checkedUsage(usage);
  const reason = unusual(finish);
  return {
    message: { ...message, role: 'assistant', id: randomUUID() },
    model,
    ...(counted === undefined ? {} : { usage: counted }),
    ...(reason === undefined ? {} : { finish: reason }),
  };
}

/** What was said before somebody cancelled the run. Tool calls in it are not made, so they are no part of it. */
function partialAnswer(parts: StoredMessage['parts'], { answeredBy, spent }: Provider, signal: AbortSignal): ModelAnswer {
  const said = parts.filter(({ type }) => type === 'text' || type === 'reasoning');
  if (said.length === 0) throw abortOf(signal);
  return { ...checkedAnswer({ role: 'assistant', parts: said }, { usage: spent }, answeredBy), finish: 'cancelled' };
}

function noMessage(model: string): HoldfastError {
  return new HoldfastError('model-response-invalid', `The model ${model} answered with no message.`);
}

function brokenOff(model: string): Error {
  return Object.assign(new Error(`The answer of ${model} broke off: its stream ended without a finish.`), { isRetryable: true });
}

const reasons = new Set<unknown>(['length', 'content-filter', 'error', 'cancelled', 'other']);

/** That a model came to an end by itself needs no saying. */
function unusual(finish: unknown): FinishReason | undefined {
  return reasons.has(finish) ? (finish as FinishReason) : undefined;
}

/** Tokens as counts; what a provider says otherwise is taken for nothing. */
function checkedUsage(usage: unknown): Usage | undefined {
  if (typeof usage !== 'object' || usage === null) return undefined;
  const counts = usage as Partial<Record<keyof Usage, unknown>>;
  const count = (value: unknown): number => (typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0);
  const cachedInputTokens = count(counts.cachedInputTokens);
  const reasoningTokens = count(counts.reasoningTokens);
  return {
    inputTokens: count(counts.inputTokens),
    outputTokens: count(counts.outputTokens),
    ...(cachedInputTokens > 0 ? { cachedInputTokens } : {}),
    ...(reasoningTokens > 0 ? { reasoningTokens } : {}),
  };
}
