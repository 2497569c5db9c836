import type {
  FetchLike,
  JSONRPCMessage,
  RequestId,
  StreamableHTTPClientTransportOptions,
  TransportSendOptions,
} from '@modelcontextprotocol/client';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { endedStream } from './failures';

/** Room for the largest result of a tool, as a text and as a structure, with each byte written as six. */
export const mostMessage = 16 * 1024 * 1024;
const mostOfError = 64 * 1024;

/** The SDK tells nobody that the stream of a request has ended without an answer, and in 2025-11-25 reads on after the time of a call. */
export class RequestsOverHttp extends StreamableHTTPClientTransport {
  private readonly unanswered = new Map<RequestId, AbortController>();

  constructor(url: URL, options: StreamableHTTPClientTransportOptions) {
    super(url, options);
    this.onmessage = (message) => 'id' in message && !('method' in message) && this.unanswered.delete(message.id as RequestId);
  }

  override async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    const id = 'method' in message && 'id' in message ? message.id : undefined;
    if ('method' in message && message.method === 'notifications/cancelled') this.end(message.params?.['requestId'] as RequestId);
    if (id === undefined) return super.send(message, options);
    const over = new AbortController();
    if (options?.requestSignal === undefined) this.unanswered.set(id, over);
    const onRequestStreamEnd = (): void => this.fail(id, 'The server ended the stream without an answer.', endedStream);
    try {
      await super.send(message, { ...options, requestSignal: options?.requestSignal ?? over.signal, onRequestStreamEnd });
    } catch (error) {
      this.unanswered.delete(id);
      throw error;
    }
  }

  /** An answer that has come before wins. */
  fail(id: RequestId, message: string, data?: string): void {
    const over = this.unanswered.get(id);
    this.onmessage?.({ jsonrpc: '2.0', id, error: { code: -32_000, message, data } });
    over?.abort();
  }

  private end(id: RequestId): void {
    this.unanswered.get(id)?.abort();
    this.unanswered.delete(id);
  }
}

/** A server can send the worker to no other places than `urls`. `onTooLarge`: a request whose answer is not read to its end. */
export function boundedFetch(server: string, urls: readonly string[], onTooLarge: (id: RequestId, problem: string) => void): FetchLike {
  const origins = urls.map((url) => new URL(url).origin);
  return async (url, init) => {
    const isGet = (init?.method ?? 'GET') === 'GET';
    if (isGet && !origins.includes(new URL(url).origin))
      throw new TypeError(`The MCP server "${server}" names ${new URL(url).origin}. The worker asks only ${origins.join(' and ')}`);
    const response = await fetch(url, init);
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
    if (response.body === null) return response;
    const body = response.body.pipeThrough(
      bounded(response.ok ? mostMessage : mostOfError, isStream, (controller) => {
        if (!response.ok) return controller.terminate();
        const problem = `The MCP server "${server}" sent a message of more than ${mostMessage / 1024 / 1024} MB.`;
        controller.error(new Error(problem));
        if (typeof init?.body === 'string') onTooLarge((JSON.parse(init.body) as { id: RequestId }).id, problem);
      }),
    );
    return new Response(body, response);
  };
}

type Bytes = TransformStream<Uint8Array, Uint8Array>;

/** Each event of a stream is a message. */
function bounded(most: number, isStream: boolean, onMore: (controller: TransformStreamDefaultController) => void): Bytes {
  let size = 0;
  let last = '';
  return new TransformStream({
    transform: (chunk: Uint8Array, controller) => {
      const text = isStream ? last + Buffer.from(chunk).toString('latin1') : '';
      const end = Math.max(text.lastIndexOf('\n\n'), text.lastIndexOf('\n\r\n'));
      size = end === -1 ? size + chunk.length : text.length - end;
      last = text.slice(-2);
      if (size > most) onMore(controller);
      else controller.enqueue(chunk);
    },
  });
}
