import { z } from 'zod';
import { HoldfastError } from '../../contract/errors';
import type { Part } from '../../contract/messages/messages';
import { urlOf } from '../projection/content';

const text = z.looseObject({ type: z.enum(['input_text', 'output_text', 'text']), text: z.string() });
const image = z.looseObject({ type: z.literal('input_image'), image_url: z.string().nullish() });
const file = z.looseObject({
  type: z.literal('input_file'),
  file_data: z.string().nullish(),
  file_url: z.string().nullish(),
});

export const ResponseContent = z.union([z.string(), z.array(z.discriminatedUnion('type', [text, image, file]))], {
  error: 'must be a text, or a list of input_text, input_image and input_file',
});
type ResponseContent = z.infer<typeof ResponseContent>;

const dataUrl = /^data:([^;,]+)[^,]*;base64,/;

export function partsIn(content: ResponseContent): readonly Part[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return content.map((part): Part => {
    if (part.type === 'input_image') return fileAt(part.image_url, 'image/*');
    if (part.type === 'input_file') return fileAt(part.file_data ?? part.file_url, 'application/octet-stream');
    return { type: 'text', text: part.text };
  });
}

function fileAt(given: string | null | undefined, otherwise: string): Part {
  if (given === null || given === undefined)
    throw new HoldfastError(
      'request-unsupported',
      'An image or a file comes as a URL or as data. The service keeps no files for a `file_id`.',
    );
  const [head, mediaType] = dataUrl.exec(given) ?? [];
  if (head !== undefined && mediaType !== undefined) return { type: 'file', mediaType, data: given.slice(head.length) };
  return { type: 'file', mediaType: otherwise, data: /^https?:/.test(given) ? { url: given } : given };
}

export function contentOfParts(parts: readonly Part[]): readonly object[] {
  return parts.flatMap((part): readonly object[] => {
    if (part.type === 'text') return [{ type: 'input_text', text: part.text }];
    if (part.type !== 'file') return [];
    const url = urlOf(part);
    if (part.mediaType.startsWith('image/')) return [{ type: 'input_image', image_url: url, detail: 'auto' }];
    return [typeof part.data === 'string' ? { type: 'input_file', file_data: url } : { type: 'input_file', file_url: url }];
  });
}
