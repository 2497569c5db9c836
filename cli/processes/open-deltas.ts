import { RedisBus } from '../../host/redis/redis-bus';
import type { Lifetime } from './lifetime';
import type { ProcessSettings } from './process-settings';

/** Without Redis, deltas stay in the process. */
export async function openDeltas({ configuration, logger, onProblem }: ProcessSettings, lifetime: Lifetime): Promise<RedisBus | undefined> {
  if (configuration.redisUrl === undefined) return undefined;
  const deltas = new RedisBus(configuration.redisUrl, onProblem, () => logger.info('Redis at HOLDFAST_REDIS_URL is back.'));
  await lifetime.onEnd('deltas', () => deltas.close());
  return deltas;
}
