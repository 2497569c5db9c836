import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Hook {
  readonly url: string;
  readonly heard: { readonly to: string | undefined; readonly id: string; readonly state: string; readonly token: string | undefined }[];
  status: number;
  close(): void;
}

export async function openHook(): Promise<Hook> {
  const heard: Hook['heard'] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part: Buffer) => (body += part.toString()));
    request.on('end', () => {
      const { statusUpdate } = JSON.parse(body) as { statusUpdate: { status: { state: string } } };
      const { 'webhook-id': id, 'x-a2a-notification-token': token } = request.headers as Record<string, string>;
      if (made.status < 300) heard.push({ to: request.url, id: id ?? '', state: statusUpdate.status.state.slice(11), token });
      response.writeHead(made.status).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  const made: Hook = { url, heard, status: 204, close: () => void (server.closeAllConnections(), server.close()) };
  return made;
}

/** Drops repeated notices, which keep their id. */
export const statesOf = ({ heard }: Hook): readonly string[] => [
  ...new Map(heard.map(({ to, id, state }) => [`${to} ${id}`, state])).values(),
];
