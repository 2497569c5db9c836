import { jsonSize } from '../contract/plain/limits';
import type { ToolKind } from '../contract/plain/manifest';
import type { Json, Part } from '../contract/plain/messages';
import { isPartList, notJson } from '../contract/plain/messages';
import type { StreamMode } from '../contract/plain/wire';
import { abortOf } from './abort';
import type { ToolCallContext } from './define-tool';
import { consume } from './model-stream';
import type { ToolDeltas } from './tool-deltas';
import type { AnyTool } from './tools';
import type { ToolWorkerCall, WorkerHalf } from './worker-middleware';
import { wrapAround } from './worker-middleware';

export interface ToolRun {
  readonly tool: AnyTool;
  /** The arguments, as JSON and as what they mean to the tool. */
  readonly input: { readonly json: Json; readonly value: unknown };
  readonly context: ToolCallContext;
  readonly call: ToolWorkerCall;
  readonly halves: readonly WorkerHalf[];
  readonly mode: StreamMode;
  readonly resultLimit: number;
  readonly deltas: ToolDeltas;
}

/** The stream of a tool was stopped, or was none. */
export class StreamProblem extends Error {
  constructor(
    readonly code: 'tool-result-too-large' | 'tool-result-invalid',
    message: string,
  ) {
    super(message);
  }
}

/** Which of its forms this call of a tool takes. */
export function kindOfCall({ enhanced, execute, stream }: AnyTool, mode: StreamMode): ToolKind {
  const streams = stream !== undefined && (mode !== 'whole' || execute === undefined);
  if (enhanced === true) return streams ? 'enhanced-streamable' : 'enhanced';
  return streams ? 'streamable' : 'invokable';
}

/** The tool with the worker halves around it, by the wrap of the kind of this call. What comes back is not checked yet. */
export async function runTool(run: ToolRun): Promise<unknown> {
  switch (kindOfCall(run.tool, run.mode)) {
    case 'invokable':
      return around(run, (half) => half.wrapInvokableToolCall, executed<Json>(run))(run.input.json);
    case 'enhanced':
      return around(run, (half) => half.wrapEnhancedInvokableToolCall, executed<readonly Part[]>(run))(run.input.json);
    case 'streamable':
      return collected(run, around(run, (half) => half.wrapStreamableToolCall, streamed<string>(run))(run.input.json), new TextPieces());
    case 'enhanced-streamable':
      return collected(
        run,
        around(run, (half) => half.wrapEnhancedStreamableToolCall, streamed<Part>(run))(run.input.json),
        new PartPieces(),
      );
  }
}

type Wrap<Response> = (input: Json, next: (input: Json) => Response, call: ToolWorkerCall) => Response;

function around<Response>(
  { halves, call }: ToolRun,
  wrapOf: (half: WorkerHalf) => Wrap<Response> | undefined,
  core: (input: Json) => Response,
): (input: Json) => Response {
  const wraps = halves.flatMap((half) => {
    const wrap = wrapOf(half);
    return wrap === undefined ? [] : [(input: Json, next: (input: Json) => Response) => wrap.call(half, input, next, call)];
  });
  return wrapAround(wraps, core);
}

/** What a half handed on. Arguments that none changed keep what parsing made of them. */
function argumentsOf({ input }: ToolRun, json: Json): unknown {
  return json === input.json ? input.value : json;
}

function executed<Output>(run: ToolRun): (json: Json) => Promise<Output> {
  const { tool, context, deltas } = run;
  return async (json) => {
    const result = await tool.execute?.(argumentsOf(run, json), context);
    if (!isAsyncIterable(result)) return result as Output;
    // A tool of the AI SDK may give preliminary results; the last one is the result.
    let last: unknown;
    await readTo(run, result, (value) => {
      deltas.progress(value);
      last = value;
    });
    return last as Output;
  };
}

function streamed<Piece>(run: ToolRun): (json: Json) => AsyncIterable<Piece> {
  const { tool, context } = run;
  return async function* (json) {
    const stream = await tool.stream?.(argumentsOf(run, json), context);
    yield* checkedStream(stream) as AsyncIterable<Piece>;
  };
}

/** Reads what comes out of the outermost wrap, shows it and puts it together. */
async function collected<Piece extends string | Part>(
  run: ToolRun,
  stream: AsyncIterable<Piece>,
  pieces: Pieces<Piece>,
): Promise<string | readonly Part[]> {
  const { deltas, mode, resultLimit } = run;
  if (mode === 'live') deltas.begin();
  await readTo(run, checkedStream(stream) as AsyncIterable<Piece>, (piece) => {
    pieces.add(piece);
    if (pieces.bytes > resultLimit)
      throw new StreamProblem('tool-result-too-large', `was stopped after ${pieces.bytes} bytes; at most ${resultLimit} are allowed.`);
    if (mode === 'live') deltas.output(piece);
  });
  return pieces.whole;
}

/** A `once` tool is read to its end also when the run is cancelled: only the tool knows how far it came. */
async function readTo<Piece>({ tool, call }: ToolRun, stream: AsyncIterable<Piece>, take: (piece: Piece) => void): Promise<void> {
  const signal = tool.effect === 'once' ? new AbortController().signal : call.signal;
  if ((await consume(stream, signal, take)) === 'aborted') throw abortOf(signal);
}

interface Pieces<Piece> {
  add(piece: Piece): void;
  /** Of all pieces together, as JSON. */
  readonly bytes: number;
  readonly whole: string | readonly Part[];
}

class TextPieces implements Pieces<string> {
  bytes = 2;
  whole = '';

  add(piece: string): void {
    if (typeof piece !== 'string') throw new StreamProblem('tool-result-invalid', `streamed a ${typeOf(piece)}; a stream has texts.`);
    this.whole += piece;
    this.bytes += jsonSize(piece) - 2;
  }
}

/** Neighbouring texts are one part, unless one of them carries something. */
class PartPieces implements Pieces<Part> {
  bytes = 2;
  readonly whole: Part[] = [];

  add(piece: Part): void {
    const problem = isPartList([piece]) ? notJson(piece) : `a ${typeOf(piece)} is no text and no file`;
    if (problem !== undefined) throw new StreamProblem('tool-result-invalid', `streamed something that is no part: ${problem}.`);
    const last = this.whole.at(-1);
    if (piece.type === 'text' && last?.type === 'text' && piece.extra === undefined && last.extra === undefined) {
      this.whole[this.whole.length - 1] = { type: 'text', text: last.text + piece.text };
      this.bytes += jsonSize(piece.text) - 2;
      return;
    }
    this.whole.push(piece);
    this.bytes += jsonSize(piece) + (this.whole.length > 1 ? 1 : 0);
  }
}

function typeOf(value: unknown): string {
  const { type } = (value ?? {}) as { type?: unknown };
  if (value === null) return 'null';
  return typeof type === 'string' ? `part of the type "${type}"` : typeof value;
}

function checkedStream(stream: unknown): AsyncIterable<unknown> {
  if (isAsyncIterable(stream)) return stream;
  throw new StreamProblem('tool-result-invalid', 'gave no stream; `stream`, and what wraps it, are to return an AsyncIterable.');
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof (value as { [Symbol.asyncIterator]?: unknown } | null | undefined)?.[Symbol.asyncIterator] === 'function';
}
