import { HoldfastError } from '../../contract/errors';
import { isLoopback } from '../connection';
import { processesWith } from './process-probe';
import { httpNames } from './server-flags';

/**
 * A development server on this machine that this process has not started: `temporal server start-dev` opens an HTTP API to any page that a browser on
 * this machine shows. Undefined where the API is shut, and where no command line tells: a server says nothing about the API to its clients.
 */
export async function openHttpOf(address: string): Promise<HoldfastError | undefined> {
  if (!isLoopback(address)) return undefined;
  const port = address.split(':').at(-1);
  const servers = await processesWith(' start-dev');
  const server = servers.find(({ commandLine }) => portOf(commandLine) === port && !commandLine.includes(httpNames));
  if (server === undefined) return undefined;
  return new HoldfastError(
    'server-open',
    `The Temporal server at ${address} (process ${server.pid}) has its HTTP API open: any page that a browser on this machine shows can answer, start and end runs there.`,
  );
}

/** The port of a development server, by its command line. */
function portOf(commandLine: string): string {
  return / (?:--port|-p)[ =](\d+)/.exec(commandLine)?.[1] ?? '7233';
}
