import type { Json } from '../../../contract/messages/messages';

export type FakeBlock =
  | { readonly type: 'text'; readonly text: string | readonly string[] }
  /** Anthropic's signature, OpenAI's encrypted content, or Google's thought signature. */
  | { readonly type: 'reasoning'; readonly text: string | readonly string[]; readonly signature?: string }
  /** A text as input means invalid JSON, which Google cannot send. */
  | { readonly type: 'tool-call'; readonly name: string; readonly input: Json; readonly id?: string; readonly signature?: string }
  /** Google's inline data, or OpenAI's image tool. Other providers have no files. */
  | { readonly type: 'file'; readonly mediaType: string; readonly data: string; readonly signature?: string };

export interface FakeUsage {
  readonly input: number;
  readonly output: number;
  /** Part of `input`. */
  readonly cached?: number;
  /** Part of `output`. */
  readonly reasoning?: number;
}

export interface FakeError {
  readonly message: string;
  readonly status?: number;
  readonly type?: string;
  readonly code?: string;
}

export interface FakeAnswer {
  /** Default: the request's number, so that part ids are unique. */
  readonly id?: string;
  readonly blocks: readonly FakeBlock[];
  /** Default: `tool-calls` or `stop`, by the blocks. `error` is Google's malformed call. */
  readonly finish?: 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error';
  readonly usage?: FakeUsage;
  /** Milliseconds between pieces, on average. */
  readonly delayMs?: number;
  /** Awaited before piece `index`; before a whole answer with index 0. */
  readonly before?: (index: number) => void | Promise<void>;
  /** Acts after `after` pieces. `end` closes the body too early. */
  readonly cut?: { readonly after: number; readonly how: 'disconnect' | 'stall' | 'garble' | 'end' | FakeError };
}

export interface FakeRefusal {
  readonly error: FakeError & { readonly status: number };
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface FakeBody {
  readonly body: string;
  readonly contentType?: string;
}

export type FakeStep = FakeAnswer | FakeRefusal | FakeBody;

export interface Said {
  readonly id: string;
  readonly model: string;
  readonly blocks: readonly SaidBlock[];
  readonly finish: NonNullable<FakeAnswer['finish']>;
  readonly usage: Required<FakeUsage>;
}

export type SaidBlock =
  | { readonly type: 'text'; readonly id: string; readonly pieces: readonly string[] }
  | { readonly type: 'reasoning'; readonly id: string; readonly pieces: readonly string[]; readonly signature?: string }
  | {
      readonly type: 'tool-call';
      readonly id: string;
      readonly callId: string;
      readonly name: string;
      readonly pieces: readonly string[];
      readonly signature?: string;
    }
  | { readonly type: 'file'; readonly id: string; readonly mediaType: string; readonly data: string; readonly signature?: string };

export interface Frame {
  readonly text: string;
  readonly piece: boolean;
}

export interface Dialect {
  readonly name: 'openai-responses' | 'openai-chat' | 'anthropic-messages' | 'google-generate';
  speaks(path: string): boolean;
  streams(path: string, body: Readonly<Record<string, unknown>>): boolean;
  modelOf(path: string, body: Readonly<Record<string, unknown>>): string;
  whole(said: Said): Json;
  frames(said: Said, body: Readonly<Record<string, unknown>>): Iterable<Frame>;
  errorBody(error: FakeError & { readonly status: number }): Json;
  errorFrame(error: FakeError): string;
}

export function saidOf(answer: FakeAnswer, number: number, model: string): Said {
  const { usage } = answer;
  const id = answer.id ?? String(number);
  const called = answer.blocks.some(({ type }) => type === 'tool-call');
  return {
    id: `answer_${id}`,
    model,
    blocks: answer.blocks.map((block, index) => saidBlock(block, `${id}_${index}`)),
    finish: answer.finish ?? (called ? 'tool-calls' : 'stop'),
    usage: { input: usage?.input ?? 10, output: usage?.output ?? 5, cached: usage?.cached ?? 0, reasoning: usage?.reasoning ?? 0 },
  };
}

function saidBlock(block: FakeBlock, id: string): SaidBlock {
  const signature = 'signature' in block && block.signature !== undefined ? { signature: block.signature } : {};
  switch (block.type) {
    case 'text':
      return { type: 'text', id, pieces: piecesOf(block.text) };
    case 'reasoning':
      return { type: 'reasoning', id, pieces: piecesOf(block.text), ...signature };
    case 'file':
      return { ...block, id };
    case 'tool-call': {
      const text = typeof block.input === 'string' ? block.input : JSON.stringify(block.input);
      const half = Math.ceil(text.length / 2);
      const pieces = [text.slice(0, half), text.slice(half)].filter((piece) => piece !== '');
      return { type: 'tool-call', id, callId: block.id ?? `call_${id}`, name: block.name, pieces, ...signature };
    }
  }
}

function piecesOf(text: string | readonly string[]): readonly string[] {
  return typeof text === 'string' ? (text === '' ? [] : [text]) : text;
}
