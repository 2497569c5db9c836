import type { LoadedDataConverter } from '@temporalio/common';
import type { RunHistory } from '../activities/message-store';
import type { HistoryFact } from '../contract/plain/history-fact';
import { FactReader } from '../host/history-facts';
import type { HistorySource } from '../host/history-pages';
import { newestPages, oldestPages } from '../host/history-pages';

/** Reads the histories of the worker's own runs over its connection. */
export function runHistory(source: HistorySource, converter: LoadedDataConverter): RunHistory {
  const reader = new FactReader(converter);
  return {
    async *newest(workflowId, runId) {
      for await (const events of newestPages(source, { workflowId, runId })) yield await reader.read(events, workflowId);
    },
    async all(workflowId, runId) {
      const facts: HistoryFact[] = [];
      for await (const events of oldestPages(source, { workflowId, runId }, false)) facts.push(...(await reader.read(events, workflowId)));
      return facts;
    },
  };
}
