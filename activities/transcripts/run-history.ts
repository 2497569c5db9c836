import type { HistoryFact } from '../../contract/record/history-fact';

export interface RunHistory {
  /** Within a page, too, the newest facts come first. */
  newest(workflowId: string, runId: string): AsyncIterable<readonly HistoryFact[]>;
  oldest(workflowId: string, runId: string): AsyncIterable<readonly HistoryFact[]>;
}
