import { join } from 'node:path';
import type { Configuration } from '../../host/configuration';
import { FileStore } from './file-store';
import { RedisStore } from './redis-store';
import type { ServiceStore } from './store';

export interface OpenStore {
  readonly store: ServiceStore;
  /** Leaves a given store open. */
  close(): void;
}

/** The service and the commands `keys` and `audit` use the same store. */
export function openStore(
  given: ServiceStore | undefined,
  { directory, redisUrl }: Pick<Configuration, 'directory' | 'redisUrl'>,
): OpenStore {
  const nothing = (): void => undefined;
  if (given !== undefined) return { store: given, close: nothing };
  if (redisUrl === undefined) return { store: new FileStore(join(directory, 'store')), close: nothing };
  const redis = new RedisStore(redisUrl);
  return { store: redis, close: () => redis.close() };
}
