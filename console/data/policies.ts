import type { ListedPolicy } from '../../http/index';
import type { Polled } from './live';
import { usePoll } from './live';
import { service } from './service';

export function usePolicies(): Polled<readonly ListedPolicy[]> {
  return usePoll('policies', () => service.policies(), 10_000);
}
