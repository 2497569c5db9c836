import { createConnection, createServer, type Server } from 'node:net';

/**
 * A port of the host that nobody listens on. On Linux freed ports are soon given out again; one that has seen a connection closed from the listening
 * side is not for a minute, and can still be listened on by whoever names it.
 */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  const probe = await listen(host, 0);
  const address = probe.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  if (process.platform === 'linux') await connectOnce(probe, host, port);
  await close(probe);
  return port;
}

/** Says whether a port could be listened on now. */
export async function isPortFree(port: number, host = '127.0.0.1'): Promise<boolean> {
  try {
    await close(await listen(host, port));
    return true;
  } catch {
    return false;
  }
}

/** Says whether somebody accepts connections on a port. */
export function isListening(port: number, host = '127.0.0.1'): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host, port });
    const answer = (value: boolean) => () => {
      socket.destroy();
      resolve(value);
    };
    socket.once('connect', answer(true)).once('error', answer(false));
  });
}

function listen(host: string, port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.on('error', () => undefined).end());
    server.once('error', reject).listen(port, host, () => resolve(server));
  });
}

function connectOnce(probe: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const client = createConnection({ host, port });
    probe.once('error', reject);
    client.once('error', reject).once('close', () => resolve());
    client.resume();
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => void server.close(() => resolve()));
}
