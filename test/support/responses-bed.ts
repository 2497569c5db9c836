import { setMaxListeners } from 'node:events';
import OpenAI from 'openai';
import type { Hono } from 'hono';
import type { TestConversation } from '../../testing/index';
import type { AgentFacts } from './agui-bed';
import { appOn } from './service-app';

export function responsesApp(chat: TestConversation, facts: AgentFacts = {}): Hono {
  const agents = [{ name: 'agent', description: 'Under test.', takesJob: false, ...facts }];
  const { signal: closing } = new AbortController();
  // In memory, every read leaves a listener.
  setMaxListeners(0, closing);
  return appOn({ conversation: () => chat, run: () => chat.run }, { agents, closing });
}

export function openAiAt(app: Hono): OpenAI {
  const fetch = (url: unknown, init?: unknown) => Promise.resolve(app.request(String(url), init as RequestInit));
  return new OpenAI({ baseURL: 'http://127.0.0.1/v1', apiKey: 'none', maxRetries: 0, fetch });
}

export type OpenAiResponse = OpenAI.Responses.Response;
export type OpenAiEvent = OpenAI.Responses.ResponseStreamEvent;

export function shortItem(item: OpenAI.Responses.ResponseOutputItem): string {
  switch (item.type) {
    case 'message':
      return `message ${item.content.map((part) => (part.type === 'output_text' ? part.text : '')).join('')}`;
    case 'mcp_call':
      return `mcp_call ${item.name} ${item.arguments} ${item.error ?? item.output}`;
    case 'mcp_approval_request':
      return `asks ${item.name} ${item.arguments}`;
    case 'function_call':
      return `function_call ${item.name} ${item.arguments}`;
    case 'reasoning':
      return `reasoning ${item.summary.map(({ text }) => text).join('')}`;
    default:
      return item.type;
  }
}

export function askedBy({ output }: OpenAiResponse): string {
  return output.flatMap((item) => (item.type === 'mcp_approval_request' ? [item.id] : []))[0] ?? '';
}
