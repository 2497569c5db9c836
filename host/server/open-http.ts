import { HoldfastError } from '../../contract/errors';
import { isLoopback } from '../connection';
import { ownerOfPort } from './port-owner';
import { commandLineOf } from './process-probe';
import { httpNames } from './server-flags';

/**
 * A development server on this machine that somebody else, or an older Holdfast, has started: `temporal server start-dev` opens an HTTP API to any page
 * that a browser shows here. Undefined where it is shut, and where nobody can tell: a server tells its clients nothing of it.
 */
export async function openHttpOf(address: string): Promise<HoldfastError | undefined> {
  if (!isLoopback(address)) return undefined;
  const owner = await ownerOfPort(Number(address.split(':').at(-1)));
  const commandLine = owner && (await commandLineOf(owner.pid));
  if (!commandLine?.includes(' start-dev') || commandLine.includes(httpNames)) return undefined;
  return new HoldfastError(
    'server-open',
    `The Temporal server at ${address} (process ${owner?.pid}) has its HTTP API open: any page that a browser on this machine shows can answer, start and end runs there.`,
  );
}
