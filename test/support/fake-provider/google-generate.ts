import type { Json } from '../../../contract/messages/messages';
import type { Dialect, Frame, Said, SaidBlock } from './step';

export const googleGenerate: Dialect = {
  name: 'google-generate',
  speaks: (path) => /:(streamGenerateContent|generateContent)/.test(path),
  streams: (path) => path.includes(':streamGenerateContent'),
  modelOf: (path) => /models\/([^:]+):/.exec(path)?.[1] ?? '',
  whole: (said) => chunkOf(said, said.blocks.flatMap(partsOf), reasons[said.finish]),
  frames,
  errorBody: ({ status, message, type = statusNames[status] ?? 'UNKNOWN' }) => ({ error: { code: status, message, status: type } }),
  errorFrame: ({ status = 503, message, type = statusNames[status] ?? 'UNKNOWN' }) =>
    data({ error: { code: status, message, status: type } }),
};

const reasons = {
  stop: 'STOP',
  length: 'MAX_TOKENS',
  'content-filter': 'SAFETY',
  'tool-calls': 'STOP',
  error: 'MALFORMED_FUNCTION_CALL',
};
const statusNames: Record<number, string> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
};

function* frames(said: Said): Generator<Frame> {
  for (const block of said.blocks) {
    for (const part of block.type === 'text' || block.type === 'reasoning' ? piecesOf(block) : partsOf(block)) {
      yield { text: data(chunkOf(said, [part])), piece: true };
    }
  }
  yield { text: data(chunkOf(said, [], reasons[said.finish])), piece: false };
}

/** Google neither numbers chunks nor marks the end; the last chunk has a reason. */
function chunkOf({ id, model, usage }: Said, parts: readonly Json[], finishReason?: string): Json {
  return {
    candidates: [
      {
        content: { role: 'model', ...(parts.length === 0 ? {} : { parts }) },
        ...(finishReason === undefined ? {} : { finishReason }),
        index: 0,
      },
    ],
    usageMetadata: {
      promptTokenCount: usage.input,
      candidatesTokenCount: usage.output - usage.reasoning,
      thoughtsTokenCount: usage.reasoning,
      cachedContentTokenCount: usage.cached,
      totalTokenCount: usage.input + usage.output,
    },
    modelVersion: model,
    responseId: id,
  };
}

function piecesOf(block: SaidBlock & { type: 'text' | 'reasoning' }): readonly Json[] {
  const signature = block.type === 'reasoning' ? block.signature : undefined;
  return block.pieces.map((text, index) => ({
    text,
    ...(block.type === 'reasoning' ? { thought: true } : {}),
    ...(signature !== undefined && index === block.pieces.length - 1 ? { thoughtSignature: signature } : {}),
  }));
}

function partsOf(block: SaidBlock): readonly Json[] {
  const signature = 'signature' in block && block.signature !== undefined ? { thoughtSignature: block.signature } : {};
  switch (block.type) {
    case 'text':
    case 'reasoning':
      return block.pieces.length === 0 ? [] : piecesOf({ ...block, pieces: [block.pieces.join('')] });
    case 'tool-call':
      return [{ functionCall: { id: block.callId, name: block.name, args: JSON.parse(block.pieces.join('')) as Json }, ...signature }];
    case 'file':
      return [{ inlineData: { mimeType: block.mediaType, data: block.data }, ...signature }];
  }
}

function data(value: Json): string {
  return `data: ${JSON.stringify(value)}\r\n\r\n`;
}
