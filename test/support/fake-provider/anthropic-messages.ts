import type { Json } from '../../../contract/messages/messages';
import type { Dialect, Frame, Said, SaidBlock } from './step';

export const anthropicMessages: Dialect = {
  name: 'anthropic-messages',
  speaks: (path) => path.endsWith('/messages'),
  streams: (_, body) => body['stream'] === true,
  modelOf: (_, body) => String(body['model']),
  whole: (said) => ({
    ...messageOf(said),
    content: said.blocks.map(blockOf),
    stop_reason: reasons[said.finish],
    usage: usageOf(said),
  }),
  frames,
  errorBody: ({ message, type = 'invalid_request_error' }) => ({ type: 'error', error: { type, message }, request_id: 'req_1' }),
  errorFrame: ({ message, type = 'api_error' }) => event('error', { error: { type, message } }).text,
};

const reasons = { stop: 'end_turn', length: 'max_tokens', 'content-filter': 'refusal', 'tool-calls': 'tool_use', error: 'end_turn' };

function* frames(said: Said): Generator<Frame> {
  yield event('message_start', {
    message: { ...messageOf(said), content: [], stop_reason: null, usage: { ...usageOf(said), output_tokens: 1 } },
  });
  yield event('ping', {});
  for (const [index, block] of said.blocks.entries()) {
    yield event('content_block_start', { index, content_block: openBlockOf(block) });
    const delta = (fields: object, piece = true): Frame => event('content_block_delta', { index, delta: fields }, piece);
    if (block.type === 'text') for (const text of block.pieces) yield delta({ type: 'text_delta', text });
    if (block.type === 'tool-call') for (const piece of block.pieces) yield delta({ type: 'input_json_delta', partial_json: piece });
    if (block.type === 'reasoning') {
      for (const thinking of block.pieces) yield delta({ type: 'thinking_delta', thinking });
      if (block.signature !== undefined) yield delta({ type: 'signature_delta', signature: block.signature }, false);
    }
    yield event('content_block_stop', { index });
  }
  const { output_tokens, output_tokens_details } = usageOf(said);
  yield event('message_delta', {
    delta: { stop_reason: reasons[said.finish], stop_sequence: null },
    usage: { output_tokens, output_tokens_details },
  });
  yield event('message_stop', {});
}

function event(type: string, fields: object, piece = false): Frame {
  return { text: `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`, piece };
}

function messageOf({ id, model }: Said) {
  return { id: `msg_${id}`, type: 'message', role: 'assistant', model, stop_sequence: null };
}

function usageOf({ usage }: Said) {
  return {
    input_tokens: usage.input - usage.cached,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: usage.cached,
    output_tokens: usage.output,
    output_tokens_details: { thinking_tokens: usage.reasoning },
  };
}

function blockOf(block: SaidBlock): Json {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.pieces.join('') };
    case 'reasoning':
      return { type: 'thinking', thinking: block.pieces.join(''), signature: block.signature ?? '' };
    case 'tool-call':
      return { type: 'tool_use', id: block.callId, name: block.name, input: argumentsOf(block.pieces.join('')) };
    case 'file':
      throw new Error('This provider answers with no files.');
  }
}

function openBlockOf(block: SaidBlock): Json {
  const open = blockOf({
    ...block,
    ...('pieces' in block ? { pieces: [] } : {}),
    ...('signature' in block ? { signature: '' } : {}),
  });
  return block.type === 'tool-call' ? { ...(open as object), input: {} } : open;
}

/** Only a stream can have arguments that are not JSON. */
function argumentsOf(text: string): Json {
  try {
    return JSON.parse(text || '{}') as Json;
  } catch {
    return text;
  }
}
