import { defined } from '../defined';
import type { Json, JsonObject, Message, Part, ProviderPart } from './messages';
import { isPart } from './messages';

export type ChatPart = Extract<Part, { readonly type: 'text' | 'reasoning' | 'file' }> | ProviderPart;

export type ChatContent = string | readonly ChatPart[];

export type ChatToolCall = { readonly id: string; readonly name: string; readonly input: Json; readonly extra?: JsonObject };

/** A message of chat completions: content, tool calls, and a role for tool results. */
export type ChatMessage = { readonly id?: string; readonly extra?: JsonObject } & (
  | { readonly role: 'system' | 'user'; readonly content: ChatContent }
  | { readonly role: 'assistant'; readonly content: ChatContent; readonly toolCalls?: readonly ChatToolCall[] }
  | {
      readonly role: 'tool';
      readonly toolCallId: string;
      readonly toolName: string;
      readonly content: Json;
      readonly isError?: boolean;
      readonly multipart?: true;
      readonly search?: true;
    }
);

export function chatMessage({ role, parts, ...rest }: Message): ChatMessage {
  const [first] = parts;
  if (role === 'tool' && parts.length === 1 && first?.type === 'tool-result') {
    const { type: _, callId, name, output, ...how } = first;
    return { ...rest, role, toolCallId: callId, toolName: name, content: output, ...how };
  }
  if (role !== 'assistant') return { ...rest, role: role === 'tool' ? 'user' : role, content: contentOf(parts) };
  const calls = parts.filter((part) => part.type === 'tool-call').map(({ type: _, ...call }) => call);
  return {
    ...rest,
    role,
    content: contentOf(parts.filter(({ type }) => type !== 'tool-call')),
    ...(calls.length === 0 ? {} : { toolCalls: calls }),
  };
}

/** Calls follow the text, because this shape has no other order. */
export function messageOfChat(message: ChatMessage): Message {
  switch (message.role) {
    case 'tool': {
      const { role, toolCallId: callId, toolName: name, content: output, isError, multipart, search, ...rest } = message;
      const how = defined({ isError, multipart, search });
      return { ...rest, role, parts: [{ type: 'tool-result', callId, name, output, ...how }] };
    }
    case 'assistant': {
      const { content, toolCalls = [], ...rest } = message;
      return { ...rest, parts: [...partsOf(content), ...toolCalls.map((call): Part => ({ ...call, type: 'tool-call' }))] };
    }
    default: {
      const { content, ...rest } = message;
      return { ...rest, parts: partsOf(content) };
    }
  }
}

export function isChatMessage(value: unknown): value is ChatMessage {
  if (typeof value !== 'object' || value === null) return false;
  const { role, content, toolCalls, toolCallId, toolName } = value as Readonly<Record<string, unknown>>;
  switch (role) {
    case 'tool':
      return typeof toolCallId === 'string' && typeof toolName === 'string' && content !== undefined;
    case 'assistant':
      return isContent(content) && (toolCalls === undefined || (Array.isArray(toolCalls) && toolCalls.every(isCall)));
    case 'system':
    case 'user':
      return isContent(content);
    default:
      return false;
  }
}

function isContent(content: unknown): boolean {
  return typeof content === 'string' || (Array.isArray(content) && content.every(isPart));
}

function isCall(call: unknown): boolean {
  return typeof call === 'object' && call !== null && isPart({ ...call, type: 'tool-call' });
}

function contentOf(parts: readonly Part[]): ChatContent {
  const [first] = parts;
  if (first === undefined) return '';
  if (parts.length === 1 && first.type === 'text' && first.text !== '' && first.extra === undefined) return first.text;
  return parts as readonly ChatPart[];
}

function partsOf(content: ChatContent): readonly Part[] {
  if (typeof content !== 'string') return content;
  return content === '' ? [] : [{ type: 'text', text: content }];
}
