import type { Client, Connection, WorkflowHandle } from '@temporalio/client';
import type { LoadedDataConverter } from '@temporalio/common';
import type { RunEvent, RunView } from '../contract/plain/events';
import { HistoryFold } from '../contract/plain/fold';
import { FactReader } from '../host/history-facts';
import { oldestPages } from '../host/history-pages';
import { found, readChain } from './chain';
import { RunFollower } from './follower';

interface Shared {
  readonly follower: Promise<RunFollower>;
  readers: number;
}

/** Reads runs from their histories, without a worker. Readers of one run share one follower. */
export class RunReader {
  private readonly followers = new Map<string, Shared>();
  private readonly reader: FactReader;

  constructor(
    private readonly client: Client,
    private readonly connection: Connection,
    private readonly namespace: string,
    converter: LoadedDataConverter,
  ) {
    this.reader = new FactReader(converter);
  }

  handle(workflowId: string): WorkflowHandle {
    return this.client.workflow.getHandle(workflowId);
  }

  withDeadline<T>(deadline: number, run: () => Promise<T>): Promise<T> {
    return this.connection.withDeadline(deadline, run);
  }

  async *events(
    workflowId: string,
    id: string,
    options: { from?: number; until?: 'end' | 'waiting'; signal?: AbortSignal },
  ): AsyncGenerator<RunEvent> {
    const shared = this.share(workflowId, id);
    try {
      const follower = await shared.follower;
      yield* follower.read(options.from ?? 0, options.until ?? 'end', options.signal);
    } finally {
      this.leave(workflowId, shared);
    }
  }

  /** Folds the latest Temporal run only: its snapshot says what came before. */
  async view(workflowId: string, id: string): Promise<RunView> {
    const fold = new HistoryFold();
    const source = { workflowService: this.connection.workflowService, namespace: this.namespace };
    const { workflowExecutionInfo: info } = await found(
      this.connection.workflowService.describeWorkflowExecution({ namespace: this.namespace, execution: { workflowId } }),
      id,
    );
    for (let runId: string | undefined = info?.execution?.runId ?? ''; runId !== undefined; runId = fold.nextRunId) {
      for await (const events of oldestPages(source, { workflowId, runId }, false)) {
        for (const fact of await this.reader.read(events, workflowId)) fold.add(fact);
      }
    }
    return fold.view();
  }

  close(): void {
    for (const { follower } of this.followers.values()) {
      follower.then(
        (running) => running.stop(),
        () => undefined,
      );
    }
    this.followers.clear();
  }

  private share(workflowId: string, id: string): Shared {
    const known = this.followers.get(workflowId);
    if (known !== undefined) {
      known.readers += 1;
      return known;
    }
    const follower = readChain(this.connection, this.namespace, workflowId, id).then(
      (chain) => new RunFollower(this.connection, this.namespace, this.reader, workflowId, chain),
    );
    follower.catch(() => undefined);
    const shared: Shared = { follower, readers: 1 };
    this.followers.set(workflowId, shared);
    return shared;
  }

  private leave(workflowId: string, shared: Shared): void {
    shared.readers -= 1;
    if (shared.readers > 0) return;
    if (this.followers.get(workflowId) === shared) this.followers.delete(workflowId);
    shared.follower.then(
      (running) => running.stop(),
      () => undefined,
    );
  }
}
