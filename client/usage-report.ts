import type { Forms } from '../contract/check';
import { oneOf } from '../contract/check';
import type { Usage } from '../contract/messages/messages';
import { isOfTenant, names, workflowIdOf } from '../contract/names';
import type { UsageGroup, UsageReport, UsageRow } from '../contract/service-facts';
import { usageGroups } from '../contract/service-facts';
import { HoldfastError } from '../contract/errors';
import type { UsageByModel } from '../contract/usage';
import { addModelUsage, addUsage, noUsage } from '../contract/usage';
import type { ListTime } from './listing/list-options';
import { listTime, timeOf } from './listing/list-options';
import { optionsOf } from './connection/options';
import type { ModelCallUsage } from './reading/execution-usage';
import type { Executions, ListedExecution } from './reading/executions';
import { pagesOf } from './reading/executions';

export interface UsageOptions {
  /** Default: by agent. */
  readonly by?: UsageGroup;
  /** Calls that returned at this time or later. Default: 24 hours ago. */
  readonly since?: ListTime;
  /** Calls that returned before this time. Default: now. */
  readonly until?: ListTime;
}

interface UsageSource {
  readonly executions: Pick<Executions, 'page'>;
  calls(workflowId: string, runId: string): Promise<readonly ModelCallUsage[]>;
}

const forms: Forms<UsageOptions> = { by: oneOf(...usageGroups), since: listTime, until: listTime };

const mostExecutions = 5000;
const readAtOnce = 8;
/** The next report reads the rest. */
const readingMs = 4000;
/** Then an open execution is read again. */
const openKeptMs = 15_000;
const mostKeptCalls = 300_000;

interface Kept {
  readonly calls: Promise<readonly ModelCallUsage[]>;
  readonly isOpen: boolean;
  readonly at: number;
}

/** Only histories have the usage of model calls. An ended execution is read once. */
export class UsageReports {
  private readonly kept = new Map<string, Kept>();
  private keptCalls = 0;

  constructor(
    private readonly source: UsageSource,
    private readonly tenant: string,
    private readonly now: () => number = Date.now,
  ) {}

  async report(options: UsageOptions): Promise<UsageReport> {
    const { by = 'agent', since: from = '24h', until: to } = optionsOf<UsageOptions>(options, 'usage', forms);
    const now = this.now();
    const since = timeOf(from, now) ?? now;
    const until = to === undefined ? now : (timeOf(to, now) ?? now);
    if (since >= until) throw new HoldfastError('request-invalid', 'usage: since must be before until.');
    const { executions, more } = await this.executionsIn(since, until);
    const { read, left, unreadable } = await this.read(executions);
    const calls = read.flat().filter(({ time }) => time >= since && time < until);
    return {
      by,
      since: new Date(since).toISOString(),
      until: new Date(until).toISOString(),
      ...sumsOf(calls, by),
      counted: read.length,
      left,
      unreadable,
      more,
      uncounted: calls.filter(({ usage }) => usage.inputTokens === 0 && usage.outputTokens === 0).length,
    };
  }

  private async executionsIn(since: number, until: number): Promise<{ executions: readonly ListedExecution[]; more: boolean }> {
    const query = [
      `WorkflowType = '${names.workflow}'`,
      `WorkflowId STARTS_WITH '${workflowIdOf(this.tenant, '')}'`,
      // Whole minutes: reports of one minute share a query.
      `StartTime <= '${new Date(Math.ceil(until / 60_000) * 60_000).toISOString()}'`,
      `(ExecutionStatus = 'Running' OR CloseTime >= '${new Date(Math.floor(since / 60_000) * 60_000).toISOString()}')`,
    ].join(' AND ');
    const executions: ListedExecution[] = [];
    for await (const page of pagesOf(this.source.executions.page, query)) {
      executions.push(...page.executions.filter(({ workflowId }) => isOfTenant(workflowId, this.tenant)));
      if (page.token !== undefined && executions.length >= mostExecutions) return { executions, more: true };
    }
    return { executions, more: false };
  }

  private async read(executions: readonly ListedExecution[]): Promise<{
    readonly read: readonly (readonly ModelCallUsage[])[];
    readonly left: number;
    readonly unreadable: number;
  }> {
    const until = this.now() + readingMs;
    const read: (readonly ModelCallUsage[])[] = [];
    let [left, unreadable] = [0, 0];
    const queue = executions.values();
    const work = async (): Promise<void> => {
      for (const execution of queue) {
        const known = this.keptOf(execution);
        if (known === undefined && this.now() >= until) left += 1;
        else
          try {
            read.push(await (known ?? this.readOne(execution)));
          } catch {
            unreadable += 1;
          }
      }
    };
    await Promise.all(Array.from({ length: readAtOnce }, work));
    return { read, left, unreadable };
  }

  private keptOf({ runId, status }: ListedExecution): Promise<readonly ModelCallUsage[]> | undefined {
    const kept = this.kept.get(runId);
    if (kept === undefined) return undefined;
    const isOpen = status.name === 'RUNNING';
    return kept.isOpen && (!isOpen || this.now() - kept.at > openKeptMs) ? undefined : kept.calls;
  }

  private readOne({ workflowId, runId, status }: ListedExecution): Promise<readonly ModelCallUsage[]> {
    const calls = this.source.calls(workflowId, runId);
    const kept = { calls, isOpen: status.name === 'RUNNING', at: this.now() };
    this.kept.delete(runId);
    this.kept.set(runId, kept);
    calls.then(
      (found) => this.keep(found.length),
      () => this.kept.get(runId) === kept && this.kept.delete(runId),
    );
    return calls;
  }

  /** An execution without calls also takes memory. */
  private keep(calls: number): void {
    this.keptCalls += calls + 1;
    if (this.keptCalls <= mostKeptCalls) return;
    this.kept.clear();
    this.keptCalls = 0;
  }
}

function sumsOf(calls: readonly ModelCallUsage[], by: UsageGroup): Pick<UsageReport, 'rows' | 'total'> {
  const groups = new Map<string, ModelCallUsage[]>();
  for (const call of calls) {
    const key = keyOf(call, by);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [call]);
    else group.push(call);
  }
  const rows = [...groups].map(([key, group]) => ({ key, ...sumOf(group) }));
  const tokens = ({ usage }: UsageRow): number => usage.inputTokens + usage.outputTokens;
  rows.sort((one, other) =>
    by === 'day' ? (one.key < other.key ? -1 : 1) : tokens(other) - tokens(one) || (one.key < other.key ? -1 : 1),
  );
  return { rows, total: sumOf(calls) };
}

function keyOf({ time, agent, model }: ModelCallUsage, by: UsageGroup): string {
  if (by === 'day') return new Date(time).toISOString().slice(0, 10);
  return by === 'agent' ? agent : model;
}

function sumOf(calls: readonly ModelCallUsage[]): UsageReport['total'] {
  let [usage, usageByModel]: [Usage, UsageByModel] = [noUsage, {}];
  const models = new Map<string, Usage>();
  for (const call of calls) {
    usage = addUsage(usage, call.usage);
    models.set(call.model, addUsage(models.get(call.model) ?? noUsage, call.usage));
  }
  for (const [model, used] of models) usageByModel = addModelUsage(usageByModel, model, used);
  return { calls: calls.length, usage, usageByModel };
}
