import { jsonSize } from '../contract/plain/limits';
import type { ToolKind } from '../contract/plain/manifest';
import type { Json, Part } from '../contract/plain/messages';
import { isPartList, notJson } from '../contract/plain/messages';
import type { StreamMode } from '../contract/plain/wire';
import { abortOf } from './abort';
import type { ToolCallContext } from './define-tool';
import type { HalfGuard, HalfWatch } from './half-guard';
import { guardedStream, guardedWhole, labelOfHalf } from './half-guard';
import { consume } from './model-stream';
import type { ToolDeltas } from './tool-deltas';
import type { AnyTool } from './tools';
import type { NamedHalf, ToolWorkerCall, WorkerHalf } from './worker-middleware';
import { wrapAround } from './worker-middleware';

export interface ToolRun {
  readonly tool: AnyTool;
  /** The arguments, as JSON and as what they mean to the tool. */
  readonly input: { readonly json: Json; readonly value: unknown };
  readonly context: ToolCallContext;
  readonly call: ToolWorkerCall;
  readonly halves: readonly NamedHalf[];
  readonly watch: HalfWatch;
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
  const { json } = run.input;
  switch (kindOfCall(run.tool, run.mode)) {
    case 'invokable':
      return aroundWhole<Json>(run, 'wrapInvokableToolCall', notResult)(json);
    case 'enhanced':
      return aroundWhole<readonly Part[]>(run, 'wrapEnhancedInvokableToolCall', notParts)(json);
    case 'streamable':
      return collected(run, aroundStream<string>(run, 'wrapStreamableToolCall', notText)(json), new TextPieces());
    case 'enhanced-streamable':
      return collected(run, aroundStream<Part>(run, 'wrapEnhancedStreamableToolCall', notPart)(json), new PartPieces());
  }
}

type Wrap<Response> = (input: Json, next: (input: Json) => Response, call: ToolWorkerCall) => Response;
type WrapName = Exclude<keyof WorkerHalf, 'wrapModel'>;
type Check = (value: unknown) => string | undefined;

/** The halves that have this wrap, first outermost. */
function wrapsOf<Response>({ halves, call, watch }: ToolRun, hook: WrapName, check: Check): readonly Layer<Response>[] {
  return halves.flatMap(({ name, half }) => {
    const wrap = half[hook] as Wrap<Response> | undefined;
    if (wrap === undefined) return [];
    return [{ wrap: wrap.bind(half), guard: { label: labelOfHalf(hook, name), watch, signal: call.signal, check } }];
  });
}

interface Layer<Response> {
  readonly wrap: Wrap<Response>;
  readonly guard: HalfGuard;
}

function aroundWhole<Output>(run: ToolRun, hook: WrapName, check: Check): (input: Json) => Promise<Output> {
  const wraps = wrapsOf<Promise<Output>>(run, hook, check).map(
    ({ wrap, guard }) =>
      (input: Json, next: (input: Json) => Promise<Output>) =>
        guardedWhole<Json, Output>(guard, (guarded) => wrap(input, guarded, run.call), next),
  );
  return wrapAround(wraps, executed<Output>(run));
}

function aroundStream<Piece>(run: ToolRun, hook: WrapName, check: Check): (input: Json) => AsyncIterable<Piece> {
  const wraps = wrapsOf<AsyncIterable<Piece>>(run, hook, check).map(
    ({ wrap, guard }) =>
      (input: Json, next: (input: Json) => AsyncIterable<Piece>) =>
        guardedStream<Json, Piece>(guard, (guarded) => wrap(input, guarded, run.call), next),
  );
  return wrapAround<Json, AsyncIterable<Piece>>(wraps, streamed<Piece>(run));
}

function notResult(output: unknown): string | undefined {
  if (output === undefined) return 'nothing; return what next returned, or a result';
  const problem = notJson(output);
  return problem === undefined ? undefined : `something that is not JSON: ${problem}`;
}

function notParts(output: unknown): string | undefined {
  return isPartList(output) ? undefined : 'no list of parts; return what next returned, or a list of texts and files';
}

function notText(piece: unknown): string | undefined {
  return typeof piece === 'string' ? undefined : `a ${typeOf(piece)}; a stream has texts`;
}

function notPart(piece: unknown): string | undefined {
  return isPartList([piece]) ? undefined : `a ${typeOf(piece)}, which is no text and no file`;
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
