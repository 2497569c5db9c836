import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client';
import type { Part } from '../../contract/messages/messages';

export function partsOfResult({ content = [], structuredContent, isError }: CallToolResult): readonly Part[] {
  const parts = content.map(partOf);
  if (isError === true) throw new Error(textIn(parts) || 'It says no more.');
  if (parts.length === 0 && structuredContent !== undefined) return [{ type: 'text', text: JSON.stringify(structuredContent) }];
  return parts.length === 0 ? [{ type: 'text', text: '' }] : parts;
}

function textIn(parts: readonly Part[]): string {
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
}

function partOf(block: ContentBlock): Part {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text };
    case 'image':
    case 'audio':
      return { type: 'file', mediaType: block.mimeType, data: block.data };
    case 'resource': {
      const { resource } = block;
      if ('text' in resource) return { type: 'text', text: resource.text };
      return { type: 'file', mediaType: resource.mimeType ?? 'application/octet-stream', data: resource.blob };
    }
    case 'resource_link': {
      const { uri, name, mimeType } = block;
      if (mimeType !== undefined && /^https?:/.test(uri)) return { type: 'file', mediaType: mimeType, data: { url: uri } };
      return { type: 'text', text: `${name}: ${uri}` };
    }
  }
}
