import type { Connection } from '@temporalio/client';
import type { Delta, DeltaSource } from '../contract/plain/deltas';
import type { RunEvent, RunView } from '../contract/plain/events';
import { HistoryFold } from '../contract/plain/fold';
import type { FactReader } from '../host/history-facts';
import type { HistorySource } from '../host/history-pages';
import { oldestPages } from '../host/history-pages';
import type { RunChain } from './chain';
import { LiveCalls, push } from './live-calls';

/** What one reader has yet to take. */
interface Reader {
  waiting: (RunEvent | Delta)[];
}

export interface ReadOptions {
  readonly from?: number;
  readonly until?: 'end' | 'waiting';
  readonly signal?: AbortSignal;
  /** Whether to tell what comes in while calls run. Default: yes. */
  readonly deltas?: boolean;
}

/** Follows one run's history, joins the deltas of its open calls, and keeps the durable log for whoever reads. One for each run and process. */
export class RunFollower {
  private readonly fold = new HistoryFold();
  private readonly log: RunEvent[] = [];
  private readonly readers = new Set<Reader>();
  private readonly live = new LiveCalls((delta) => this.showDelta(delta));
  private stopped = false;
  /** The page that is asked for now; the SDK leaves a listener on a signal for every call, so each call has its own. */
  private page = new AbortController();
  private caughtUp = false;
  private finished = false;
  private failure: unknown;
  private wake: () => void = () => undefined;
  private changed = new Promise<void>((resolve) => (this.wake = resolve));

  constructor(
    private readonly connection: Connection,
    private readonly namespace: string,
    private readonly reader: FactReader,
    private readonly deltas: DeltaSource,
    private readonly workflowId: string,
    chain: RunChain,
  ) {
    void this.follow(chain);
  }

  /** Events from an offset on, each exactly once and in order, until the run ends or, if asked, waits for somebody. */
  async *read({ from = 0, until = 'end', signal, deltas = true }: ReadOptions): AsyncGenerator<RunEvent | Delta> {
    const reader: Reader = { waiting: [...this.log, ...this.live.open] };
    this.readers.add(reader);
    let offset = from;
    try {
      for (;;) {
        const taken = reader.waiting;
        reader.waiting = [];
        for (const event of taken) {
          if (event.offset === undefined) {
            if (deltas) yield event;
          } else if (event.offset >= offset) {
            offset = event.offset + 1;
            yield event;
          }
        }
        if (reader.waiting.length > 0) continue;
        if (this.failure !== undefined) throw this.failure;
        if (this.finished || signal?.aborted === true) return;
        if (until === 'waiting' && this.caughtUp && this.fold.view().status !== 'running') return;
        await untilAborted(this.changed, signal);
      }
    } finally {
      this.readers.delete(reader);
    }
  }

  /** The view as soon as it is as new as the history was when following began. */
  async view(): Promise<RunView> {
    while (!this.caughtUp && !this.finished && this.failure === undefined) await this.changed;
    if (this.failure !== undefined) throw this.failure;
    return this.fold.view();
  }

  stop(): void {
    this.stopped = true;
    this.page.abort();
  }

  private async follow(chain: RunChain): Promise<void> {
    try {
      let runId: string | undefined = chain.firstRunId;
      while (runId !== undefined && !this.stopped) {
        await this.followOne(runId, chain);
        runId = this.fold.nextRunId;
      }
    } catch (error) {
      if (!this.stopped) this.failure = error;
    }
    this.finished = true;
    this.wake();
  }

  private async followOne(runId: string, chain: RunChain): Promise<void> {
    const unsubscribe = this.deltas.subscribe(runId, (delta) => this.live.take(delta));
    try {
      const source = { workflowService: this.abortableService(), namespace: this.namespace };
      const pages = oldestPages(source, { workflowId: this.workflowId, runId }, true, () => this.stopped);
      for await (const events of pages) {
        for (const fact of await this.reader.read(events, this.workflowId)) {
          for (const event of this.fold.add(fact)) this.showEvent(event);
          this.live.fact(fact);
        }
        const lastEvent = Number(events.at(-1)?.eventId ?? 0);
        if (runId === chain.latestRunId ? lastEvent >= chain.latestLength : chain.passed(runId)) this.caughtUp = true;
        this.notify();
      }
    } finally {
      unsubscribe();
    }
  }

  private showEvent(event: RunEvent): void {
    if (event.type === 'model-end' || event.type === 'tool-end') this.live.message(event);
    if (event.type === 'model-retry') this.live.retry(event);
    if (event.type === 'run-end') this.live.ending();
    this.log.push(event);
    for (const { waiting } of this.readers) waiting.push(event);
  }

  private showDelta(delta: Delta): void {
    for (const { waiting } of this.readers) push(waiting, delta);
    this.notify();
  }

  private abortableService(): HistorySource['workflowService'] {
    const { workflowService } = this.connection;
    return {
      getWorkflowExecutionHistory: (request: Parameters<typeof workflowService.getWorkflowExecutionHistory>[0]) => {
        this.page = new AbortController();
        return this.connection.withAbortSignal(this.page.signal, () => workflowService.getWorkflowExecutionHistory(request));
      },
      getWorkflowExecutionHistoryReverse: workflowService.getWorkflowExecutionHistoryReverse.bind(workflowService),
    };
  }

  private notify(): void {
    const { wake } = this;
    this.changed = new Promise((resolve) => (this.wake = resolve));
    wake();
  }
}

async function untilAborted(changed: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return changed;
  if (signal.aborted) return;
  let onAbort: () => void = () => undefined;
  const aborted = new Promise<void>((resolve) => (onAbort = resolve));
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    await Promise.race([changed, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
