import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import { isMessage } from '../../contract/messages/messages';
import type { ModelChunk } from './chunks';
import { AnswerAssembly, answerOfChunks, chunksOf } from './chunks';
import type { HalfGuard, HalfWatch } from '../worker-middleware/half-guard';
import { guardedStream, guardedWhole, labelOfHalf } from '../worker-middleware/half-guard';
import { responseOf } from './model-provider';
import type { NamedHalf, WorkerCall, WorkerHalf, WorkerModelRequest, WorkerModelResponse } from '../worker-middleware/worker-middleware';
import { wrapAround } from '../worker-middleware/worker-middleware';

type Whole = (request: WorkerModelRequest) => Promise<WorkerModelResponse>;
type Stream = (request: WorkerModelRequest) => AsyncIterable<ModelChunk>;

/** One half around a model call. */
interface ModelLayer {
  readonly half: NonNullable<WorkerHalf['wrapModel']>;
  readonly call: WorkerCall;
  readonly guard: Omit<HalfGuard, 'check'>;
}

/** Halves around an answer that comes whole. One that knows streams only sees a stream of one go. */
export function whole(halves: readonly NamedHalf[], core: Whole, call: WorkerCall, watch: HalfWatch): Whole {
  return wrapAround<WorkerModelRequest, Promise<WorkerModelResponse>>(
    layersOf(halves, call, watch).flatMap((layer) => {
      if (layer.half.generate !== undefined) return [(request, next) => generated(layer, request, next)];
      if (layer.half.stream === undefined) return [];
      return [(request, next) => collect(transformed(layer, request, (changed) => fromWhole(next(changed))))];
    }),
    core,
  );
}

/** Halves around an answer that streams. One that knows whole answers only gets the stream collected. */
export function streamed(halves: readonly NamedHalf[], core: Stream, call: WorkerCall, watch: HalfWatch): Stream {
  return wrapAround<WorkerModelRequest, AsyncIterable<ModelChunk>>(
    layersOf(halves, call, watch).flatMap((layer) => {
      if (layer.half.stream !== undefined) return [(request, next) => transformed(layer, request, next)];
      if (layer.half.generate === undefined) return [];
      return [(request, next) => (layer.half.looksOn === true ? lookedOn(layer, request, next) : held(layer, request, next))];
    }),
    core,
  );
}

function layersOf(halves: readonly NamedHalf[], call: WorkerCall, watch: HalfWatch): readonly ModelLayer[] {
  return halves.flatMap(({ name, half: { wrapModel } }) =>
    wrapModel === undefined
      ? []
      : [{ half: wrapModel, call, guard: { label: labelOfHalf('wrapModel', name), watch, signal: call.signal } }],
  );
}

function generated({ half, call, guard }: ModelLayer, request: WorkerModelRequest, next: Whole): Promise<WorkerModelResponse> {
  return guardedWhole(
    { ...guard, check: notResponse },
    (guarded) => half.generate?.(request, guarded, call) as Promise<WorkerModelResponse>,
    next,
  );
}

function transformed({ half, call, guard }: ModelLayer, request: WorkerModelRequest, next: Stream): AsyncIterable<ModelChunk> {
  return guardedStream(
    { ...guard, check: notChunk },
    (guarded) => half.stream?.(request, guarded, call) as AsyncIterable<ModelChunk>,
    next,
  );
}

function notResponse(response: unknown): string | undefined {
  return isMessage((response as Partial<WorkerModelResponse> | null | undefined)?.message)
    ? undefined
    : "no response; return what next returned, or { message: { role: 'assistant', parts: [...] } }";
}

function notChunk(chunk: unknown): string | undefined {
  return typeof (chunk as Partial<ModelChunk> | null | undefined)?.type === 'string'
    ? undefined
    : 'something that is no chunk of an answer';
}

/** What a layer may still change is seen by nobody before it is done. */
async function* held(layer: ModelLayer, request: WorkerModelRequest, next: Stream): AsyncGenerator<ModelChunk> {
  const { message, usage, finish } = await generated(layer, request, (changed) => collect(next(changed)));
  yield* chunksOf({ parts: message.parts, ...defined({ usage, finish }) });
}

/** The stream goes through as it comes, and the layer sees its sum. What it returns is not looked at. */
async function* lookedOn({ half, call, guard }: ModelLayer, request: WorkerModelRequest, next: Stream): AsyncGenerator<ModelChunk> {
  const queue: ModelChunk[] = [];
  let finish: ModelChunk | undefined;
  let over = false;
  let failure: { readonly error: unknown } | undefined;
  let wake: () => void = () => undefined;
  const running = (async () => {
    try {
      await guardedWhole<WorkerModelRequest, WorkerModelResponse>(
        { ...guard, check: () => undefined },
        (guarded) => half.generate?.(request, guarded, call) as Promise<WorkerModelResponse>,
        async (changed) => {
          const assembly = new AnswerAssembly();
          for await (const chunk of next(changed)) {
            assembly.add(chunk);
            if (chunk.type === 'finish') finish = chunk;
            else queue.push(chunk);
            wake();
          }
          return responseOf(assembly.whole());
        },
      );
    } catch (error) {
      failure = { error };
    }
    over = true;
    wake();
  })();
  for (;;) {
    for (let chunk = queue.shift(); chunk !== undefined; chunk = queue.shift()) yield chunk;
    if (over) break;
    await new Promise<void>((resolve) => (wake = resolve));
  }
  await running;
  if (failure !== undefined) throw failure.error;
  if (finish === undefined)
    throw new HoldfastError('hook-failed', `${guard.label} says that it looks on, and returned without having called next to its end.`);
  yield finish;
}

async function collect(chunks: AsyncIterable<ModelChunk>): Promise<WorkerModelResponse> {
  return responseOf(await answerOfChunks(chunks));
}

async function* fromWhole(answer: Promise<WorkerModelResponse>): AsyncGenerator<ModelChunk> {
  const { message, ...rest } = await answer;
  yield* chunksOf({ parts: message.parts, ...rest });
}
