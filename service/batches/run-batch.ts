import { setMaxListeners } from 'node:events';
import type { BatchInput, BatchLine, BatchProgress } from '../../contract/batches';
import { codeOf, isFinal, messageOf } from '../../contract/errors';
import type { RunStatus } from '../../contract/events';
import { isEnded } from '../../contract/events';
import type { ServiceStore } from '../store/store';
import { inOrder } from './in-order';
import type { KeptLine } from './kept-lines';
import { keepRefusal, keptLines, refusalOf } from './kept-lines';

/** A repeated start finds its run. */
export interface LineRuns {
  start(line: BatchLine): Promise<void>;
  /** Waits until the run ends or waits for a person. */
  rests(line: BatchLine, signal: AbortSignal): Promise<void>;
  statusOf(line: BatchLine): Promise<RunStatus | undefined>;
}

export interface BatchWork {
  readonly store: ServiceStore;
  readonly runs: LineRuns;
  readonly signal: AbortSignal;
  /** Reports each step. A later attempt goes on from the last report, or from an earlier report. */
  readonly report: (progress: BatchProgress) => void;
}

const looksAtOnce = 8;

/** Starts the runs of all lines, and waits until none is at work. Returns early when the signal aborts. */
export async function startLines(batch: BatchInput, begin: BatchProgress, work: BatchWork): Promise<BatchProgress> {
  const starts = new Starts(batch, begin, work);
  await starts.all();
  return starts.progress;
}

class Starts {
  private readonly places = new Set<number>();
  /** Starts run side by side, and are reported in order. */
  private readonly begun: { readonly line: number; isStarted?: boolean }[] = [];
  private readonly starting = new Set<Promise<void>>();
  private readonly ending = new AbortController();
  private readonly signal: AbortSignal;
  private failure: { readonly error: unknown } | undefined;
  private wake: () => void = () => undefined;
  private nextStart = 0;

  constructor(
    private readonly batch: BatchInput,
    public progress: BatchProgress,
    private readonly work: BatchWork,
  ) {
    this.signal = AbortSignal.any([this.ending.signal, work.signal]);
    setMaxListeners(0, this.signal);
    this.signal.addEventListener('abort', () => this.wake());
  }

  async all(): Promise<void> {
    const { next, open } = this.progress;
    try {
      for await (const line of keptLines(this.work.store, this.batch)) {
        if (line.line < next) {
          if (open.includes(line.line)) this.hold(line);
          continue;
        }
        await this.until(() => this.places.size < this.batch.concurrency);
        await this.pace();
        if (this.signal.aborted) return;
        this.begin(line);
      }
      await this.until(() => this.places.size === 0);
    } finally {
      this.ending.abort();
      await Promise.all(this.starting);
    }
  }

  private begin(line: BatchLine): void {
    const one: (typeof this.begun)[number] = { line: line.line };
    this.begun.push(one);
    this.places.add(line.line);
    const starting = this.start(line)
      .then((isStarted) => {
        one.isStarted = isStarted;
        if (isStarted) this.hold(line);
        else this.places.delete(line.line);
        this.tellBegun();
      })
      .catch((error: unknown) => (this.failure ??= { error }))
      .then(() => {
        this.starting.delete(starting);
        this.wake();
      });
    this.starting.add(starting);
  }

  private tellBegun(): void {
    for (let [one] = this.begun; one?.isStarted !== undefined; [one] = this.begun) {
      const { started, refused } = this.progress;
      this.begun.shift();
      this.tell({ next: one.line + 1, ...(one.isStarted ? { started: started + 1 } : { refused: refused + 1 }) });
    }
  }

  /** A refusal is final, so that a later attempt does not start the line. */
  private async start(line: BatchLine): Promise<boolean> {
    const { batch, work } = this;
    if ((await refusalOf(work.store, batch, line)) !== undefined) return false;
    try {
      await work.runs.start(line);
      return true;
    } catch (error) {
      if (!isFinal(error)) throw error;
      await keepRefusal(work.store, batch, line, { code: codeOf(error) ?? 'internal', message: messageOf(error) });
      return false;
    }
  }

  /** A run that waits for a person gives its place back, so that the batch does not stand still. */
  private hold(line: BatchLine): void {
    this.places.add(line.line);
    this.work.runs
      .rests(line, this.signal)
      .then(() => {
        // A later attempt looks again at a run that the end of this attempt left.
        if (this.signal.aborted) return;
        this.places.delete(line.line);
        this.tell({});
      })
      .catch((error: unknown) => (this.failure ??= { error }))
      .finally(() => this.wake());
  }

  private tell(change: Partial<BatchProgress>): void {
    this.progress = { ...this.progress, ...change, open: [...this.places] };
    this.work.report(this.progress);
  }

  private async until(isSo: () => boolean): Promise<void> {
    for (;;) {
      if (this.failure !== undefined) throw this.failure.error;
      if (isSo() || this.signal.aborted) return;
      await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }

  private async pace(): Promise<void> {
    const { perMinute } = this.batch;
    if (perMinute === undefined) return;
    const now = Date.now();
    const at = Math.max(now, this.nextStart);
    this.nextStart = at + 60_000 / perMinute;
    if (at <= now) return;
    let isTime = false;
    const timer = setTimeout(() => {
      isTime = true;
      this.wake();
    }, at - now);
    await this.until(() => isTime).finally(() => clearTimeout(timer));
  }
}

/** Counts how runs have ended, in the order of the lines, up to a run that has not ended. */
export async function countEnds(batch: BatchInput, begin: BatchProgress, work: BatchWork): Promise<BatchProgress> {
  const { store, runs, signal, report } = work;
  let progress = begin;
  async function* left(): AsyncGenerator<KeptLine> {
    for await (const line of keptLines(store, batch, begin.chunk)) if (line.line >= begin.looked) yield line;
  }
  for await (const { line, chunk, status } of inOrder(left(), looksAtOnce, async (one) => ({ ...one, status: await runs.statusOf(one) }))) {
    if (signal.aborted || (status !== undefined && !isEnded(status))) return progress;
    const ended = status === undefined ? progress.ended : { ...progress.ended, [status]: progress.ended[status] + 1 };
    report((progress = { ...progress, looked: line + 1, chunk, ended }));
  }
  return { ...progress, chunk: batch.chunks };
}
