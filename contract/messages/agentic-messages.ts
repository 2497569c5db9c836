import type { Json, JsonObject, Message, Part, ProviderPart } from './messages';
import { isPart } from './messages';

/** A block of an agentic message. Provider tools have the form of parts. */
export type AgenticBlock =
  | Extract<Part, { readonly type: 'text' | 'reasoning' | 'file' }>
  | {
      readonly type: 'function-tool-call';
      readonly callId: string;
      readonly name: string;
      readonly input: Json;
      readonly extra?: JsonObject;
    }
  | {
      readonly type: 'function-tool-result';
      readonly callId: string;
      readonly name: string;
      readonly output: Json;
      readonly isError?: boolean;
      readonly multipart?: true;
    }
  | {
      readonly type: 'tool-search-result';
      readonly callId: string;
      readonly name: string;
      readonly tools: Json;
      readonly isError?: boolean;
    }
  | ProviderPart;

/** A message without a tool role: a tool result is a user message. */
export type AgenticMessage = {
  readonly id?: string;
  readonly role: 'system' | 'user' | 'assistant';
  readonly blocks: readonly AgenticBlock[];
  readonly extra?: JsonObject;
};

export function agenticMessage({ role, parts, ...rest }: Message): AgenticMessage {
  return { ...rest, role: role === 'tool' ? 'user' : role, blocks: parts.map(blockOf) };
}

/** The first result keeps the id and the rest. */
export function messagesOfAgentic({ role, blocks, ...rest }: AgenticMessage): readonly Message[] {
  const parts = blocks.map(partOf);
  if (role !== 'user') return [{ ...rest, role, parts }];
  const said = parts.filter(({ type }) => type !== 'tool-result');
  const messages: Message[] = parts.filter(({ type }) => type === 'tool-result').map((result) => ({ role: 'tool', parts: [result] }));
  if (said.length > 0 || messages.length === 0) messages.push({ role, parts: said });
  return messages.map((message, position) => (position === 0 ? { ...rest, ...message } : message));
}

const roles: readonly unknown[] = ['system', 'user', 'assistant'];

export function isAgenticMessage(value: unknown): value is AgenticMessage {
  const { role, blocks } = (value ?? {}) as { readonly role?: unknown; readonly blocks?: unknown };
  return roles.includes(role) && Array.isArray(blocks) && blocks.every(isBlock);
}

function isBlock(value: unknown): value is AgenticBlock {
  if (typeof value !== 'object' || value === null) return false;
  const { type } = value as { readonly type?: unknown };
  return type !== 'tool-call' && type !== 'tool-result' && isPart(partOf(value as AgenticBlock));
}

function blockOf(part: Part): AgenticBlock {
  switch (part.type) {
    case 'tool-call': {
      const { id, ...call } = part;
      return { ...call, type: 'function-tool-call', callId: id };
    }
    case 'tool-result': {
      if (part.search !== true) return { ...part, type: 'function-tool-result' };
      const { output, search: _, ...result } = part;
      return { ...result, type: 'tool-search-result', tools: output };
    }
    default:
      return part;
  }
}

function partOf(block: AgenticBlock): Part {
  switch (block.type) {
    case 'function-tool-call': {
      const { callId, ...call } = block;
      return { ...call, type: 'tool-call', id: callId };
    }
    case 'function-tool-result':
      return { ...block, type: 'tool-result' };
    case 'tool-search-result': {
      const { tools, ...result } = block;
      return { ...result, type: 'tool-result', output: tools, search: true };
    }
    default:
      return block;
  }
}
