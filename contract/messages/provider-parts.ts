import type { Json, JsonObject } from './messages';

/** Work of a provider's own tools and MCP servers, which Holdfast only stores and shows. */
export type ProviderPart = { readonly extra?: JsonObject } & (
  | { readonly type: 'server-tool-call'; readonly id: string; readonly name: string; readonly input: Json }
  | {
      readonly type: 'server-tool-result';
      readonly callId: string;
      readonly name: string;
      readonly output: Json;
      readonly isError?: boolean;
    }
  | {
      readonly type: 'mcp-tool-call';
      readonly server: string;
      readonly id: string;
      readonly name: string;
      readonly input: Json;
      /** The request that approved this call. */
      readonly approvalRequestId?: string;
    }
  | {
      readonly type: 'mcp-tool-result';
      readonly server: string;
      readonly callId: string;
      readonly name: string;
      readonly output: Json;
      readonly isError?: boolean;
    }
  | { readonly type: 'mcp-tool-list'; readonly server: string; readonly tools: Json }
  | { readonly type: 'mcp-approval-request'; readonly server: string; readonly id: string; readonly name: string; readonly input: Json }
  | { readonly type: 'mcp-approval-response'; readonly requestId: string; readonly approved: boolean; readonly reason?: string }
);

/** Required texts, and required values. */
const fields: Readonly<Record<ProviderPart['type'], readonly [texts: readonly string[], values: readonly string[]]>> = {
  'server-tool-call': [['id', 'name'], ['input']],
  'server-tool-result': [['callId', 'name'], ['output']],
  'mcp-tool-call': [['server', 'id', 'name'], ['input']],
  'mcp-tool-result': [['server', 'callId', 'name'], ['output']],
  'mcp-tool-list': [['server'], ['tools']],
  'mcp-approval-request': [['server', 'id', 'name'], ['input']],
  'mcp-approval-response': [['requestId'], ['approved']],
};

export function isProviderPart(value: object): value is ProviderPart {
  const part = value as Readonly<Record<string, unknown>>;
  const { type } = part;
  if (typeof type !== 'string' || !Object.hasOwn(fields, type)) return false;
  const [texts, values] = fields[type as ProviderPart['type']];
  return texts.every((field) => typeof part[field] === 'string') && values.every((field) => part[field] !== undefined);
}
