import type { Json } from '../../../contract/messages/messages';
import type { Dialect, Frame, Said, SaidBlock } from './step';

export const openaiResponses: Dialect = {
  name: 'openai-responses',
  speaks: (path) => path.endsWith('/responses'),
  streams: (_, body) => body['stream'] === true,
  modelOf: (_, body) => String(body['model']),
  whole: (said) => responseOf(said, said.blocks.map(itemOf)),
  frames,
  errorBody: ({ message, type = 'invalid_request_error', code = null }) => ({ error: { message, type, param: null, code } }),
  errorFrame: ({ message, type = 'server_error', code = type }) => event('error', { sequence_number: 99, code, message, param: null }).text,
};

function* frames(said: Said): Generator<Frame> {
  let sequence = 0;
  const frame = (type: string, fields: object, piece = false): Frame => event(type, { sequence_number: sequence++, ...fields }, piece);
  const begun = { ...responseOf(said, []), status: 'in_progress', usage: null };
  yield frame('response.created', { response: begun });
  yield frame('response.in_progress', { response: begun });
  for (const [output_index, block] of said.blocks.entries()) {
    const item = itemOf(block);
    const item_id = item.id;
    yield frame('response.output_item.added', { output_index, item: openItemOf(block) });
    if (block.type === 'text') {
      const place = { item_id, output_index, content_index: 0 };
      yield frame('response.content_part.added', { ...place, part: { type: 'output_text', text: '', annotations: [] } });
      for (const delta of block.pieces) yield frame('response.output_text.delta', { ...place, delta, logprobs: [] }, true);
      yield frame('response.output_text.done', { ...place, text: block.pieces.join(''), logprobs: [] });
      yield frame('response.content_part.done', { ...place, part: { type: 'output_text', text: block.pieces.join(''), annotations: [] } });
    } else if (block.type === 'reasoning') {
      const place = { item_id, output_index, summary_index: 0 };
      yield frame('response.reasoning_summary_part.added', { ...place, part: { type: 'summary_text', text: '' } });
      for (const delta of block.pieces) yield frame('response.reasoning_summary_text.delta', { ...place, delta }, true);
      yield frame('response.reasoning_summary_text.done', { ...place, text: block.pieces.join('') });
      yield frame('response.reasoning_summary_part.done', { ...place, part: { type: 'summary_text', text: block.pieces.join('') } });
    } else if (block.type === 'tool-call') {
      for (const delta of block.pieces) yield frame('response.function_call_arguments.delta', { item_id, output_index, delta }, true);
      yield frame('response.function_call_arguments.done', { item_id, output_index, arguments: block.pieces.join('') });
    }
    yield frame('response.output_item.done', { output_index, item });
  }
  const whole = responseOf(said, said.blocks.map(itemOf));
  yield frame(whole.status === 'completed' ? 'response.completed' : 'response.incomplete', { response: whole });
}

function event(type: string, fields: object, piece = false): Frame {
  return { text: `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`, piece };
}

function responseOf({ id, model, finish, usage }: Said, output: Json) {
  const reason = finish === 'length' ? 'max_output_tokens' : finish === 'content-filter' ? 'content_filter' : undefined;
  return {
    id: `resp_${id}`,
    object: 'response',
    created_at: 1_760_000_000,
    status: reason === undefined ? 'completed' : 'incomplete',
    error: null,
    incomplete_details: reason === undefined ? null : { reason },
    model,
    output,
    usage: {
      input_tokens: usage.input,
      input_tokens_details: { cached_tokens: usage.cached },
      output_tokens: usage.output,
      output_tokens_details: { reasoning_tokens: usage.reasoning },
      total_tokens: usage.input + usage.output,
    },
  };
}

function itemOf(block: SaidBlock) {
  switch (block.type) {
    case 'text':
      return {
        id: `msg_${block.id}`,
        type: 'message',
        status: 'completed',
        role: 'assistant',
        content: [{ type: 'output_text', text: block.pieces.join(''), annotations: [] }],
      };
    case 'reasoning':
      return {
        id: `rs_${block.id}`,
        type: 'reasoning',
        summary: [{ type: 'summary_text', text: block.pieces.join('') }],
        encrypted_content: block.signature ?? null,
      };
    case 'tool-call':
      return {
        id: `fc_${block.id}`,
        type: 'function_call',
        status: 'completed',
        call_id: block.callId,
        name: block.name,
        arguments: block.pieces.join(''),
      };
    case 'file':
      return { id: `ig_${block.id}`, type: 'image_generation_call', status: 'completed', result: block.data };
  }
}

function openItemOf(block: SaidBlock): object {
  const empty = { text: { content: [] }, reasoning: { summary: [], encrypted_content: null }, 'tool-call': { arguments: '' }, file: {} };
  const { id, type, ...rest } = itemOf({ ...block, ...('pieces' in block ? { pieces: [] } : {}) });
  return { id, type, ...rest, status: 'in_progress', ...empty[block.type] };
}
