import type { LoadedDataConverter } from '@temporalio/common';
import type { RunHistory } from '../activities/transcripts/run-history';
import type { FactEvent } from '../host/history/history-facts';
import { FactReader } from '../host/history/history-facts';
import type { HistorySource } from '../host/history/history-pages';
import { newestPages, oldestPages } from '../host/history/history-pages';

export function runHistory(source: HistorySource<FactEvent>, converter: () => LoadedDataConverter): RunHistory {
  let made: FactReader | undefined;
  const reader = (): FactReader => (made ??= new FactReader(converter()));
  return {
    async *newest(workflowId, runId) {
      for await (const events of newestPages(source, { workflowId, runId })) yield await reader().read(events, workflowId);
    },
    async *oldest(workflowId, runId) {
      for await (const events of oldestPages(source, { workflowId, runId }, false)) yield await reader().read(events, workflowId);
    },
  };
}
