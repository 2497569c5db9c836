import { isRecord } from '../../contract/check';
import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import { limits } from '../../contract/limits';
import type { FinishReason, Json, JsonObject, Part, Usage } from '../../contract/messages/messages';
import type { GenerateAnswer, ModelChunk } from './language-model';

export class AnswerAssembly {
  private readonly parts: { part: Part; block?: string }[] = [];
  private usage: Usage | undefined;
  private reason: FinishReason | undefined;
  private characters = 0;
  complete = false;

  add(chunk: ModelChunk): void {
    switch (chunk.type) {
      case 'text':
      case 'reasoning':
        this.append(chunk);
        return;
      case 'part':
        this.parts.push({ part: chunk.part });
        return;
      case 'usage':
        this.usage = chunk.usage;
        return;
      case 'finish':
        this.complete = true;
        this.usage = chunk.usage ?? this.usage;
        this.reason = chunk.finish;
    }
  }

  /** Drops empty texts that the provider does not need back. */
  answer(): GenerateAnswer {
    const parts = this.parts
      .map(({ part }) => part)
      .filter((part) => !((part.type === 'text' || part.type === 'reasoning') && part.text === '' && part.extra === undefined));
    return {
      parts,
      ...defined({ usage: this.usage, finish: this.reason }),
    };
  }

  /** An answer without its last chunk is an error with its usage. */
  whole(): GenerateAnswer {
    const { usage } = this;
    if (this.complete) return this.answer();
    const brokenOff = new Error('The answer broke off: its stream ended without a finish.');
    throw Object.assign(brokenOff, { isRetryable: true, ...defined({ usage }) });
  }

  private append(chunk: ModelChunk & { type: 'text' | 'reasoning' }): void {
    const { type, text, block, extra } = chunk;
    // An endless answer would fill the memory before its bytes are counted.
    this.characters += text.length;
    if (this.characters > limits.payload)
      throw new HoldfastError('model-response-too-large', `The answer of the model has more than ${limits.payload} characters.`);
    const last = this.parts.at(-1);
    const entry =
      block === undefined
        ? last?.part.type === type && last.block === undefined
          ? last
          : undefined
        : this.parts.find((known) => known.block === block && known.part.type === type);
    if (entry === undefined) {
      this.parts.push({ part: { type, text, ...defined({ extra }) }, ...defined({ block }) });
      return;
    }
    const before = entry.part as Part & { type: 'text' | 'reasoning' };
    entry.part = {
      type,
      text: before.text + text,
      ...(before.extra === undefined && extra === undefined ? {} : { extra: merged(before.extra, extra) }),
    };
  }
}

/** Extras come in pieces, too, as a signature at the end of the reasoning. */
function merged(before: JsonObject | undefined, after: JsonObject | undefined): JsonObject {
  const all: Record<string, Json | undefined> = { ...before };
  for (const [key, value] of Object.entries(after ?? {})) {
    const known = all[key];
    all[key] = isRecord(known) && isRecord(value) ? { ...known, ...value } : value;
  }
  return all;
}

/**
 * Collects a stream, for a custom model that only streams.
 * @example
 * async function* talk(): AsyncGenerator<ModelChunk> {
 *   yield { type: 'text', text: 'It is ' };
 *   yield { type: 'text', text: 'a teapot.' };
 * }
 * export const model: LanguageModel = { stream: talk, generate: () => answerOfChunks(talk()) };
 */
export async function answerOfChunks(chunks: AsyncIterable<ModelChunk>): Promise<GenerateAnswer> {
  const assembly = new AnswerAssembly();
  for await (const chunk of chunks) assembly.add(chunk);
  return assembly.whole();
}

export function* chunksOf({ parts, usage, finish }: GenerateAnswer): Generator<ModelChunk> {
  for (const [position, part] of parts.entries()) {
    if (part.type === 'text' || part.type === 'reasoning') yield { ...part, block: `${position}` };
    else yield { type: 'part', part };
  }
  yield { type: 'finish', ...defined({ usage, finish }) };
}
