import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import { isMessage } from '../../contract/messages/messages';
import { changedInRequest, sameMessage } from '../../contract/middleware-changes';
import type { ModelChunk } from './language-model';
import { AnswerAssembly, answerOfChunks, chunksOf } from './chunks';
import type { WrapGuard, WrapWatch } from '../worker-middleware/wrap-guard';
import { guardedStream, guardedWhole, labelOfWrap } from '../worker-middleware/wrap-guard';
import { responseOf } from './called-model';
import type { NamedWraps, WorkerCall, WorkerWraps, WorkerModelRequest, WorkerModelResponse } from '../worker-middleware/worker-middleware';
import { wrapAround } from '../worker-middleware/worker-middleware';

type Whole = (request: WorkerModelRequest) => Promise<WorkerModelResponse>;
type Stream = (request: WorkerModelRequest) => AsyncIterable<ModelChunk>;

interface ModelLayer {
  readonly name: string;
  readonly wraps: NonNullable<WorkerWraps['wrapModel']>;
  readonly call: WorkerCall;
  readonly guard: Omit<WrapGuard, 'check'>;
}

/** Middleware with only `stream` gets a stream of the finished answer. */
export function whole(middleware: readonly NamedWraps[], core: Whole, call: WorkerCall, watch: WrapWatch): Whole {
  return wrapAround<WorkerModelRequest, Promise<WorkerModelResponse>>(
    layersOf(middleware, call, watch).flatMap((layer) => {
      if (layer.wraps.generate !== undefined) return [(request, next) => generated(layer, request, next)];
      if (layer.wraps.stream === undefined) return [];
      return [(request, next) => collect(transformed(layer, request, (changed) => fromWhole(next(changed))))];
    }),
    core,
  );
}

/** Middleware with only `generate` gets the collected answer. */
export function streamed(middleware: readonly NamedWraps[], core: Stream, call: WorkerCall, watch: WrapWatch): Stream {
  return wrapAround<WorkerModelRequest, AsyncIterable<ModelChunk>>(
    layersOf(middleware, call, watch).flatMap((layer) => {
      if (layer.wraps.stream !== undefined) return [(request, next) => transformed(layer, request, next)];
      if (layer.wraps.generate === undefined) return [];
      return [(request, next) => (layer.wraps.looksOn === true ? lookedOn(layer, request, next) : held(layer, request, next))];
    }),
    core,
  );
}

function layersOf(middleware: readonly NamedWraps[], call: WorkerCall, watch: WrapWatch): readonly ModelLayer[] {
  return middleware.flatMap(({ name, wraps: { wrapModel } }) =>
    wrapModel === undefined ? [] : [{ name, wraps: wrapModel, call, guard: guardOf(name, call, watch) }],
  );
}

function guardOf(name: string, { signal }: WorkerCall, watch: WrapWatch): ModelLayer['guard'] {
  const changed = (): void => watch.changed(name, 'wrapModel', ['answer']);
  return {
    label: labelOfWrap('wrapModel', name),
    watch,
    signal,
    replaced: (came, gave) => {
      const [from, to] = [came, gave] as readonly (WorkerModelResponse | undefined)[];
      if (!sameMessage(from?.message, to?.message)) changed();
    },
    changesStream: changed,
  };
}

function noting<Response>(
  { name, guard }: ModelLayer,
  got: WorkerModelRequest,
  next: (request: WorkerModelRequest) => Response,
): typeof next {
  return (handed) => {
    guard.watch.changed(name, 'wrapModel', changedInRequest(got, handed));
    return next(handed);
  };
}

function generated(layer: ModelLayer, request: WorkerModelRequest, next: Whole): Promise<WorkerModelResponse> {
  const { wraps, call, guard } = layer;
  return guardedWhole<WorkerModelRequest, WorkerModelResponse>(
    { ...guard, check: notResponse },
    (guarded) => wraps.generate?.(request, guarded, call) as Promise<WorkerModelResponse>,
    noting(layer, request, next),
  );
}

function transformed(layer: ModelLayer, request: WorkerModelRequest, next: Stream): AsyncIterable<ModelChunk> {
  const { wraps, call, guard } = layer;
  return guardedStream<WorkerModelRequest, ModelChunk>(
    { ...guard, check: notChunk },
    (guarded) => wraps.stream?.(request, guarded, call) as AsyncIterable<ModelChunk>,
    noting(layer, request, next),
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

/** Readers see nothing before the layer is done, as the layer may change the answer. */
async function* held(layer: ModelLayer, request: WorkerModelRequest, next: Stream): AsyncGenerator<ModelChunk> {
  const { message, usage, finish } = await generated(layer, request, (changed) => collect(next(changed)));
  yield* chunksOf({ parts: message.parts, ...defined({ usage, finish }) });
}

/** The stream passes unchanged, and the layer's result for the collected answer is ignored. */
async function* lookedOn(layer: ModelLayer, request: WorkerModelRequest, given: Stream): AsyncGenerator<ModelChunk> {
  const { wraps, call, guard } = layer;
  const next = noting(layer, request, given);
  const queue: ModelChunk[] = [];
  let finish: ModelChunk | undefined;
  let over = false;
  let failure: { readonly error: unknown } | undefined;
  let wake: () => void = () => undefined;
  const running = (async () => {
    try {
      await guardedWhole<WorkerModelRequest, WorkerModelResponse>(
        { label: guard.label, watch: guard.watch, signal: guard.signal, check: () => undefined },
        (guarded) => wraps.generate?.(request, guarded, call) as Promise<WorkerModelResponse>,
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
