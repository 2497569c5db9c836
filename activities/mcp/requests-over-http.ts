import type { FetchLike, JSONRPCMessage, JSONRPCRequest, RequestId, TransportSendOptions } from '@modelcontextprotocol/client';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { defined } from '../../contract/defined';
import { endedStream } from './failures';

/** Twice the largest result of a tool, fully escaped. */
export const mostMessage = 16 * 1024 * 1024;
const mostOfError = 64 * 1024;
const eventStream = 'text/event-stream';

/** A request ends with its server and call. */
export class RequestsOverHttp extends StreamableHTTPClientTransport {
  private readonly unanswered = new Map<RequestId, AbortController>();

  override onmessage: StreamableHTTPClientTransport['onmessage'] = (message) => {
    if (!('method' in message)) this.unanswered.delete(message.id as RequestId);
  };

  override async send(message: JSONRPCMessage, options: TransportSendOptions = {}): Promise<void> {
    const { method, id, params } = message as JSONRPCRequest;
    if (method === 'notifications/cancelled') this.unanswered.get(params?.['requestId'] as RequestId)?.abort();
    if (method === undefined || id === undefined) return super.send(message, options);
    const over = new AbortController();
    over.signal.onabort = () => this.unanswered.delete(id);
    if (options.requestSignal === undefined) this.unanswered.set(id, over);
    const onRequestStreamEnd = (): void => this.fail(id, 'The server ended the stream without an answer.', endedStream);
    await super.send(message, { requestSignal: over.signal, ...defined(options), onRequestStreamEnd }).catch((error: unknown) => {
      over.abort();
      throw error;
    });
  }

  fail(id: RequestId, message: string, data?: string): void {
    const over = this.unanswered.get(id);
    this.onmessage?.({ jsonrpc: '2.0', id, error: { code: -32_000, message, data } });
    over?.abort();
  }
}

export function boundedFetch(server: string, urls: readonly string[], onTooLarge: (id: RequestId, problem: string) => void): FetchLike {
  const origins = urls.map((url) => new URL(url).origin);
  return async (url, init = {}) => {
    const { method = 'GET', headers, body } = init;
    const { origin } = new URL(url);
    if (method === 'GET' && !origins.includes(origin))
      throw new TypeError(`OAuth leads to ${origin}. The worker asks only ${origins.join(' and ')}.`);
    const response = await fetch(url, init);
    if (response.body === null) return response;
    const { id, method: asked } = (typeof body === 'string' ? JSON.parse(body) : {}) as Partial<JSONRPCRequest>;
    const isRequest = id !== undefined && asked !== undefined;
    // The SDK keeps other bodies whole.
    const isStream =
      response.status === 200 &&
      (isRequest || new Headers(headers).get('accept') === eventStream) &&
      /^text\/event-stream(;[^,]*)?$/.test(response.headers.get('content-type') ?? '');
    const most = response.ok ? mostMessage : mostOfError;
    let size = 0;
    let last = '';
    const transform = (chunk: Uint8Array, controller: TransformStreamDefaultController): void => {
      const text = isStream ? last + Buffer.from(chunk).toString('latin1') : '';
      const end = Math.max(text.lastIndexOf('\n\n'), text.lastIndexOf('\n\r\n'));
      size = end === -1 ? size + chunk.length : text.length - end;
      last = text.slice(-2);
      if (size <= most) return controller.enqueue(chunk);
      if (!response.ok) return controller.terminate();
      const problem = `The MCP server "${server}" sent a message of more than ${most / 1024 / 1024} MB.`;
      controller.error(new Error(problem));
      if (isRequest) onTooLarge(id, problem);
    };
    return new Response(response.body.pipeThrough(new TransformStream({ transform })), response);
  };
}
