import { HoldfastError } from '../../contract/errors';
import type { Part, StoredMessage } from '../../contract/messages/messages';
import { shown } from '../../contract/shown';
import type { AguiPart, AguiSource } from './events';
import type { GivenPart } from './input';

const mediaTypes = { image: 'image/*', audio: 'audio/*', video: 'video/*', document: 'application/octet-stream' } as const;

export function partsOf(content: string | readonly GivenPart[]): string | readonly Part[] {
  return typeof content === 'string' ? content : content.map(partOf);
}

function partOf(part: GivenPart): Part {
  if (part.type === 'text') return { type: 'text', text: part.text };
  if (part.type === 'binary') {
    const data = part.data ?? (part.url === undefined ? undefined : { url: part.url });
    if (data === undefined) throw new HoldfastError('request-invalid', 'A binary part must have `data` or `url`.');
    return { type: 'file', mediaType: part.mimeType, data };
  }
  const { source } = part;
  if (source.type === 'data') return { type: 'file', mediaType: source.mimeType, data: source.value };
  if (source.type === 'url') return { type: 'file', mediaType: source.mimeType ?? mediaTypes[part.type], data: { url: source.value } };
  throw new HoldfastError('request-invalid', `The source of a part must be data or a url. This one is ${shown(source)}.`);
}

export function contentOf({ parts }: Pick<StoredMessage, 'parts'>): string | readonly AguiPart[] {
  if (parts.every((part) => part.type === 'text')) return parts.map((part) => part.text).join('');
  return parts.flatMap((part): readonly AguiPart[] => {
    if (part.type === 'text') return [{ type: 'text', text: part.text }];
    if (part.type !== 'file') return [];
    const [kind = ''] = part.mediaType.split('/');
    const type = kind === 'image' || kind === 'audio' || kind === 'video' ? kind : 'document';
    return [{ type, source: sourceOf(part.mediaType, part.data) }];
  });
}

function sourceOf(mimeType: string, data: string | { readonly url: string }): AguiSource {
  return typeof data === 'string' ? { type: 'data', value: data, mimeType } : { type: 'url', value: data.url, mimeType };
}
