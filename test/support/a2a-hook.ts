import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A receiver of push notifications. */
export interface Hook {
  readonly url: string;
  /** The states, each as often as it came. */
  readonly heard: { readonly to: string | undefined; readonly id: string; readonly state: string; readonly token: string | undefined }[];
  /** What it answers from now on. */
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

/** What its receivers were told. A notice that comes again has the id that it had, and is left out, as the page says. */
export const statesOf = ({ heard }: Hook): readonly string[] => [
  ...new Map(heard.map(({ to, id, state }) => [`${to} ${id}`, state])).values(),
];
