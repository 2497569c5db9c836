import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { getRequestListener } from '@hono/node-server';
import { errorTable, HoldfastError } from '../../contract/errors';
import { reachable } from '../../host/configuration';
import { listenFailure } from '../../host/server/free-port';
import type { ServiceParts } from '../parts';
import { createApp } from './app';
import { isLoopbackAddress } from './check-host';
import { errorBody, problemType, requestErrorResponse } from './error-response';

export interface ServiceOptions extends Omit<ServiceParts, 'closing'> {
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  /** Longest arrival of a request, and longest pause of a reader or of an upload of lines. Default: 60 s. */
  readonly requestMs?: number;
}

export interface RunningService {
  readonly url: string;
  readonly port: number;
  /** Ends open streams, lets requests finish for a moment, and frees the port. The client stays open. */
  close(): Promise<void>;
}

const closePatienceMs = 2_000;

/**
 * Serves the app over HTTP. Throws 'access-missing' off loopback without `access`, 'port-in-use', or 'config-invalid' for an address of another
 * machine.
 * @example
 * const { agents } = await loadProject('holdfast.config.ts');
 * const service = await startService({ client, agents, logger: createLogger(), host: '127.0.0.1', port: 4747 });
 * console.log(service.url);
 * process.once('SIGTERM', () => void service.close());
 */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  const { host, port, requestMs = 60_000 } = options;
  if (!isLoopbackAddress(host) && options.access === undefined)
    throw new HoldfastError('access-missing', `The service would listen on ${host}, and nothing says who may do what.`);
  const closing = new AbortController();
  const { hosts, ...parts } = options;
  const own: { url?: string } = {};
  const onLoopback = isLoopbackAddress(host) ? { hosts: hosts ?? [], ownUrl: () => own.url } : {};
  const app = createApp({ ...parts, closing: closing.signal, ...onLoopback });
  const answer = getRequestListener(app.fetch, { errorHandler: (error) => requestErrorResponse(error, options.logger) });
  const listener = (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    // Data for a reader that takes nothing stays in memory.
    response.setTimeout(requestMs, () => response.writableLength > 0 && response.destroy());
    limitArrival(request, requestMs);
    return answer(request, response);
  };
  // With `requireHostHeader`, Node would answer a request without a host itself, with an empty body.
  const server = createServer(
    { requireHostHeader: false, requestTimeout: 0, headersTimeout: requestMs, connectionsCheckingInterval: requestMs / 4 },
    listener,
  );
  server.on('checkExpectation', (_request, response: ServerResponse) => answerUnmet(response));
  server.on('clientError', answerUnreadable);
  await listen(server, host, port);
  const address = server.address();
  const taken = typeof address === 'object' && address !== null ? address.port : port;
  let closed: Promise<void> | undefined;
  const url = `http://${reachable(host)}:${taken}`;
  own.url = url;
  return {
    url,
    port: taken,
    close: () => {
      closing.abort();
      return (closed ??= close(server));
    },
  };
}

/** The lines of a batch may arrive for longer, as long as more bytes come. */
function limitArrival(request: IncomingMessage, requestMs: number): void {
  const { socket, method, url = '' } = request;
  const mayContinue = method === 'POST' && /^\/batches(\?|$)/.test(url);
  let seen = -1;
  const timer = setInterval(() => {
    if (request.complete) clearInterval(timer);
    else if (mayContinue && socket.bytesRead > seen) seen = socket.bytesRead;
    else answerUnreadable(Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket);
  }, requestMs);
  request.once('close', () => clearInterval(timer));
}

const unreadable: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: 'its headers are too large',
  ERR_HTTP_REQUEST_TIMEOUT: 'it did not come in whole in time',
};

/** Unreadable requests, such as too large headers or an unknown method, do not reach the app. */
function answerUnreadable(error: Error & { readonly code?: string; readonly reason?: string }, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const { status } = errorTable['request-invalid'];
  const why = unreadable[error.code ?? ''] ?? error.reason ?? error.message;
  const body = bodyOf(why);
  const head = [`HTTP/1.1 ${status} Bad Request`, `content-type: ${problemType}`, `content-length: ${Buffer.byteLength(body)}`];
  socket.end([...head, 'connection: close', '', body].join('\r\n'));
}

function answerUnmet(response: ServerResponse): void {
  response.writeHead(errorTable['request-invalid'].status, { 'content-type': problemType, connection: 'close' });
  response.end(bodyOf('the only expectation that is met is 100-continue'));
}

function bodyOf(why: string): string {
  return JSON.stringify(errorBody('request-invalid', `The request cannot be read: ${why}.`));
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(listenFailure(error, host, port)));
    server.listen(port, host, resolve);
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const patience = setTimeout(() => server.closeAllConnections(), closePatienceMs);
    // A connection whose stream has just ended becomes idle a moment later.
    const idle = setInterval(() => server.closeIdleConnections(), 20);
    server.close(() => {
      clearTimeout(patience);
      clearInterval(idle);
      resolve();
    });
  });
}
