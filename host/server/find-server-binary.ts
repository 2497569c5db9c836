import { join } from 'node:path';
import { HoldfastError, messageOf } from '../../contract/errors';
import type { Environment } from '../configuration';
import { cacheDirectory } from '../cache-directory';
import { inspectKnownBinary, inspectServerBinary, onPath, type ServerBinary } from './server-binary';
import { obtainServerBinary, type BinarySearch } from './server-supply';

/** Another one for each change of what is built. */
const cachedName = 'temporal-2';

/**
 * The `temporal` binary from the first place that has a working one: HOLDFAST_TEMPORAL_CLI (which, when set, is the only one), the PATH, the cache,
 * the SDK's download, a build with Go. Throws 'server-unavailable' that says for each way why it failed.
 */
export async function findServerBinary(search: BinarySearch): Promise<ServerBinary> {
  const configured = search.environment.HOLDFAST_TEMPORAL_CLI;
  if (configured) {
    return inspectServerBinary(configured, 'configured').catch((error: unknown) => {
      throw new HoldfastError('server-unavailable', `HOLDFAST_TEMPORAL_CLI names ${configured}: ${messageOf(error)}`);
    });
  }
  const failures: string[] = [];
  const attempt = async <T>(way: string, find: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await find();
    } catch (error) {
      failures.push(`${way}: ${messageOf(error)}`);
      return undefined;
    }
  };
  const cached = cachedBinary(search.environment);
  const found =
    (await attempt('`temporal` on the PATH', () => inspectServerBinary(onPath('temporal', search.environment), 'path'))) ??
    (await attempt('the cache', () => inspectKnownBinary(cached))) ??
    (await attempt('filling the cache', () => obtainServerBinary(cached, search, attempt)));
  if (found !== undefined) return found;
  throw new HoldfastError(
    'server-unavailable',
    `There is no Temporal server to start. Install the Temporal CLI (https://docs.temporal.io/cli), or Go 1.25 or newer, or name a binary with HOLDFAST_TEMPORAL_CLI, ` +
      `or set TEMPORAL_ADDRESS to use a running server. Tried: ${failures.join('; ')}.`,
    { details: { failures } },
  );
}

/** The binary that is here already, if any: nothing is downloaded or built. */
export async function presentServerBinary(environment: Environment): Promise<ServerBinary | undefined> {
  const configured = environment.HOLDFAST_TEMPORAL_CLI;
  const none = async (): Promise<undefined> => undefined;
  if (configured) return inspectServerBinary(configured, 'configured').catch(none);
  const onPathFirst = await (async () => inspectServerBinary(onPath('temporal', environment), 'path'))().catch(none);
  return onPathFirst ?? inspectServerBinary(cachedBinary(environment), 'cache').catch(none);
}

function cachedBinary(environment: Environment): string {
  return join(cacheDirectory(environment), 'bin', cachedName);
}
