import type {
  BuildList,
  ListedAgent,
  ListedPolicy,
  RunCounts,
  RunExecutions,
  ServiceFacts,
  UsageGroup,
  UsageReport,
} from '../../http/index';
import type { ModelPrices } from '../../contract/prices';
import type { Polled } from './live';
import { usePoll } from './live';
import { service } from './service';

const noPrices: ModelPrices = {};

export function useAgents(): Polled<readonly ListedAgent[]> {
  return usePoll('agents', () => service.agents(), 10_000);
}

export function usePolicies(): Polled<readonly ListedPolicy[]> {
  return usePoll('policies', () => service.policies(), 10_000);
}

export function useFacts(): Polled<ServiceFacts> {
  return usePoll('service', () => service.service(), 5_000);
}

export function usePrices(): ModelPrices {
  return useFacts().value?.prices ?? noPrices;
}

export function useExecutions(id: string): Polled<RunExecutions> {
  return usePoll(`executions ${id}`, () => service.executions(id), 10_000);
}

export function useBuilds(): Polled<BuildList> {
  return usePoll('builds', () => service.builds(), 10_000);
}

/** Later answers include histories that the service had not read yet. */
export function useUsage(by: UsageGroup, since: string): Polled<UsageReport> {
  return usePoll(`usage ${by} ${since}`, () => service.usage({ by, since }), 5_000);
}

export function useCounts(): Polled<RunCounts> {
  const since = new Date(new Date().setHours(0, 0, 0, 0)).toISOString();
  return usePoll(`counts ${since}`, () => service.counts({ since }), 5_000);
}
