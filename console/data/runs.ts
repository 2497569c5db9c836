import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { ListedRun, RunCounts, RunPage, RunQuery } from '../../http/index';
import type { Polled } from './live';
import { usePoll } from './live';
import { compareRuns } from './run-order';
import { service } from './service';

/** The newest are asked for again and again, the others in turn. */
const newest = 200;
const atOnce = 1_000;
const everyMs = 1_500;
/** One question in so many is for older rows, and one for the number of all. */
const olderEvery = 3;
const totalEvery = 6;
const longestPauseMs = 8_000;

export interface RunsNow {
  /** Newest first. */
  readonly rows: readonly ListedRun[];
  /** Whether there are more behind them. */
  readonly more: boolean;
  /** How many there are in all, as far as it is known. */
  readonly total?: number;
}

/** The runs of a filter: the newest first, and more as somebody asks for them. What is known stays up to date. */
export class RunList {
  readonly now = signal<RunsNow | undefined>(undefined);
  readonly error = signal<unknown>(undefined);
  readonly noWorker = signal<RunPage['noWorker']>(undefined);
  readonly isLoading = signal(false);
  private known = new Map<string, ListedRun>();
  /** Where the loaded rows end. Undefined: at the end of all. */
  private deepest: string | undefined;
  private sweep: string | undefined;
  private total: number | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private asked = 0;
  private failures = 0;
  private isOpen = false;

  constructor(private readonly query: Omit<RunQuery, 'limit' | 'after' | 'total'>) {}

  open(): void {
    this.isOpen = true;
    void this.refresh();
  }

  close(): void {
    this.isOpen = false;
    clearTimeout(this.timer);
  }

  /** Asks for the newest now. */
  readonly refresh = async (): Promise<void> => {
    clearTimeout(this.timer);
    const count = this.asked++;
    try {
      const wantsTotal = count % totalEvery === 0;
      const page = await service.list({ ...this.query, limit: newest, ...(wantsTotal ? { total: true } : {}) });
      if (wantsTotal) this.total = page.total;
      this.noWorker.value = page.noWorker;
      if (this.now.peek() === undefined || this.known.size <= page.runs.length) this.deepest = page.next;
      this.take(page.runs, undefined, page.next);
      if (count % olderEvery === olderEvery - 1) await this.sweepOne(page);
      this.failures = 0;
      this.error.value = undefined;
      this.show();
    } catch (error) {
      this.failures++;
      this.error.value = error;
    }
    if (!this.isOpen || document.visibilityState !== 'visible') return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.refresh(), this.failures === 0 ? everyMs : Math.min(longestPauseMs, 500 * 2 ** this.failures));
  };

  /** Loads those behind the last one. */
  readonly loadMore = async (): Promise<void> => {
    const after = this.deepest;
    if (after === undefined || this.isLoading.peek()) return;
    this.isLoading.value = true;
    try {
      const page = await service.list({ ...this.query, limit: atOnce, after });
      for (const run of page.runs) this.known.set(run.id, run);
      this.deepest = page.next;
      this.show();
    } catch (error) {
      this.error.value = error;
    } finally {
      this.isLoading.value = false;
    }
  };

  /** Older rows, a page in turn. */
  private async sweepOne(first: RunPage): Promise<void> {
    const after = this.sweep ?? first.next;
    if (after === undefined || this.known.size <= newest) return;
    const from = this.sweepFrom ?? first.runs.at(-1);
    const page = await service.list({ ...this.query, limit: atOnce, after });
    const last = page.runs.at(-1);
    // What nobody has loaded is not shown by the way.
    const oldest = this.rows().at(-1);
    const loaded = page.runs.filter((run) => oldest === undefined || compareRuns(run, oldest) <= 0);
    this.take(loaded, from, loaded.length < page.runs.length ? undefined : page.next);
    const isEnd = page.next === undefined || last === undefined || loaded.length < page.runs.length;
    this.sweep = isEnd ? undefined : page.next;
    this.sweepFrom = isEnd ? undefined : last;
  }

  private sweepFrom: ListedRun | undefined;

  /** A page says of its whole range what is in it. What it has no more does not fit the filter any more. */
  private take(runs: readonly ListedRun[], from: ListedRun | undefined, next: string | undefined): void {
    const last = runs.at(-1);
    const came = new Set(runs.map(({ id }) => id));
    if (from === undefined)
      for (const known of this.known.values()) {
        const isInside = last === undefined || next === undefined ? next === undefined : compareRuns(known, last) <= 0;
        if (isInside && !came.has(known.id)) this.known.delete(known.id);
      }
    else
      for (const known of this.known.values())
        if (last !== undefined && compareRuns(known, from) > 0 && compareRuns(known, last) <= 0 && !came.has(known.id))
          this.known.delete(known.id);
    for (const run of runs) this.known.set(run.id, run);
  }

  private rows(): readonly ListedRun[] {
    return [...this.known.values()].sort(compareRuns);
  }

  private show(): void {
    const rows = this.rows();
    const before = this.now.peek();
    const more = this.deepest !== undefined;
    const total = more ? this.total : rows.length;
    if (before !== undefined && before.more === more && before.total === total && isSame(before.rows, rows)) return;
    this.now.value = { rows, more, ...(total === undefined ? {} : { total }) };
  }
}

