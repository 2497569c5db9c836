import { execFile } from 'node:child_process';
import { HoldfastError } from '../../contract/errors';
import { isLoopback } from '../check-settings';
import { httpNames } from './server-flags';

/**
 * `temporal server start-dev` of another program opens an HTTP API to every page in a local browser, and tells clients nothing of the API:
 * only the command line shows the problem.
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

/** Lines begin with a process id. Empty without `ps`. */
function commandLines(): Promise<readonly string[]> {
  return new Promise((resolve) => {
    execFile('ps', ['-axww', '-o', 'pid=,command='], { maxBuffer: 16 * 1024 * 1024 }, (error, stdout) =>
      resolve(error ? [] : stdout.split('\n')),
    );
  });
}
