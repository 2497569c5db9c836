import { join } from 'node:path';
import type { Configuration } from '../../host/configuration';
import { FileStore } from './file-store';
import type { AccessOptions, AccessStore } from './parts';
import { RedisStore } from './redis-store';

export interface OpenStore {
  readonly store: AccessStore;
  /** Leaves a store of `access.store` open. */
  close(): void;
}

/** The service and the commands `keys` and `audit` use the same store. */
export function openAccessStore(
  access: Pick<AccessOptions, 'store'> | undefined,
  { directory, redisUrl }: Pick<Configuration, 'directory' | 'redisUrl'>,
): OpenStore {
  const nothing = (): void => undefined;
  if (access?.store !== undefined) return { store: access.store, close: nothing };
  if (redisUrl === undefined) return { store: new FileStore(join(directory, 'access')), close: nothing };
  const redis = new RedisStore(redisUrl);
  return { store: redis, close: () => redis.close() };
}
