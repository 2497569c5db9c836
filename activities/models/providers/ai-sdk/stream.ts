import { defined } from '../../../../contract/defined';
import type { ReadableStream } from 'node:stream/web';
import { HoldfastError } from '../../../../contract/errors';
import type { ModelChunk } from '../../language-model';
import { orAborted } from '../../model-stream';
import { endOf, extraOf, isSubstance, partOf, usageOf, withUsage } from './answer';
import type { Item } from './specification';
import { isRecord } from '../../../../contract/check';
import { UnnamedCalls } from './unnamed-calls';

type Open = (signal: AbortSignal) => PromiseLike<{ readonly stream: ReadableStream<Item> }>;

/**
 * Cancels stream and request on an abort, even if the model ignores the signal, and when the reader stops: a generator's `return` would
 * wait for the next chunk, perhaps for ever.
 */
export function chunksFrom(open: Open, signal: AbortSignal, clean: (error: unknown) => never): AsyncIterableIterator<ModelChunk> {
  const stop = new AbortController();
  const chunks = read(open, AbortSignal.any([signal, stop.signal]));
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next: () => chunks.next().catch(clean),
    return: () => {
      stop.abort(new DOMException('Nobody reads this stream any more.', 'AbortError'));
      return chunks.return(undefined);
    },
  };
}

async function* read(open: Open, signal: AbortSignal): AsyncGenerator<ModelChunk> {
  const reader = (await opened(open, signal)).getReader();
  const cancel = (): void => void reader.cancel().catch(() => undefined);
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const translation = new StreamTranslation();
    for (;;) {
      const { done, value } = await reader.read();
      // A cancelled stream looks like an ended stream.
      signal.throwIfAborted();
      if (done) break;
      yield* translation.chunksOf(value);
    }
    if (!translation.ended) throw brokenOff();
  } finally {
    cancel();
  }
}

async function opened(open: Open, signal: AbortSignal): Promise<ReadableStream<Item>> {
  signal.throwIfAborted();
  const opening = Promise.resolve(open(signal));
  try {
    return (await orAborted(opening, signal)).stream;
  } catch (error) {
    opening.then(({ stream }) => stream.cancel()).catch(() => undefined);
    throw error;
  }
}

function brokenOff(): HoldfastError {
  return new HoldfastError('model-failed', 'The answer broke off: the stream of the provider ended without a last word.', {
    details: { retryable: true },
  });
}

class StreamTranslation {
  ended = false;
  private substance = false;
  /** Calls that the provider executes, as deltas of arguments do not tell. */
  private readonly foreign = new Set<unknown>();
  private readonly unnamed = new UnnamedCalls();

  chunksOf(item: Item): readonly ModelChunk[] {
    if (item['type'] === 'raw') this.unnamed.see(item['rawValue']);
    const lost = item['type'] === 'finish' ? this.unnamed.parts() : [];
    this.substance ||= lost.length > 0;
    const chunk = this.chunkOf(item);
    return [...lost.map((part): ModelChunk => ({ type: 'part', part })), ...(chunk === undefined ? [] : [chunk])];
  }

  private chunkOf(item: Item): ModelChunk | undefined {
    switch (item['type']) {
      case 'text-start':
      case 'text-delta':
      case 'text-end':
        return this.words('text', item);
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        return this.words('reasoning', item);
      case 'tool-input-start':
        if (item['providerExecuted'] === true) this.foreign.add(item['id']);
        else return { type: 'tool-input-start', callId: String(item['id']), tool: String(item['toolName']) };
        return undefined;
      case 'tool-input-delta':
        if (this.foreign.has(item['id']) || item['delta'] === '') return undefined;
        return { type: 'tool-input', callId: String(item['id']), text: String(item['delta']) };
      case 'tool-call':
      case 'file': {
        const part = partOf(item);
        if (part === undefined) return undefined;
        this.substance ||= isSubstance(part);
        return { type: 'part', part };
      }
      case 'error':
        throw item['error'];
      case 'finish':
        if (this.isCutOff(item)) throw withUsage(brokenOff(), usageOf(item['usage']));
        this.ended = true;
        return { type: 'finish', ...endOf(item['finishReason'], item['usage'], this.substance) };
      default:
        return undefined;
    }
  }

  /** A start and an end matter only for their extras. */
  private words(type: 'text' | 'reasoning', item: Item): ModelChunk | undefined {
    const text = typeof item['delta'] === 'string' ? item['delta'] : '';
    const { extra } = extraOf(item);
    if (text === '' && extra === undefined) return undefined;
    if (type === 'text' && text.trim() !== '') this.substance = true;
    return { type, text, block: `${type}:${String(item['id'])}`, ...defined({ extra }) };
  }

  /** Some clients report a finish at the end of any stream. */
  private isCutOff({ finishReason }: Item): boolean {
    return isRecord(finishReason) && finishReason['unified'] === 'other' && finishReason['raw'] === undefined;
  }
}
