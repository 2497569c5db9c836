import { RedisBus } from '../../host/redis/redis-bus';
import type { Lifetime } from './lifetime';
import type { ProcessSettings } from './process-settings';

/** Without Redis, deltas stay in the process. */
export async function openDeltas({ configuration, onProblem }: ProcessSettings, lifetime: Lifetime): Promise<RedisBus | undefined> {
  if (configuration.redisUrl === undefined) return undefined;
  const deltas = new RedisBus(configuration.redisUrl, onProblem);
  await lifetime.onEnd('deltas', () => deltas.close());
  return deltas;
}
