import type { WorkerWraps, WorkerMiddleware } from '../../activities/worker-middleware/worker-middleware';
import { defineWorkerMiddleware } from '../../activities/worker-middleware/worker-middleware';
import { HoldfastError, messageOf, thrownCodeOf } from '../../contract/errors';
import type { Json, Part } from '../../contract/messages/messages';
import { RedactedAnswer } from './worker/redacted-answer';
import { RedactedParts } from './worker/redacted-parts';
import type { Piece } from './redacted-texts';
import { Redactor } from './redactor';
import type { PiiRules } from './rules';
import { StopError, isStop } from '../../kernel/effects/errors';

/** Changes answers and results before any record. Every worker has this middleware. */
export const piiOnWorker: WorkerMiddleware = defineWorkerMiddleware('pii', (options: Json): WorkerWraps => {
  const { rules, places } = options as unknown as PiiRules;
  const output = places.includes('output') ? new Redactor(rules, 'an answer of the model') : undefined;
  const calls = places.includes('arguments') ? new Redactor(rules, 'the arguments of a tool call') : undefined;
  const tools = places.includes('tools') ? new Redactor(rules, 'the result of a tool') : undefined;
  return {
    ...(output === undefined && calls === undefined ? {} : { wrapModel: modelWraps(output, calls) }),
    ...(tools === undefined ? {} : toolWraps(tools)),
  };
});

function modelWraps(output: Redactor | undefined, calls: Redactor | undefined): NonNullable<WorkerWraps['wrapModel']> {
  return {
    async generate(request, next) {
      const response = await next(request);
      const said = output?.message(response.message, isSaid) ?? response.message;
      return { ...response, message: calls?.message(said, isCall) ?? said };
    },
    async *stream(request, next) {
      const texts = output === undefined ? undefined : new RedactedAnswer(output);
      for await (const chunk of next(request)) {
        if (texts !== undefined && (chunk.type === 'text' || chunk.type === 'reasoning')) yield* texts.take(chunk);
        else {
          if (chunk.type === 'part') yield* texts?.endOpen() ?? [];
          if (chunk.type === 'finish') yield* texts?.endAll() ?? [];
          if (calls === undefined) yield chunk;
          else if (chunk.type === 'part') yield { ...chunk, part: calls.parts([chunk.part], isCall)[0] ?? chunk.part };
          else if (chunk.type !== 'tool-input') yield chunk;
        }
      }
    },
  };
}

const isSaid = ({ type }: Part): boolean => type === 'text' || type === 'reasoning';
const isCall = ({ type }: Part): boolean => type === 'tool-call';

function toolWraps(redactor: Redactor): WorkerWraps {
  return {
    wrapInvokableToolCall: async (input, next) => redactor.json(await cleaned(redactor, () => next(input))),
    wrapEnhancedInvokableToolCall: async (input, next) => redactor.parts(await cleaned(redactor, () => next(input)), isSaid),
    async *wrapStreamableToolCall(input, next) {
      const texts = redactor.stream();
      for await (const piece of cleanedStream(redactor, () => next(input))) yield* inOne(texts.push(piece));
      yield* inOne(texts.end());
    },
    async *wrapEnhancedStreamableToolCall(input, next) {
      const parts = new RedactedParts(redactor);
      for await (const part of cleanedStream(redactor, () => next(input))) yield* parts.take(part);
      yield* parts.end();
    },
  };
}

function* inOne(pieces: readonly Piece[]): Generator<string> {
  const text = pieces.map((piece) => piece.text).join('');
  if (text !== '') yield text;
}

async function cleaned<Output>(redactor: Redactor, run: () => Promise<Output>): Promise<Output> {
  try {
    return await run();
  } catch (error) {
    throw cleanError(redactor, error);
  }
}

async function* cleanedStream<Piece>(redactor: Redactor, run: () => AsyncIterable<Piece>): AsyncGenerator<Piece> {
  try {
    yield* run();
  } catch (error) {
    throw cleanError(redactor, error);
  }
}

/** Tool errors go to the model, too. Codes and stops stay. */
function cleanError(redactor: Redactor, error: unknown): unknown {
  const said = messageOf(error);
  const clean = redactor.text(said);
  if (clean === said) return error;
  return isStop(error) ? new StopError(clean) : new HoldfastError(thrownCodeOf(error) ?? 'tool-failed', clean);
}
