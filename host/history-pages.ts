import type { Connection } from '@temporalio/client';
import type { temporal } from '@temporalio/proto';

type HistoryEvent = temporal.api.history.v1.IHistoryEvent;

/** What reading a history needs of a connection; a worker's connection has it too. */
export interface HistorySource {
  readonly workflowService: Pick<Connection['workflowService'], 'getWorkflowExecutionHistory' | 'getWorkflowExecutionHistoryReverse'>;
  readonly namespace: string;
}

export interface Execution {
  readonly workflowId: string;
  readonly runId?: string;
}

/** Pages of a history, newest first. Never a query: a query waits for a worker and its replay. */
export async function* newestPages(source: HistorySource, execution: Execution): AsyncGenerator<readonly HistoryEvent[]> {
  let nextPageToken: Uint8Array | undefined;
  do {
    const page = await source.workflowService.getWorkflowExecutionHistoryReverse({
      namespace: source.namespace,
      execution,
      maximumPageSize: 256,
      ...(nextPageToken === undefined ? {} : { nextPageToken }),
    });
    yield page.history?.events ?? [];
    nextPageToken = page.nextPageToken?.length ? page.nextPageToken : undefined;
  } while (nextPageToken !== undefined);
}

/** Pages of a history, oldest first; with `follow` it waits for new events until the execution closes. */
export async function* oldestPages(
  source: HistorySource,
  execution: Execution,
  follow: boolean,
  abandoned: () => boolean = () => false,
): AsyncGenerator<readonly HistoryEvent[]> {
  let nextPageToken: Uint8Array | undefined;
  do {
    const page = await source.workflowService.getWorkflowExecutionHistory({
      namespace: source.namespace,
      execution,
      maximumPageSize: 256,
      waitNewEvent: follow,
      ...(nextPageToken === undefined ? {} : { nextPageToken }),
    });
    const events = page.history?.events ?? [];
    if (events.length > 0) yield events;
    nextPageToken = page.nextPageToken?.length ? page.nextPageToken : undefined;
  } while (nextPageToken !== undefined && !abandoned());
}
