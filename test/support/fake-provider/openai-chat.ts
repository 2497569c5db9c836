import type { Json } from '../../../contract/messages/messages';
import type { Dialect, Frame, Said } from './step';

export const openaiChat: Dialect = {
  name: 'openai-chat',
  speaks: (path) => path.endsWith('/chat/completions'),
  streams: (_, body) => body['stream'] === true,
  modelOf: (_, body) => String(body['model']),
  whole,
  frames,
  errorBody: ({ message, type = 'invalid_request_error', code = null }) => ({ error: { message, type, param: null, code } }),
  errorFrame: ({ message, type = 'server_error', code = null }) => data({ error: { message, type, param: null, code } }),
};

const reasons = { stop: 'stop', length: 'length', 'content-filter': 'content_filter', 'tool-calls': 'tool_calls', error: 'error' };

function whole(said: Said): Json {
  const joined = (type: 'text' | 'reasoning'): string => said.blocks.flatMap((block) => (block.type === type ? block.pieces : [])).join('');
  const calls = said.blocks.flatMap((block) =>
    block.type === 'tool-call'
      ? [{ id: block.callId, type: 'function', function: { name: block.name, arguments: block.pieces.join('') } }]
      : [],
  );
  const reasoning = joined('reasoning');
  return {
    ...head(said, 'chat.completion'),
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: joined('text') || null,
          ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
          ...(calls.length === 0 ? {} : { tool_calls: calls }),
        },
        finish_reason: reasons[said.finish],
      },
    ],
    usage: usageOf(said),
  };
}

function* frames(said: Said, body: Readonly<Record<string, unknown>>): Generator<Frame> {
  const before = JSON.stringify({ ...head(said, 'chat.completion.chunk'), choices: [] }).slice(0, -2);
  const chunk = (delta: object, finish: string | null = null): string =>
    `data: ${before}{"index":0,"delta":${JSON.stringify(delta)},"finish_reason":${JSON.stringify(finish)}}]}\n\n`;
  yield { text: chunk({ role: 'assistant', content: '' }), piece: false };
  let index = -1;
  for (const block of said.blocks) {
    if (block.type === 'text') for (const content of block.pieces) yield { text: chunk({ content }), piece: true };
    if (block.type === 'reasoning') for (const piece of block.pieces) yield { text: chunk({ reasoning_content: piece }), piece: true };
    if (block.type !== 'tool-call') continue;
    index++;
    const begin = { index, id: block.callId, type: 'function', function: { name: block.name, arguments: '' } };
    yield { text: chunk({ tool_calls: [begin] }), piece: false };
    for (const piece of block.pieces) yield { text: chunk({ tool_calls: [{ index, function: { arguments: piece } }] }), piece: true };
  }
  yield { text: chunk({}, reasons[said.finish]), piece: false };
  const { include_usage: counted } = (body['stream_options'] ?? {}) as { include_usage?: boolean };
  if (counted === true) yield { text: data({ ...head(said, 'chat.completion.chunk'), choices: [], usage: usageOf(said) }), piece: false };
  yield { text: 'data: [DONE]\n\n', piece: false };
}

function head({ id, model }: Said, object: string) {
  return { id: `chatcmpl-${id}`, object, created: 1_760_000_000, model };
}

function usageOf({ usage }: Said) {
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cached },
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
  };
}

function data(value: Json): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}
