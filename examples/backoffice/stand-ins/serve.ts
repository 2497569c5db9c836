import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface Answer {
  readonly status?: number;
  readonly json?: object;
  readonly events?: string;
}

export interface Served {
  readonly url: string;
  close(): Promise<void>;
}

/** Answers `METHOD /path` with JSON or with server-sent events. */
export async function serve(answer: (route: string, body: string) => Answer | Promise<Answer>): Promise<Served> {
  const server = createServer((request, response) => {
    void (async () => {
      const { status = 200, json, events } = await answer(`${request.method} ${request.url}`, await text(request));
      response.writeHead(status, { 'content-type': events === undefined ? 'application/json' : 'text/event-stream' });
      response.end(events ?? JSON.stringify(json));
    })();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}
