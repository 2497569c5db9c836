import type { ModelPrices } from '../../contract/prices';
import type { BuildList, RunExecutions, ServiceFacts, UsageGroup, UsageReport } from '../../http/index';
import type { Polled } from './live';
import { usePoll } from './live';
import { service } from './service';

const noPrices: ModelPrices = {};

export function useFacts(): Polled<ServiceFacts> {
  return usePoll('service', () => service.service(), 5_000);
}

/** What tokens of models cost, as far as the service knows. */
export function usePrices(): ModelPrices {
  return useFacts().value.value?.prices ?? noPrices;
}

/** The executions of a run in Temporal. They change seldom. */
export function useExecutions(id: string): Polled<RunExecutions> {
  return usePoll(`executions ${id}`, () => service.executions(id), 10_000);
}

export function useBuilds(): Polled<BuildList> {
  return usePoll('builds', () => service.builds(), 10_000);
}

/** What is not counted yet comes with the next answers. */
export function useUsage(by: UsageGroup, since: string): Polled<UsageReport> {
  return usePoll(`usage ${by} ${since}`, () => service.usage({ by, since }), 5_000);
}
