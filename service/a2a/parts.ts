import type { Part } from '../../contract/messages/messages';
import { onlyText } from '../projection/content';
import type { GivenMessage } from './request';
import type { A2aPart } from './wire';

/** Data becomes its JSON text. */
export function contentOf({ parts }: Pick<GivenMessage, 'parts'>): string | readonly Part[] {
  const read = parts.map((part): Part => {
    if (part.text !== undefined) return { type: 'text', text: part.text };
    const mediaType = part.mediaType ?? 'application/octet-stream';
    if (part.raw !== undefined) return { type: 'file', mediaType, data: part.raw };
    if (part.url !== undefined) return { type: 'file', mediaType, data: { url: part.url } };
    return { type: 'text', text: JSON.stringify(part.data) };
  });
  return onlyText(read) ?? read;
}

export function partsOf(parts: readonly Part[]): readonly A2aPart[] {
  return parts.flatMap((part): readonly A2aPart[] => {
    if (part.type === 'text') return [{ text: part.text }];
    if (part.type !== 'file') return [];
    const { mediaType, data } = part;
    return [typeof data === 'string' ? { raw: data, mediaType } : { url: data.url, mediaType }];
  });
}
