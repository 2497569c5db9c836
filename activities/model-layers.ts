import type { ModelChunk } from './chunks';
import { AnswerAssembly, chunksOf } from './chunks';
import type { WorkerCall, WorkerHalf, WorkerModelRequest, WorkerModelResponse } from './worker-middleware';
import { wrapAround } from './worker-middleware';

type ModelHalf = NonNullable<WorkerHalf['wrapModel']>;
type Whole = (request: WorkerModelRequest) => Promise<WorkerModelResponse>;
type Stream = (request: WorkerModelRequest) => AsyncIterable<ModelChunk>;

/** Halves around an answer that comes whole. One that knows streams only sees a stream of one go. */
export function whole(halves: readonly ModelHalf[], core: Whole, call: WorkerCall): Whole {
  return wrapAround<WorkerModelRequest, Promise<WorkerModelResponse>>(
    halves.flatMap((half) => {
      if (half.generate !== undefined) return [(request, next) => half.generate?.(request, next, call) as Promise<WorkerModelResponse>];
      if (half.stream === undefined) return [];
      return [(request, next) => collect(half.stream?.(request, (changed) => fromWhole(next(changed)), call) as AsyncIterable<ModelChunk>)];
    }),
    core,
  );
}

/** Halves around an answer that streams. One that knows whole answers only gets the stream collected. */
export function streamed(halves: readonly ModelHalf[], core: Stream, call: WorkerCall): Stream {
  return wrapAround<WorkerModelRequest, AsyncIterable<ModelChunk>>(
    halves.flatMap((half) => {
      if (half.stream !== undefined) return [(request, next) => half.stream?.(request, next, call) as AsyncIterable<ModelChunk>];
      if (half.generate === undefined) return [];
      return [(request, next) => (half.looksOn === true ? lookedOn(half, request, next, call) : held(half, request, next, call))];
    }),
    core,
  );
}

/** What a layer may still change is seen by nobody before it is done. */
async function* held(half: ModelHalf, request: WorkerModelRequest, next: Stream, call: WorkerCall): AsyncGenerator<ModelChunk> {
  const response = await half.generate?.(request, (changed) => collect(next(changed)), call);
  const { message, usage, finish } = response as WorkerModelResponse;
  yield* chunksOf({ parts: message.parts, ...(usage === undefined ? {} : { usage }), ...(finish === undefined ? {} : { finish }) });
}

/** The stream goes through as it comes, and the layer sees its sum. What it returns is not looked at. */
async function* lookedOn(half: ModelHalf, request: WorkerModelRequest, next: Stream, call: WorkerCall): AsyncGenerator<ModelChunk> {
  const queue: ModelChunk[] = [];
  let finish: ModelChunk | undefined;
  let over = false;
  let failure: { readonly error: unknown } | undefined;
  let wake: () => void = () => undefined;
  const running = (async () => {
    try {
      await half.generate?.(
        request,
        async (changed) => {
          const assembly = new AnswerAssembly();
          for await (const chunk of next(changed)) {
            assembly.add(chunk);
            if (chunk.type === 'finish') finish = chunk;
            else queue.push(chunk);
            wake();
          }
          return responseOf(assembly);
        },
        call,
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
  if (finish !== undefined) yield finish;
}

async function collect(chunks: AsyncIterable<ModelChunk>): Promise<WorkerModelResponse> {
  const assembly = new AnswerAssembly();
  for await (const chunk of chunks) assembly.add(chunk);
  return responseOf(assembly);
}

function responseOf(assembly: AnswerAssembly): WorkerModelResponse {
  const { parts, ...rest } = assembly.answer();
  if (!assembly.complete) throw Object.assign(new Error('The answer broke off: its stream ended without a finish.'), { isRetryable: true });
  return { message: { role: 'assistant', parts }, ...rest };
}

async function* fromWhole(answer: Promise<WorkerModelResponse>): AsyncGenerator<ModelChunk> {
  const { message, ...rest } = await answer;
  yield* chunksOf({ parts: message.parts, ...rest });
}
