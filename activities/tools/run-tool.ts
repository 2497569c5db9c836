import { withoutCredentials } from '../../contract/credentials';
import { HoldfastError, messageOf, thrownCodeOf } from '../../contract/errors';
import { jsonSize } from '../../contract/limits';
import type { ToolKind } from '../../contract/manifest';
import type { Json, JsonObject, Part } from '../../contract/messages/messages';
import { isPartList, notJson } from '../../contract/messages/messages';
import { same } from '../../contract/middleware-changes';
import { toolOptionsProblem } from '../../contract/run-options';
import type { StreamMode } from '../../contract/record/wire';
import { abortOf } from '../calls/abort';
import { partsShown } from './model-output';
import type { ToolCallContext } from './define-tool';
import { ToolInterrupt } from './define-tool';
import type { WrapGuard, WrapWatch } from '../worker-middleware/wrap-guard';
import { guardedStream, guardedWhole, labelOfWrap } from '../worker-middleware/wrap-guard';
import { consume } from '../models/model-stream';
import type { Observers } from '../worker-middleware/observers';
import type { ToolDeltas } from './tool-deltas';
import type { AnyTool } from './tools';
import type { NamedWraps, ToolNext, ToolWorkerCall, WorkerWraps } from '../worker-middleware/worker-middleware';
import { wrapAround } from '../worker-middleware/worker-middleware';

export interface ToolRun {
  readonly tool: AnyTool;
  readonly input: { readonly json: Json; readonly value: unknown };
  readonly context: ToolCallContext;
  readonly options: JsonObject;
  readonly call: Omit<ToolWorkerCall, 'options'>;
  readonly middleware: readonly NamedWraps[];
  readonly watch: WrapWatch;
  readonly mode: StreamMode;
  readonly resultLimit: number;
  readonly deltas: ToolDeltas;
  readonly observers: Observers | undefined;
}

export class StreamProblem extends Error {
  constructor(
    readonly code: 'tool-result-too-large' | 'tool-result-invalid',
    message: string,
  ) {
    super(message);
  }
}

function kindOfCall({ enhanced, execute, stream }: AnyTool, mode: StreamMode): ToolKind {
  const streams = stream !== undefined && (mode !== 'whole' || execute === undefined);
  if (enhanced === true) return streams ? 'enhanced-streamable' : 'enhanced';
  return streams ? 'streamable' : 'invokable';
}

export async function runTool(run: ToolRun): Promise<unknown> {
  const asked: WrapInput = { json: run.input.json, options: run.options };
  switch (kindOfCall(run.tool, run.mode)) {
    case 'invokable':
      return aroundWhole<Json>(run, 'wrapInvokableToolCall', notResult)(asked);
    case 'enhanced':
      return aroundWhole<readonly Part[]>(run, 'wrapEnhancedInvokableToolCall', notParts)(asked);
    case 'streamable':
      return collected(run, aroundStream<string>(run, 'wrapStreamableToolCall', notText)(asked), new TextPieces());
    case 'enhanced-streamable':
      return collected(run, aroundStream<Part>(run, 'wrapEnhancedStreamableToolCall', notPart)(asked), new PartPieces());
  }
}

interface WrapInput {
  readonly json: Json;
  readonly options: JsonObject;
}

type Wrap<Response> = (input: Json, next: ToolNext<Response>, call: ToolWorkerCall) => Response;
type WrapName = Exclude<keyof WorkerWraps, 'wrapModel'>;
type ResultCheck = (value: unknown) => string | undefined;

function wrapsOf<Response>({ middleware, call, watch }: ToolRun, hook: WrapName, check: ResultCheck): readonly WrapLayer<Response>[] {
  return middleware.flatMap(({ name, wraps }) => {
    const wrap = wraps[hook] as Wrap<Response> | undefined;
    if (wrap === undefined) return [];
    const changed = (part: 'arguments' | 'options' | 'result'): void => watch.changed(name, hook, [part]);
    const noted: Pick<WrapGuard, 'replaced' | 'changesStream'> = {
      replaced: (came, gave) => {
        if (!same(came, gave)) changed('result');
      },
      changesStream: () => changed('result'),
    };
    return [{ wrap: wrap.bind(wraps), changed, guard: { label: labelOfWrap(hook, name), watch, signal: call.signal, check, ...noted } }];
  });
}

interface WrapLayer<Response> {
  readonly wrap: Wrap<Response>;
  readonly changed: (part: 'arguments' | 'options') => void;
  readonly guard: WrapGuard;
}

function aroundWhole<Output>(run: ToolRun, hook: WrapName, check: ResultCheck): (asked: WrapInput) => Promise<Output> {
  const wraps = wrapsOf<Promise<Output>>(run, hook, check).map(
    (layer) => (asked: WrapInput, next: (asked: WrapInput) => Promise<Output>) =>
      guardedWhole<WrapInput, Output>(layer.guard, (guarded) => entered(run, layer, asked, guarded), next),
  );
  return wrapAround(wraps, executed<Output>(run));
}

