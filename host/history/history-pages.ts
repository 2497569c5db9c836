import { defined } from '../../contract/defined';
import type { temporal } from '@temporalio/proto';

type HistoryEvent = temporal.api.history.v1.IHistoryEvent;

export interface HistoryPage<Event = HistoryEvent> {
  readonly history?: { readonly events?: readonly Event[] | null } | null;
  readonly nextPageToken?: Uint8Array | null;
}

export interface PageRequest {
  readonly namespace: string;
  readonly execution: ExecutionRef;
  readonly maximumPageSize: number;
  readonly nextPageToken?: Uint8Array;
}

export interface HistorySource<Event = HistoryEvent> {
  readonly workflowService: {
    getWorkflowExecutionHistory(request: PageRequest & { readonly waitNewEvent: boolean }): Promise<HistoryPage<Event>>;
    getWorkflowExecutionHistoryReverse(request: PageRequest): Promise<HistoryPage<Event>>;
  };
  readonly namespace: string;
}

export interface ExecutionRef {
  readonly workflowId: string;
  readonly runId?: string;
}

/** Newest first, from the server: a query would wait for a worker and its replay. */
export async function* newestPages<Event>(source: HistorySource<Event>, execution: ExecutionRef): AsyncGenerator<readonly Event[]> {
  let nextPageToken: Uint8Array | undefined;
  do {
    const page: HistoryPage<Event> = await source.workflowService.getWorkflowExecutionHistoryReverse({
      namespace: source.namespace,
      execution,
      maximumPageSize: 256,
      ...defined({ nextPageToken }),
    });
    yield page.history?.events ?? [];
    nextPageToken = page.nextPageToken?.length ? page.nextPageToken : undefined;
  } while (nextPageToken !== undefined);
}

/** Oldest first. With `follow`: waits for new events until the execution closes. */
export async function* oldestPages<Event>(
  source: HistorySource<Event>,
  execution: ExecutionRef,
  follow: boolean,
  abandoned: () => boolean = () => false,
): AsyncGenerator<readonly Event[]> {
  const ask = (nextPageToken?: Uint8Array): Promise<HistoryPage<Event>> =>
    source.workflowService.getWorkflowExecutionHistory({
      namespace: source.namespace,
      execution,
      maximumPageSize: 256,
      waitNewEvent: follow,
      ...defined({ nextPageToken }),
    });
  for (let coming: Promise<HistoryPage<Event>> | undefined = ask(); coming !== undefined;) {
    const page: HistoryPage<Event> = await coming;
    const events = page.history?.events ?? [];
    const token = page.nextPageToken?.length ? page.nextPageToken : undefined;
    const ahead = follow || token === undefined ? undefined : ask(token);
    ahead?.catch(() => undefined);
    if (events.length > 0) yield events;
    coming = abandoned() || token === undefined ? undefined : (ahead ?? ask(token));
  }
}
