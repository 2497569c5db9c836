import { signal } from '@preact/signals';
import type { ListedRun, RunPage, RunQuery } from '../../client/http/index';
import { compareRuns } from './run-order';
import { service } from './service';

const newest = 200;
const atOnce = 1_000;
/** Every third question asks for older rows, and every sixth for the total. */
const olderEvery = 3;
const totalEvery = 6;

interface RunsNow {
  readonly rows: readonly ListedRun[];
  readonly more: boolean;
  readonly total?: number;
}

let made = 0;

export class RunList {
  readonly key = `runs ${++made}`;
  readonly now = signal<RunsNow | undefined>(undefined);
  readonly error = signal<unknown>(undefined);
  readonly noWorker = signal<RunPage['noWorker']>(undefined);
  readonly isLoading = signal(false);
  private known = new Map<string, ListedRun>();
  /** The end of the loaded rows. Undefined: all rows are loaded. */
  private deepest: string | undefined;
  /** The next question for older rows, and the row above. Undefined: after the newest rows. */
  private sweep: string | undefined;
  private sweepFrom: ListedRun | undefined;
  private total: number | undefined;
  private asked = 0;

  constructor(private readonly query: Omit<RunQuery, 'limit' | 'after' | 'total'>) {}

  readonly ask = async (): Promise<void> => {
    const count = this.asked++;
    const wantsTotal = count % totalEvery === 0;
    const page = await service.list({ ...this.query, limit: newest, ...(wantsTotal ? { total: true } : {}) });
    if (wantsTotal) this.total = page.total;
    this.noWorker.value = page.noWorker;
    if (this.now.peek() === undefined || this.known.size <= page.runs.length) this.deepest = page.next;
    this.take(page.runs, undefined, page.next);
    if (count % olderEvery === olderEvery - 1) await this.sweepOne(page);
    this.error.value = undefined;
    this.show();
  };

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

  private async sweepOne(first: RunPage): Promise<void> {
    const after = this.sweep ?? first.next;
    if (after === undefined || this.known.size <= newest) return;
    const from = this.sweepFrom ?? first.runs.at(-1);
    const page = await service.list({ ...this.query, limit: atOnce, after });
    const oldest = this.rows().at(-1);
    const loaded = page.runs.filter((run) => oldest === undefined || compareRuns(run, oldest) <= 0);
    const isEnd = page.next === undefined || loaded.length < page.runs.length;
    this.take(loaded, from, isEnd ? undefined : page.next);
    this.sweep = isEnd ? undefined : page.next;
    this.sweepFrom = isEnd ? undefined : page.runs.at(-1);
  }

  /** A known row missing in this range no longer fits. */
  private take(runs: readonly ListedRun[], from: ListedRun | undefined, next: string | undefined): void {
    const last = runs.at(-1);
    const came = new Set(runs.map(({ id }) => id));
    const isAll = from === undefined && next === undefined;
    for (const known of this.known.values()) {
      const isBefore = from !== undefined && compareRuns(known, from) <= 0;
      const isAfter = !isAll && (last === undefined || compareRuns(known, last) > 0);
      if (!isBefore && !isAfter && !came.has(known.id)) this.known.delete(known.id);
    }
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
  return one.length === other.length && one.every((run, at) => run === other[at] || JSON.stringify(run) === JSON.stringify(other[at]));
}

export class IsolatedAgents {
  readonly key = `isolated ${++made}`;
  /** Undefined: the answer is on its way. */
  readonly now = signal<ReadonlyMap<string, readonly ListedRun[] | undefined>>(new Map());

  toggle(id: string): void {
    const next = new Map(this.now.peek());
    if (!next.delete(id)) next.set(id, undefined);
    this.now.value = next;
    void this.ask();
  }

  readonly ask = async (): Promise<void> => {
    await Promise.all([...this.now.peek().keys()].map((id) => this.askOne(id)));
  };

  private async askOne(id: string): Promise<void> {
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