function aroundStream<Piece>(run: ToolRun, hook: WrapName, check: ResultCheck): (asked: WrapInput) => AsyncIterable<Piece> {
  const wraps = wrapsOf<AsyncIterable<Piece>>(run, hook, check).map(
    (layer) => (asked: WrapInput, next: (asked: WrapInput) => AsyncIterable<Piece>) =>
      guardedStream<WrapInput, Piece>(layer.guard, (guarded) => entered(run, layer, asked, guarded), next),
  );
  return wrapAround<WrapInput, AsyncIterable<Piece>>(wraps, streamed<Piece>(run));
}

/** `next` keeps the options unless the wrap gives others. */
function entered<Response>(
  run: ToolRun,
  { wrap, guard, changed }: WrapLayer<Response>,
  asked: WrapInput,
  next: (asked: WrapInput) => Response,
): Response {
  const inner: ToolNext<Response> = (json, options = asked.options) => {
    const problem = options === asked.options ? undefined : toolOptionsProblem(options);
    if (problem !== undefined) throw new HoldfastError('hook-failed', `${guard.label} called next with options that ${problem}.`);
    if (json !== asked.json && !same(json, asked.json)) changed('arguments');
    if (options !== asked.options && !same(options, asked.options)) changed('options');
    return next({ json, options });
  };
  return wrap(asked.json, inner, { ...run.call, options: asked.options });
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

function argumentsOf({ input }: ToolRun, json: Json): unknown {
  return json === input.json ? input.value : json;
}

function executed<Output>(run: ToolRun): (asked: WrapInput) => Promise<Output> {
  const { tool, deltas } = run;
  return async (asked) => {
    const watched = watchedBy(run, asked);
    try {
      let output: unknown = await tool.execute?.(argumentsOf(run, asked.json), contextOf(run, asked));
      if (isAsyncIterable(output)) {
        // Of preliminary results of an AI SDK tool the last counts.
        const values = output;
        output = undefined;
        await readTo(run, values, (value) => {
          deltas.progress(value);
          output = value;
        });
      }
      if (tool.toModelOutput !== undefined) {
        const result = { toolCallId: run.context.callId, input: argumentsOf(run, asked.json), output };
        output = partsShown(await tool.toModelOutput(result), output);
      }
      watched?.end({ output: output as Json });
      return output as Output;
    } catch (error) {
      tellFailed(watched, error);
      throw error;
    }
  };
}

function watchedBy({ observers, call }: ToolRun, { json: input, options }: WrapInput): ToolWatched | undefined {
  return observers?.tool(call, { tool: call.tool, callId: call.callId, input, options });
}

type ToolWatched = NonNullable<ReturnType<Observers['tool']>>;

function tellFailed(watched: ToolWatched | undefined, error: unknown): void {
  if (error instanceof ToolInterrupt) watched?.end({ output: null, interrupted: true });
  else watched?.fail({ code: thrownCodeOf(error) ?? 'tool-failed', message: withoutCredentials(messageOf(error)) });
}

function contextOf({ context, options: given }: ToolRun, { options }: WrapInput): ToolCallContext {
  return options === given ? context : { ...context, options };
}

function streamed<Piece>(run: ToolRun): (asked: WrapInput) => AsyncIterable<Piece> {
  const { tool } = run;
  return async function* (asked) {
    const watched = watchedBy(run, asked);
    const pieces: Piece[] = [];
    try {
      const stream = await tool.stream?.(argumentsOf(run, asked.json), contextOf(run, asked));
      for await (const piece of checkedStream(stream) as AsyncIterable<Piece>) {
        if (watched !== undefined) pieces.push(piece);
        yield piece;
      }
      watched?.end({ output: sumOf(pieces) });
    } catch (error) {
      tellFailed(watched, error);
      throw error;
    } finally {
      watched?.fail({ code: 'tool-failed', message: 'The stream of the tool was cut off.' });
    }
  };
}

function sumOf(pieces: readonly unknown[]): Json {
  return (pieces.every((piece) => typeof piece === 'string') ? pieces.join('') : pieces) as Json;
}

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

/** Reads a `once` tool's stream to the end even after a cancel. */
async function readTo<Piece>({ tool, call }: ToolRun, stream: AsyncIterable<Piece>, take: (piece: Piece) => void): Promise<void> {
  const signal = tool.effect === 'once' ? new AbortController().signal : call.signal;
  if ((await consume(stream, signal, take)) === 'aborted') throw abortOf(signal);
}

interface Pieces<Piece> {
  add(piece: Piece): void;
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
