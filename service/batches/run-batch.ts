import { setMaxListeners } from 'node:events';
import type { BatchEnds, BatchInput, BatchLine, BatchProgress } from '../../contract/batches';
import { codeOf, messageOf } from '../../contract/errors';
import type { RunStatus } from '../../contract/events';
import { isEnded } from '../../contract/events';
import type { ServiceStore } from '../store/store';
import { inOrder } from './in-order';
import { isFinal, keepRefusal, keptLines, refusalOf } from './kept-lines';

/** The runs of lines. A repeated start finds its run. */
export interface LineRuns {
  start(line: BatchLine): Promise<void>;
  /** Waits until the run ends or waits for a person. */
  rests(line: BatchLine, signal: AbortSignal): Promise<void>;
  /** Waits until the run ends. */
  ends(line: BatchLine, signal: AbortSignal): Promise<void>;
  statusOf(line: BatchLine): Promise<RunStatus | undefined>;
}

export interface BatchWork {
  readonly store: ServiceStore;
  readonly runs: LineRuns;
  readonly signal: AbortSignal;
  /** Reports each step. A later attempt goes on from the last report, or from an earlier report. */
  readonly report: (progress: BatchProgress) => void;
}

const endsAtOnce = 8;

/** Starts the runs of all lines, then waits for the end of each. Returns early when the signal aborts. */
export async function runBatch(batch: BatchInput, begin: BatchProgress, work: BatchWork): Promise<BatchProgress> {
  setMaxListeners(0, work.signal);
  const starts = new Starts(batch, begin, work);
  await starts.all();
  return work.signal.aborted ? starts.progress : countEnds(batch, starts.progress, work);
}

class Starts {
  progress: BatchProgress;
  private readonly places = new Set<number>();
  /** In the order of the lines. Starts run side by side, and are reported in order. */
  private readonly begun: { readonly line: number; readonly isNext: boolean; isStarted?: boolean }[] = [];
  private readonly starting = new Set<Promise<void>>();
  private readonly ending = new AbortController();
  private failure: { readonly error: unknown } | undefined;
  private wake: () => void = () => undefined;
  private nextStart = 0;

  constructor(
    private readonly batch: BatchInput,
    begin: BatchProgress,
    private readonly work: BatchWork,
  ) {
    this.progress = begin;
    setMaxListeners(0, this.ending.signal);
  }

  async all(): Promise<void> {
    const { batch, work, ending } = this;
    const { next, open } = this.progress;
    const again = new Set(open);
    const onAbort = (): void => {
      ending.abort();
      this.wake();
    };
    work.signal.addEventListener('abort', onAbort, { once: true });
    if (work.signal.aborted) onAbort();
    try {
      for await (const line of keptLines(work.store, batch)) {
        const isNext = line.line >= next;
        if (!isNext && !again.has(line.line)) continue;
        await this.until(() => this.places.size < batch.concurrency);
        if (isNext) await this.pace();
        if (ending.signal.aborted) return;
        this.begin(line, isNext);
      }
      await this.until(() => this.places.size === 0);
    } finally {
      work.signal.removeEventListener('abort', onAbort);
      ending.abort();
      await Promise.all(this.starting);
    }
  }

  /** A line holds its place from here on. */
  private begin(line: BatchLine, isNext: boolean): void {
    const one: (typeof this.begun)[number] = { line: line.line, isNext };
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
      const { started, refused, next } = this.progress;
      const counts = one.isStarted ? { started: started + 1 } : { refused: refused + 1 };
      this.begun.shift();
      this.tell(one.isNext ? { next: one.line + 1, ...counts } : { next });
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
    this.work.runs
      .rests(line, this.ending.signal)
      .then(
        () => {
          // A later attempt looks again at a run that the end of this attempt left.
          if (this.ending.signal.aborted) return;
          this.places.delete(line.line);
          this.tell({});
        },
        (error: unknown) => (this.failure ??= { error }),
      )
      .finally(() => this.wake());
  }

  private tell(change: Partial<BatchProgress>): void {
    this.progress = { ...this.progress, ...change, open: [...this.places] };
    this.work.report(this.progress);
  }

  private async until(isSo: () => boolean): Promise<void> {
    for (;;) {
      if (this.failure !== undefined) throw this.failure.error;
      if (isSo() || this.ending.signal.aborted) return;
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

/** Looks at each line once more: runs may have waited for a person, or ended while no service ran. */
async function countEnds(batch: BatchInput, begin: BatchProgress, { store, runs, signal, report }: BatchWork): Promise<BatchProgress> {
  let progress = begin;
  let known = begin.looked;
  async function* started(): AsyncGenerator<BatchLine> {
    for await (const line of keptLines(store, batch)) {
      if (signal.aborted) return;
      if ((begin.refused === 0 || (await refusalOf(store, batch, line)) === undefined) && known-- <= 0) yield line;
    }
  }
  const endOf = async (line: BatchLine): Promise<keyof BatchEnds | undefined> => {
    for (;;) {
      const status = await runs.statusOf(line);
      // The server no longer keeps a run that ended long ago.
      if (status === undefined || signal.aborted) return undefined;
      if (isEnded(status)) return status;
      await runs.ends(line, signal);
    }
  };
  for await (const status of inOrder(started(), endsAtOnce, endOf)) {
    if (signal.aborted) break;
    const { looked, ended } = progress;
    progress = { ...progress, looked: looked + 1, ended: status === undefined ? ended : { ...ended, [status]: ended[status] + 1 } };
    report(progress);
  }
  return progress;
}
