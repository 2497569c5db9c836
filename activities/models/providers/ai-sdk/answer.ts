import { defined } from '../../../../contract/defined';
import { HoldfastError } from '../../../../contract/errors';
import type { FinishReason, Json, JsonObject, Part, Usage } from '../../../../contract/messages/messages';
import { notJson } from '../../../../contract/messages/messages';
import { isTokenCount } from '../../../../contract/usage';
import type { GenerateAnswer } from '../../language-model';
import type { Item } from './specification';
import { isRecord } from '../../../../contract/check';

export function answerOf(content: readonly Item[], finishReason: unknown, usage: unknown): GenerateAnswer {
  const parts = content.flatMap((item) => partOf(item) ?? []);
  return { parts, ...endOf(finishReason, usage, parts.some(isSubstance)) };
}

/** Leaves out calls that the provider executes, with their results, sources and approvals. */
export function partOf(item: Item): Part | undefined {
  const extra = extraOf(item);
  switch (item['type']) {
    case 'text':
    case 'reasoning':
      return { type: item['type'], text: typeof item['text'] === 'string' ? item['text'] : '', ...extra };
    case 'tool-call':
      if (item['providerExecuted'] === true) return undefined;
      return {
        type: 'tool-call',
        id: String(item['toolCallId']),
        name: typeof item['toolName'] === 'string' ? item['toolName'].trim() : '',
        input: inputOf(item['input']),
        ...extra,
      };
    case 'file':
      return { type: 'file', mediaType: String(item['mediaType']), data: fileOf(item['data']), ...extra };
    default:
      return undefined;
  }
}

/** Data that the provider needs back, such as a signature, as JSON for the history. */
export function extraOf(item: Item): { readonly extra?: JsonObject } {
  const metadata = item['providerMetadata'];
  if (!isRecord(metadata) || Object.keys(metadata).length === 0) return {};
  return { extra: JSON.parse(JSON.stringify(metadata)) as JsonObject };
}

interface AnswerEnd {
  readonly usage?: Usage;
  readonly finish?: FinishReason;
}

/** An answer without a usual end or content is an error with its usage. */
export function endOf(finishReason: unknown, usage: unknown, substance: boolean): AnswerEnd {
  const reason = reasonOf(finishReason);
  const counted = usageOf(usage);
  if (reason === 'error')
    throw withUsage(
      new HoldfastError('model-failed', 'The provider ended its answer with an error.', { details: { retryable: true } }),
      counted,
    );
  if (!substance) throw withUsage(emptyAnswer(reason), counted);
  return {
    ...defined({ usage: counted }),
    ...(reason === 'stop' || reason === 'tool-calls' ? {} : { finish: reason }),
  };
}

export function withUsage(error: Error, usage: Usage | undefined): Error {
  return usage === undefined ? error : Object.assign(error, { usage });
}

export function isSubstance(part: Part): boolean {
  return part.type === 'text' ? part.text.trim() !== '' : part.type !== 'reasoning';
}

function reasonOf(reason: unknown): FinishReason {
  const text = isRecord(reason) ? reason['unified'] : 'stop';
  return reasons.includes(text as FinishReason) ? (text as FinishReason) : 'other';
}

const reasons: readonly FinishReason[] = ['stop', 'tool-calls', 'length', 'content-filter', 'error'];

function emptyAnswer(reason: FinishReason): HoldfastError {
  switch (reason) {
    case 'content-filter':
      return new HoldfastError('model-refused', 'The provider stopped the answer before there was any: its content filter said no.');
    case 'length':
      return new HoldfastError('model-response-empty', 'The model used up its tokens before it said anything. Raise maxOutputTokens.', {
        details: { retryable: false },
      });
    default:
      return new HoldfastError('model-response-empty', `The model ended (${reason}) without a text, a tool call or a file.`);
  }
}

/** Invalid JSON stays a text, which the tool refuses. */
export function inputOf(input: unknown): Json {
  if (typeof input !== 'string') return (input ?? {}) as Json;
  if (input.trim() === '') return {};
  try {
    const parsed = JSON.parse(input) as Json;
    return notJson(parsed) === undefined ? parsed : input;
  } catch {
    return input;
  }
}

/** Base64 or bytes; from v4 on tagged, or a tagged URL. */
function fileOf(data: unknown): string | { readonly url: string } {
  if (typeof data === 'string') return data;
  if (data instanceof Uint8Array) return Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64');
  if (isRecord(data) && data['type'] === 'url') return { url: String(data['url']) };
  if (isRecord(data) && data['type'] === 'data') return fileOf(data['data']);
  throw new HoldfastError('model-response-invalid', 'The model answered with a file whose data is neither base64 nor bytes nor a URL.');
}

export function usageOf(usage: unknown): Usage | undefined {
  if (!isRecord(usage)) return undefined;
  const { total: inputTokens, cacheRead: cached } = isRecord(usage['inputTokens']) ? usage['inputTokens'] : {};
  const { total: outputTokens, reasoning } = isRecord(usage['outputTokens']) ? usage['outputTokens'] : {};
  if (!isTokenCount(inputTokens) && !isTokenCount(outputTokens)) return undefined;
  return {
    inputTokens: isTokenCount(inputTokens) ? inputTokens : 0,
    outputTokens: isTokenCount(outputTokens) ? outputTokens : 0,
    ...(isTokenCount(cached) && cached > 0 ? { cachedInputTokens: cached } : {}),
    ...(isTokenCount(reasoning) && reasoning > 0 ? { reasoningTokens: reasoning } : {}),
  };
}
