import { loadDataConverter } from '@temporalio/common/lib/internal-non-workflow';
import { HistoryFold } from '../../contract/record/fold';
import type { RunEvent, RunView } from '../../contract/events';
import { FactReader } from '../../host/history/history-facts';
import type { History } from '../../host/history/history-files';

export async function foldHistory(history: History): Promise<{ readonly view: RunView; readonly events: readonly RunEvent[] }> {
  const events = history.events ?? [];
  const workflowId = events[0]?.workflowExecutionStartedEventAttributes?.workflowId ?? '';
  const fold = new HistoryFold();
  const log: RunEvent[] = [];
  for (const fact of await new FactReader(loadDataConverter()).read(events, workflowId)) log.push(...fold.add(fact));
  return { view: fold.view(), events: log };
}
