import type { UsageGroup } from '../../client/http/index';
import type { ModelPrices } from '../../contract/prices';
import { usePoll } from './live';
import { service } from './service';

const noPrices: ModelPrices = {};

export const useAgents = () => usePoll('agents', () => service.agents(), 10_000);

export const usePolicies = () => usePoll('policies', () => service.policies(), 10_000);

export const useFacts = () => usePoll('service', () => service.service(), 5_000);

export const usePrices = () => useFacts().value?.prices ?? noPrices;

export const useExecutions = (id: string) => usePoll(`executions ${id}`, () => service.executions(id), 10_000);

export const useKeys = () => usePoll('keys', () => service.keys(), 5_000);

export const useBuilds = () => usePoll('builds', () => service.builds(), 10_000);

/** Later answers include histories that the service had not read yet. */
export const useUsage = (by: UsageGroup, since: string) => usePoll(`usage ${by} ${since}`, () => service.usage({ by, since }), 5_000);

export function useCounts() {
  const since = new Date(new Date().setHours(0, 0, 0, 0)).toISOString();
  return usePoll(`counts ${since}`, () => service.counts({ since }), 5_000);
}
