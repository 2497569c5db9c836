import type { RunCounts } from '../../contract/service-facts';
import type { Executions } from '../reading/executions';
import type { RunFilter } from './list-options';
import { countRetried } from './retried-runs';
import { clausesFor } from './run-lists';

/** Above this number, failed executions are not searched for retried runs. */
const mostLookedThrough = 200;
const keptMs = 5000;
const mostKept = 100;

type Counting = Pick<Executions, 'count' | 'countByStatus' | 'page'>;

/** Answers are shared for five seconds. */
export class RunCounter {
  private readonly kept = new Map<number, { readonly at: number; readonly answer: Promise<RunCounts> }>();

  constructor(
    private readonly executions: Counting,
    private readonly tenant: string,
    private readonly now: () => number = Date.now,
  ) {}

  /** `since` limits ended runs. */
  counts(since: number): Promise<RunCounts> {
    const at = this.now();
    const before = this.kept.get(since);
    if (before !== undefined && at - before.at < keptMs) return before.answer;
    for (const [key, known] of this.kept) if (at - known.at >= keptMs || this.kept.size >= mostKept) this.kept.delete(key);
    const answer = this.count(since);
    this.kept.set(since, { at, answer });
    answer.catch(() => this.kept.delete(since));
    return answer;
  }

  /** Counts now, also runs that ended long ago. */
  ofTag(tag: string): Promise<RunCounts> {
    return this.count(0, [tag]);
  }

  private async count(since: number, tags: readonly string[] = []): Promise<RunCounts> {
    const { executions, tenant } = this;
    const ended = `CloseTime >= '${new Date(since).toISOString()}'`;
    const queryFor = (status?: RunFilter['status']): string =>
      clausesFor({ tenant, tags, roles: [], ...(status === undefined ? {} : { status }) }).join(' AND ');
    const [byStatus, waiting, idle] = await Promise.all([
      executions.countByStatus(`${queryFor()} AND (ExecutionStatus = 'Running' OR ${ended})`),
      executions.count(queryFor('waiting')),
      executions.count(queryFor('idle')),
    ]);
    const of = (...statuses: readonly string[]): number => statuses.reduce((sum, status) => sum + (byStatus.get(status) ?? 0), 0);
    const failed = of('Failed', 'Terminated', 'TimedOut');
    const retried =
      failed > 0 && failed <= mostLookedThrough ? await countRetried(executions.page, `${queryFor('failed')} AND ${ended}`) : 0;
    return {
      running: Math.max(0, of('Running') - waiting - idle),
      waiting,
      idle,
      completed: of('Completed'),
      failed: failed - retried,
      cancelled: of('Canceled'),
      since: new Date(since).toISOString(),
    };
  }
}
