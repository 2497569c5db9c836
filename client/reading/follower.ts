import type { Delta, DeltaSource } from '../../contract/deltas';
import { HoldfastError } from '../../contract/errors';
import type { RunEvent } from '../../contract/events';
import { HistoryFold } from '../../contract/record/fold';
import { factSource } from '../../host/history/history-connection';
import type { FactEvent } from '../../host/history/history-facts';
import type { HistorySource } from '../../host/history/history-pages';
import { oldestPages } from '../../host/history/history-pages';
import { closedClient } from '../connection/open-work';
import { settleDoubt } from './doubtful-task';
import type { Histories, HistoryMark, RunChain } from './histories';
import { LiveCalls, push } from './live-calls';

const doubtMs = 1000;

interface Reader {
  waiting: (RunEvent | Delta)[];
}

export interface ReadOptions {
  readonly from?: number;
  readonly until?: 'end' | 'waiting';
  readonly signal?: AbortSignal;
  /** Whether to add deltas of open calls. Default: true. */
  readonly deltas?: boolean;
}

export class RunFollower {
  /** The end of the chain. A failed run may be retried later. */
  readonly over: Promise<void>;
  readonly mark: HistoryMark;
  private readonly fold = new HistoryFold();
  private readonly log: RunEvent[] = [];
  private readonly readers = new Set<Reader>();
  private readonly live = new LiveCalls((delta) => this.showDelta(delta));
  private stopped = false;
  /** The SDK leaves a listener on each call's signal, so each call has its own signal. */
  private page = new AbortController();
  private readonly followed = new Map<string, number>();
  private current = '';
  private finished = false;
  private lookedAt = 0;
  private failure: unknown;
  private wake: () => void = () => undefined;
  private changed = new Promise<void>((resolve) => (this.wake = resolve));

  constructor(
    private readonly histories: Histories,
    private readonly deltas: DeltaSource,
    private readonly workflowId: string,
    chain: RunChain,
  ) {
    this.mark = chain.mark;
    this.over = this.follow(chain);
  }

  /**
   * Yields each event once and in order, until the run ends or, if asked, waits for a person. `mark`: the history's length when the reader
   * came, because this follower may have read less. Returns the next offset of a run beyond this chain.
   */
  async *read(
    { from = 0, until = 'end', signal, deltas = true }: ReadOptions,
    mark: HistoryMark,
  ): AsyncGenerator<RunEvent | Delta, number | undefined> {
    const reader: Reader = { waiting: [...this.log, ...this.live.open] };
    this.readers.add(reader);
    let offset = from;
    let hasLooked = false;
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
        if (signal?.aborted === true) return undefined;
        if (this.stopped && !this.fold.ended) throw closedClient();
        if (this.finished && !this.followed.has(mark.runId)) return offset;
        // A failed or cancelled run may have gone on.
        if (from > this.nextOffset && (this.finished || this.isPast(mark))) throw beyondEnd(from, this.nextOffset);
        if (this.finished) return undefined;
        if (until === 'waiting' && this.isPast(mark) && this.fold.view().status !== 'running') {
          if (this.fold.doubt === undefined || hasLooked) return undefined;
          hasLooked = true;
          await this.look();
          continue;
        }
        if (until === 'waiting' && this.fold.inDoubt) await this.lookOrWait(signal);
        else await untilAborted(this.changed, signal);
      }
    } finally {
      this.readers.delete(reader);
    }
  }

  get nextOffset(): number {
    return this.fold.nextOffset;
  }

  stop(): void {
    this.stopped = true;
    this.page.abort();
    this.notify();
  }

  private async follow(chain: RunChain): Promise<void> {
    try {
      let runId: string | undefined = chain.firstRunId;
      const { mark } = chain;
      for (let isPast = false; runId !== undefined && !this.stopped;) {
        // A long poll takes several times as long as a read of an ended Temporal run.
        const mayGrow: boolean = isPast || (runId === mark.runId && mark.isClosed !== true);
        isPast ||= runId === mark.runId;
        await this.followOne(runId, mayGrow);
        runId = this.fold.nextRunId ?? chain.retries.get(runId);
      }
    } catch (error) {
      if (!this.stopped) this.failure = error;
    }
    this.finished = true;
    this.wake();
  }

  private async followOne(runId: string, mayGrow: boolean): Promise<void> {
    this.current = runId;
    const unsubscribe = this.deltas.subscribe(runId, (delta) => this.live.take(delta));
    try {
      const pages = oldestPages(this.abortableSource(), { workflowId: this.workflowId, runId }, mayGrow, () => this.stopped);
      for await (const events of pages) {
        for (const fact of await this.histories.reader.read(events, this.workflowId)) {
          const ended = this.live.endOf(fact);
          if (ended !== undefined) await this.deltas.settled?.(runId, ended);
          for (const event of this.fold.add(fact)) this.showEvent(event);
          this.live.fact(fact);
        }
        const last = events.at(-1)?.eventId;
        if (last != null) this.followed.set(runId, Number(last));
        this.notify();
      }
    } finally {
      unsubscribe();
    }
  }

  /** A Temporal run with a successor was read to the end, whatever length the server reported. */
  private isPast({ runId, length }: HistoryMark): boolean {
    const last = this.followed.get(runId);
    return last !== undefined && (last >= length || runId !== this.current);
  }

  /** Only the server knows whether a doubtful workflow task fails by itself. */
  private async lookOrWait(signal: AbortSignal | undefined): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const moment = new Promise<void>((resolve) => (timer = setTimeout(resolve, doubtMs)));
    await untilAborted(Promise.race([this.changed, moment]), signal);
    clearTimeout(timer);
    // Deltas come more often than news of the task.
    if (Date.now() - this.lookedAt < doubtMs) return;
    await this.look();
  }

  private async look(): Promise<void> {
    this.lookedAt = Date.now();
    const { pendingWorkflowTask } = await this.histories.describe(this.workflowId, this.current);
    settleDoubt(this.fold, pendingWorkflowTask);
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

  private abortableSource(): HistorySource<FactEvent> {
    const { connection } = this.histories;
    const { namespace, workflowService } = factSource(connection, this.histories.namespace);
    return {
      namespace,
      workflowService: {
        getWorkflowExecutionHistory: (request) => {
          this.page = new AbortController();
          return connection.withAbortSignal(this.page.signal, () => workflowService.getWorkflowExecutionHistory(request));
        },
        getWorkflowExecutionHistoryReverse: (request) => workflowService.getWorkflowExecutionHistoryReverse(request),
      },
    };
  }

  private notify(): void {
    const { wake } = this;
    this.changed = new Promise((resolve) => (this.wake = resolve));
    wake();
  }
}

export function beyondEnd(from: number, nextOffset: number): HoldfastError {
  return new HoldfastError(
    'request-invalid',
    `events: from is ${from}, and the next event of this run has the offset ${nextOffset}: it is of another run. Begin without it.`,
  );
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
