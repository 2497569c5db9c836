import { join } from 'node:path';
import type { Configuration } from '../../host/configuration';
import { FileStore } from './file-store';
import { RedisStore } from './redis-store';
import type { ServiceStore } from './store';

/** The service and the commands `keys` and `audit` use the same store. A given store stays open. */
export function openStore(
  given: ServiceStore | undefined,
  { directory, redisUrl }: Pick<Configuration, 'directory' | 'redisUrl'>,
): { readonly store: ServiceStore; readonly close: () => void } {
  const redis = given === undefined && redisUrl !== undefined ? new RedisStore(redisUrl) : undefined;
  return { store: given ?? redis ?? new FileStore(join(directory, 'store')), close: () => redis?.close() };
}
