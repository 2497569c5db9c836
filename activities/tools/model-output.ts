import { HoldfastError } from '../../contract/errors';
import type { Part } from '../../contract/messages/messages';

/** The input of an AI SDK tool's `toModelOutput`, from version 6 on. */
export interface ModelOutputInput {
  readonly toolCallId: string;
  readonly input: unknown;
  readonly output: unknown;
}

/** Throws if the output, or an MCP server's result, is an error. */
export function partsShown(shown: unknown, output: unknown): readonly Part[] {
  const { type, value, reason } = (shown ?? {}) as { readonly type?: unknown; readonly value?: unknown; readonly reason?: unknown };
  if (type === 'execution-denied') throw new Error(typeof reason === 'string' ? reason : 'It was denied.');
  const parts = partsOf(type, value);
  const texts = parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  if (String(type).startsWith('error-') || (output as { readonly isError?: unknown } | null | undefined)?.isError === true)
    throw new Error(texts || 'It says no more.');
  return parts;
}

function partsOf(type: unknown, value: unknown): readonly Part[] {
  if ((type === 'text' || type === 'error-text') && typeof value === 'string') return [{ type: 'text', text: value }];
  if ((type === 'json' || type === 'error-json') && value !== undefined) return [{ type: 'text', text: JSON.stringify(value) }];
  if (type === 'content' && Array.isArray(value)) return value.map(partOf);
  throw unfit(`an output of the type "${String(type)}"`);
}

function partOf(item: unknown): Part {
  const { type, text, data, url, mediaType } = item as Readonly<Record<string, unknown>>;
  if (type === 'text' && typeof text === 'string') return { type, text };
  const image = String(type).startsWith('image-');
  const media = typeof mediaType === 'string' ? mediaType : image ? 'image/*' : 'application/octet-stream';
  if (typeof data === 'string') return { type: 'file', mediaType: media, data };
  if (typeof url === 'string') return { type: 'file', mediaType: media, data: { url } };
  throw unfit(`content of the type "${String(type)}"`);
}

function unfit(what: string): HoldfastError {
  return new HoldfastError('tool-result-invalid', `its toModelOutput gave ${what}, which is not read here`);
}