function isSame(one: readonly ListedRun[], other: readonly ListedRun[]): boolean {
  return one.length === other.length && one.every((run, at) => isSameRow(run, other[at]));
}

function isSameRow(one: ListedRun, other: ListedRun | undefined): boolean {
  return (
    one === other ||
    (other !== undefined &&
      one.id === other.id &&
      one.status === other.status &&
      one.closedAt === other.closedAt &&
      one.waitingSince === other.waitingSince &&
      one.interrupts.length === other.interrupts.length &&
      one.interrupts.every(({ id }, at) => id === other.interrupts[at]?.id))
  );
}

/** The list as long as the component is shown. */
export function useOpenList(list: RunList): void {
  useEffect(() => {
    list.open();
    const look = (): void => {
      if (document.visibilityState === 'visible') void list.refresh();
    };
    document.addEventListener('visibilitychange', look);
    addEventListener('online', look);
    return () => {
      document.removeEventListener('visibilitychange', look);
      removeEventListener('online', look);
      list.close();
    };
  }, [list]);
}

/** The counts of today, by the day of whoever looks. */
export function useCounts(): Polled<RunCounts> {
  const since = new Date(new Date().setHours(0, 0, 0, 0)).toISOString();
  return usePoll(`counts ${since}`, () => service.counts({ since }), 5_000);
}

/** The isolated agents of the runs that somebody has opened. */
export class IsolatedAgents {
  /** Undefined: they are on their way. */
  readonly now = signal<ReadonlyMap<string, readonly ListedRun[] | undefined>>(new Map());
  private timer: ReturnType<typeof setTimeout> | undefined;

  toggle(id: string): void {
    const next = new Map(this.now.peek());
    if (!next.delete(id)) next.set(id, undefined);
    this.now.value = next;
    void this.refresh();
  }

  close(): void {
    clearTimeout(this.timer);
  }

  private async refresh(): Promise<void> {
    clearTimeout(this.timer);
    await Promise.all([...this.now.peek().keys()].map((id) => this.refreshOne(id)));
    clearTimeout(this.timer);
    if (this.now.peek().size > 0) this.timer = setTimeout(() => void this.refresh(), 3_000);
  }

  private async refreshOne(id: string): Promise<void> {
    const runs = await service.list({ parent: id, limit: 200 }).then(
      (page) => page.runs,
      () => undefined,
    );
    const known = this.now.peek();
    const before = known.get(id);
    if (runs === undefined || !known.has(id) || (before !== undefined && isSame(before, runs))) return;
    this.now.value = new Map(known).set(id, runs);
  }
}
