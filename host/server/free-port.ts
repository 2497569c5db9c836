import { once } from 'node:events';
import { createConnection, createServer, type Server } from 'node:net';
import { HoldfastError, messageOf } from '../../contract/errors';
import { namedSystemError } from '../system-errors';

/**
 * Linux reuses a freed port soon, but not for a minute after the listening side closed a connection: the closed connection reserves the
 * port for a process that names the port.
 */
export async function freePort(): Promise<number> {
  const probe = await listen('127.0.0.1', 0);
  const address = probe.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  if (process.platform === 'linux') await connectOnce(probe, port);
  await close(probe);
  return port;
}

export async function checkPortFree(port: number, host = '127.0.0.1'): Promise<void> {
  try {
    await close(await listen(host, port));
  } catch (error) {
    throw listenFailure(error, host, port);
  }
}

export function listenFailure(error: unknown, host: string, port: number): HoldfastError {
  const { code = '' } = error as NodeJS.ErrnoException;
  const cause = { cause: error };
  if (code === 'EADDRINUSE') return new HoldfastError('port-in-use', `The port ${port} of ${host} is taken by another process.`, cause);
  if (['EACCES', 'EPERM'].includes(code))
    return new HoldfastError('config-invalid', `This process may not listen on the port ${port} of ${host}. Take one from 1024 on.`, cause);
  const reasons: Readonly<Record<string, string>> = {
    EADDRNOTAVAIL: ': it must be an address of this machine.',
    ENOTFOUND: ': no address is known for that name.',
    EAI_AGAIN: ': no address is known for that name.',
  };
  const named = code in reasons ? undefined : namedSystemError(error, `listening on ${host}:${port}`);
  return (
    named ?? new HoldfastError('config-invalid', `Nothing can listen on ${host}${reasons[code] ?? `:${port}: ${messageOf(error)}`}`, cause)
  );
}

export function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host: '127.0.0.1', port });
    const answer = (value: boolean) => () => {
      socket.destroy();
      resolve(value);
    };
    socket.once('connect', answer(true)).once('error', answer(false));
  });
}

async function listen(host: string, port: number): Promise<Server> {
  const server = createServer((socket) => socket.on('error', () => undefined).end()).listen(port, host);
  await once(server, 'listening');
  return server;
}

function connectOnce(probe: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const client = createConnection({ host: '127.0.0.1', port });
    probe.once('error', reject);
    client.once('error', reject).once('close', () => resolve());
    client.resume();
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => void server.close(() => resolve()));
}
