import { execFile } from 'node:child_process';
import { HoldfastError } from '../../contract/errors';
import { isLoopback } from '../connection';
import { httpNames } from './server-flags';

/**
 * A problem of a development server on this machine that another program started: `temporal server start-dev` opens an HTTP API to every page in a
 * browser of this machine. Undefined: the API is shut, or no command line tells. A server does not tell clients of the API.
 */
export async function openHttpOf(address: string): Promise<HoldfastError | undefined> {
  if (!isLoopback(address)) return undefined;
  const port = address.split(':').at(-1);
  const servers = (await commandLines()).filter((line) => line.includes(' start-dev'));
  const server = servers.find((line) => portOf(line) === port && !line.includes(httpNames));
  if (server === undefined) return undefined;
  return new HoldfastError(
    'server-open',
    `The Temporal server at ${address} (process ${Number.parseInt(server, 10)}) has its HTTP API open: any page that a browser on this machine shows can answer, start and end runs there.`,
  );
}

function portOf(commandLine: string): string {
  return / (?:--port|-p)[ =](\d+)/.exec(commandLine)?.[1] ?? '7233';
}

/** Every line begins with the id of a process. Empty without `ps`. */
function commandLines(): Promise<readonly string[]> {
  return new Promise((resolve) => {
    execFile('ps', ['-axww', '-o', 'pid=,command='], { maxBuffer: 16 * 1024 * 1024 }, (error, stdout) =>
      resolve(error ? [] : stdout.split('\n')),
    );
  });
}
