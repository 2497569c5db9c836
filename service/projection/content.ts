import { createHash } from 'node:crypto';
import type { Json, Part, StoredMessage } from '../../contract/messages/messages';

export function resultOf({ parts }: Pick<StoredMessage, 'parts'>): { readonly content: string; readonly isError: boolean } {
  const part = parts.find(({ type }) => type === 'tool-result');
  if (part?.type !== 'tool-result') return { content: '', isError: false };
  return { content: textOfJson(part.output), isError: part.isError === true };
}

/** Undefined: the parts are more than one text. */
export function onlyText([part, ...more]: readonly Part[]): string | undefined {
  return part?.type === 'text' && more.length === 0 ? part.text : undefined;
}

export function textOfJson(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

export function hashOf(text: string, digits: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, digits);
}

export function urlOf({ data, mediaType }: Extract<Part, { type: 'file' }>): string {
  return typeof data === 'string' ? `data:${mediaType};base64,${data}` : data.url;
}
