import type { ModelChunk } from '../../activities/chunks';
import type { WorkerHalf, WorkerMiddleware } from '../../activities/worker-middleware';
import { defineWorkerMiddleware } from '../../activities/worker-middleware';
import { codeOf } from '../../contract/plain/errors';
import { HoldfastError, messageOf } from '../../contract/plain/errors';
import type { Json, Part } from '../../contract/plain/messages';
import { RedactedStream, Redactor } from './redactor';
import type { PiiRules } from './rules';

/** The half on the worker, where answers and results are changed before anything of them is recorded. Every worker has it. */
export const piiOnWorker: WorkerMiddleware = defineWorkerMiddleware('pii', (options: Json): WorkerHalf => {
  const { rules, places } = options as unknown as PiiRules;
  const output = places.includes('output') ? new Redactor(rules, 'an answer of the model') : undefined;
  const calls = places.includes('arguments') ? new Redactor(rules, 'the arguments of a tool call') : undefined;
  const tools = places.includes('tools') ? new Redactor(rules, 'the result of a tool') : undefined;
  return {
    ...(output === undefined && calls === undefined ? {} : { wrapModel: modelWraps(output, calls) }),
    ...(tools === undefined ? {} : toolWraps(tools)),
  };
});

function modelWraps(output: Redactor | undefined, calls: Redactor | undefined): NonNullable<WorkerHalf['wrapModel']> {
  return {
    async generate(request, next) {
      const response = await next(request);
      const said = output?.message(response.message, isSaid) ?? response.message;
      return { ...response, message: calls?.message(said, isCall) ?? said };
    },
    async *stream(request, next) {
      const texts = new RedactedTexts(output);
      for await (const chunk of next(request)) {
        if (chunk.type === 'text' || chunk.type === 'reasoning') yield* texts.take(chunk);
        else if (chunk.type === 'usage') yield chunk;
        else if (chunk.type === 'part') {
          yield* texts.endOpen();
          yield calls !== undefined && isCall(chunk.part)
            ? { ...chunk, part: calls.message(alone(chunk.part), isCall).parts[0] ?? chunk.part }
            : chunk;
        } else if (chunk.type === 'finish') {
          yield* texts.endAll();
          yield chunk;
        } else if (calls === undefined || chunk.type !== 'tool-input') yield chunk;
      }
    },
  };
}

const isSaid = ({ type }: Part): boolean => type === 'text' || type === 'reasoning';
const isCall = ({ type }: Part): boolean => type === 'tool-call';
const alone = (part: Part): { readonly role: 'assistant'; readonly parts: readonly Part[] } => ({ role: 'assistant', parts: [part] });

type TextChunk = ModelChunk & { readonly type: 'text' | 'reasoning' };

/** The texts of an answer, each with what is held of it. */
class RedactedTexts {
  private readonly open = new Map<string, { readonly stream: RedactedStream; readonly like: TextChunk }>();

  constructor(private readonly redactor: Redactor | undefined) {}

  *take(chunk: TextChunk): Generator<ModelChunk> {
    if (this.redactor === undefined) {
      yield chunk;
      return;
    }
    // Pieces without a block are one text as long as nothing else comes between them.
    if (chunk.block === undefined) yield* this.endOpen(chunk.type);
    const key = keyOf(chunk);
    const { extra: _, ...like } = chunk;
    const known = this.open.get(key) ?? { stream: new RedactedStream(this.redactor), like };
    this.open.set(key, known);
    // Also a piece of which nothing may be seen yet: where the first one comes, there stands the text in the answer.
    yield { ...chunk, text: known.stream.push(chunk.text) };
  }

  /** The rest of what has no block, unless it is of that type. */
  *endOpen(except?: TextChunk['type']): Generator<ModelChunk> {
    for (const [key, { like }] of this.open) if (like.block === undefined && like.type !== except) yield* this.end(key);
  }

  *endAll(): Generator<ModelChunk> {
    for (const key of [...this.open.keys()]) yield* this.end(key);
  }

  private *end(key: string): Generator<ModelChunk> {
    const known = this.open.get(key);
    this.open.delete(key);
    const rest = known?.stream.end() ?? '';
    if (known !== undefined && rest !== '') yield { ...known.like, text: rest };
  }
}

function keyOf({ type, block }: TextChunk): string {
  return block === undefined ? type : `${type}:${block}`;
}

function toolWraps(redactor: Redactor): WorkerHalf {
  return {
    wrapInvokableToolCall: async (input, next) => redactor.json(await cleaned(redactor, () => next(input))),
    wrapEnhancedInvokableToolCall: async (input, next) => partsOf(redactor, await cleaned(redactor, () => next(input))),
    async *wrapStreamableToolCall(input, next) {
      const stream = new RedactedStream(redactor);
      try {
        for await (const piece of next(input)) {
          const text = stream.push(piece);
          if (text !== '') yield text;
        }
      } catch (error) {
        throw cleanError(redactor, error);
      }
      const rest = stream.end();
      if (rest !== '') yield rest;
    },
    async *wrapEnhancedStreamableToolCall(input, next) {
      let stream: RedactedStream | undefined;
      const rest = (): string => {
        const text = stream?.end() ?? '';
        stream = undefined;
        return text;
      };
      try {
        for await (const piece of next(input)) {
          // Texts that stand beside each other are one text.
          const joins = piece.type === 'text' && piece.extra === undefined;
          if (!joins) {
            const text = rest();
            if (text !== '') yield { type: 'text', text };
            yield partsOf(redactor, [piece])[0] ?? piece;
            continue;
          }
          stream ??= new RedactedStream(redactor);
          const text = stream.push(piece.text);
          if (text !== '') yield { type: 'text', text };
        }
      } catch (error) {
        throw cleanError(redactor, error);
      }
      const text = rest();
      if (text !== '') yield { type: 'text', text };
    },
  };
}

function partsOf(redactor: Redactor, parts: readonly Part[]): readonly Part[] {
  return redactor.message({ role: 'tool', parts }, isSaid).parts;
}

async function cleaned<Output>(redactor: Redactor, run: () => Promise<Output>): Promise<Output> {
  try {
    return await run();
  } catch (error) {
    throw cleanError(redactor, error);
  }
}

/** What a tool complains of goes to the model, too. */
function cleanError(redactor: Redactor, error: unknown): unknown {
  if (codeOf(error) !== undefined) return error;
  const said = messageOf(error);
  const clean = redactor.text(said);
  return clean === said ? error : new HoldfastError('tool-failed', clean);
}
