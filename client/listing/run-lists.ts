import type { InterruptPage, ListedInterrupt, ListedRun, RunPage } from '../../contract/service';
import { defineSearchAttributeKey } from '@temporalio/common';
import { defined } from '../../contract/defined';
import { agentOfChildRun } from '../../contract/record/child-runs';
import type { EndStatus, ListStatus, RunStatus } from '../../contract/events';
import { mayAnswer as mayAnswerAt } from '../../contract/who-may-answer';
import { isOfTenant, names, runIdOf, workflowIdOf } from '../../contract/names';
import type { RunForCaller } from '../connection/authority';
import type { Executions, ListedExecution, OpenInterrupt } from '../reading/executions';
import { labelsIn, openInterruptsIn } from '../reading/executions';
import type { InterruptPlace, PageEnd } from './cursor';
import { compareInterrupts, cursorOf, pageEndOf } from './cursor';
import type { AskedList, InterruptListOptions, ListOptions, RunFilter } from './list-options';
import { askedList, filterOf, isAskable } from './list-options';
import type { PlacedRun } from './ordered-runs';
import { clausesOf, orderedRuns, startOf } from './ordered-runs';
import { countRetried, withoutRetried } from './retried-runs';

const mostAtOnce = 400;

const agentKey = defineSearchAttributeKey('HoldfastAgent', 'KEYWORD');
const statusKey = defineSearchAttributeKey('HoldfastStatus', 'KEYWORD');

export class RunLists {
  constructor(
    private readonly executions: Executions,
    private readonly tenant: string,
    private readonly now: () => number = Date.now,
  ) {}

  async runs(options: ListOptions): Promise<RunPage> {
    const asked = askedList('list', this.tenant, options);
    const { rows, more, next, filter } = await this.page(asked, (execution, { parent }) => [{ row: listedRun(execution, parent) }]);
    const isWhole = !more && asked.after === undefined;
    const total = !asked.total ? undefined : isWhole ? rows.length : await this.total(filter);
    return { runs: rows, more, ...defined({ next, total }) };
  }

  async interrupts(options: InterruptListOptions): Promise<InterruptPage> {
    const asked = askedList('interrupts', this.tenant, options);
    const { rows, more, next } = await this.page(asked, (execution, filter) =>
      openHere(execution, filter, this.now()).map((open) => ({ row: listedInterrupt(execution, open), interrupt: placeOf(open) })),
    );
    return { interrupts: rows, more, ...defined({ next }) };
  }

  private async page<Row>(
    asked: AskedList,
    rowsOf: (execution: ListedExecution, filter: RunFilter) => readonly { readonly row: Row; readonly interrupt?: InterruptPlace }[],
  ): Promise<{ readonly rows: readonly Row[]; readonly more: boolean; readonly next?: string; readonly filter: RunFilter }> {
    const end = pageEndOf(asked);
    const filter = { ...filterOf(asked, this.now()), ...end?.times };
    const rows: Row[] = [];
    let next = '';
    for await (const { place, execution } of this.ordered(asked, filter, end)) {
      if (!fitsHere(execution, filter, this.now())) continue;
      const seen = place.workflowId === end?.run.workflowId ? end.interrupt : undefined;
      for (const { row, interrupt } of rowsOf(execution, filter)) {
        if (seen !== undefined && interrupt !== undefined && compareInterrupts(interrupt, seen) <= 0) continue;
        if (rows.length === asked.limit) return { rows, more: true, next, filter };
        rows.push(row);
        next = cursorOf(asked, { run: place, times: timesOf(filter), ...defined({ interrupt }) });
      }
    }
    return { rows, more: false, filter };
  }

  private ordered(asked: AskedList, filter: RunFilter, end: PageEnd | undefined): AsyncGenerator<PlacedRun> {
    const { status, since, until } = filter;
    const { page: ask } = this.executions;
    // The last run may have more interrupts.
    const after = end && { ...end.run, isIncluded: asked.kind === 'interrupts' };
    return orderedRuns({
      ask: status === 'failed' ? async (...asked) => withoutRetried(ask, await ask(...asked)) : ask,
      clauses: clausesFor(filter),
      isOpenOnly: waitsOnly(filter) || ['open', 'running', 'idle'].includes(status ?? ''),
      want: Math.min(asked.limit + 1, mostAtOnce),
      ...defined({ since, until, after }),
    });
  }

  private async total(filter: RunFilter): Promise<number> {
    const { since, until, status } = filter;
    const window = clausesOf({ from: since, to: until === undefined ? undefined : until - 1 });
    const queryFor = (of: RunFilter): string => [...clausesFor(of), ...window].join(' AND ');
    const count = await this.executions.count(queryFor(filter));
    // Only failed executions are counted beside the last execution of a run.
    if (count === 0 || waitsOnly(filter) || (status !== undefined && status !== 'failed')) return count;
    return count - (await countRetried(this.executions.page, queryFor({ ...filter, status: 'failed' })));
  }
}

const statusClauses: Readonly<Record<ListStatus, string>> = {
  open: "ExecutionStatus = 'Running'",
  running: "ExecutionStatus = 'Running' AND (HoldfastStatus IS NULL OR (HoldfastStatus != 'waiting' AND HoldfastStatus != 'idle'))",
  waiting: "ExecutionStatus = 'Running' AND HoldfastStatus = 'waiting'",
  idle: "ExecutionStatus = 'Running' AND HoldfastStatus = 'idle'",
  completed: "ExecutionStatus = 'Completed'",
  failed: "(ExecutionStatus = 'Failed' OR ExecutionStatus = 'Terminated' OR ExecutionStatus = 'TimedOut')",
  cancelled: "ExecutionStatus = 'Canceled'",
};

export function clausesFor(filter: RunFilter): readonly string[] {
  const { tenant, id, parent, agent, tags, startedBy, status } = filter;
  const known = waitsOnly(filter) ? 'waiting' : status;
  return [
    `WorkflowType = '${names.workflow}'`,
    parent === undefined ? `HoldfastTenant = ${quoted(tenant)}` : `ParentWorkflowId = ${quoted(workflowIdOf(tenant, parent))}`,
    ...(id === undefined ? [] : [`WorkflowId STARTS_WITH ${quoted(workflowIdOf(tenant, id))}`]),
    // Isolated agents have no attribute for the agent.
    ...(agent === undefined || parent !== undefined ? [] : [`HoldfastAgent = ${quoted(agent)}`]),
    ...tags.filter(isAskable).map((tag) => `HoldfastTags = ${quoted(tag)}`),
    ...(startedBy === undefined || !isAskable(startedBy) ? [] : [`HoldfastStartedBy = ${quoted(startedBy)}`]),
    known === undefined ? "ExecutionStatus != 'ContinuedAsNew'" : statusClauses[known],
  ];
}

export function quoted(text: string): string {
  return `'${text.replace(/\\/g, '\\\\').replace(/'/g, "\\'")}'`;
}

function waitsOnly({ status, mayAnswer, waitingSince }: RunFilter): boolean {
  return status === 'waiting' || mayAnswer !== undefined || waitingSince !== undefined;
}

/** Filters that the server does not know exactly. */
function fitsHere(execution: ListedExecution, filter: RunFilter, at: number): boolean {
  const { parent, agent, tags, startedBy, mayAnswer, waitingSince } = filter;
  // SQLite ignores the case of tags.
  const labels = labelsIn(execution.typedSearchAttributes);
  if (!isOfTenant(execution.workflowId, filter.tenant)) return false;
  if (!tags.every((tag) => labels.tags.includes(tag)) || (startedBy !== undefined && labels.startedBy !== startedBy)) return false;
  if (parent !== undefined && agent !== undefined && agentOfChildRun(execution.workflowId) !== agent) return false;
  return (mayAnswer === undefined && waitingSince === undefined) || openHere(execution, filter, at).length > 0;
}

function openHere(execution: ListedExecution, { mayAnswer, roles, waitingSince }: RunFilter, at: number): readonly OpenInterrupt[] {
  return openIn(execution).filter(({ interrupt, since }) => {
    if (mayAnswer !== undefined && !mayAnswerAt(interrupt, { by: mayAnswer, roles }, at)) return false;
    return waitingSince === undefined || (since !== undefined && since <= waitingSince);
  });
}

function openIn({ memo }: ListedExecution): readonly OpenInterrupt[] {
  return [...openInterruptsIn(memo)].sort((one, other) => compareInterrupts(placeOf(one), placeOf(other)));
}

function placeOf({ interrupt, since = 0 }: OpenInterrupt): InterruptPlace {
  return { since, id: interrupt.id };
}

function timesOf({ since, until, waitingSince }: RunFilter): PageEnd['times'] {
  return defined({ since, until, waitingSince });
}

export function listedRun(execution: ListedExecution, parent?: string): ListedRun {
  const { workflowId, status, closeTime } = execution;
  const isOpen = status.name === 'RUNNING';
  const open = isOpen ? openIn(execution) : [];
  const agent = parent === undefined ? (execution.typedSearchAttributes.get(agentKey) ?? '') : agentOfChildRun(workflowId);
  return {
    id: runIdOf(workflowId),
    agent,
    status: isOpen ? openStatus(open.length > 0, execution.typedSearchAttributes.get(statusKey)) : endOf(status.name),
    startedAt: startOf(execution).toISOString(),
    interrupts: open.map(({ interrupt }) => interrupt),
    ...labelsIn(execution.typedSearchAttributes),
    ...defined({ closedAt: closeTime?.toISOString(), waitingSince: timeText(open[0]?.since), parent }),
  };
}

export function rowForCaller({ workflowId, typedSearchAttributes }: ListedExecution): RunForCaller {
  return { id: runIdOf(workflowId), agent: typedSearchAttributes.get(agentKey) ?? '', ...labelsIn(typedSearchAttributes) };
}

function listedInterrupt(execution: ListedExecution, { interrupt, since }: OpenInterrupt): ListedInterrupt {
  const { workflowId, typedSearchAttributes } = execution;
  return {
    runId: runIdOf(workflowId),
    agent: typedSearchAttributes.get(agentKey) ?? '',
    ...labelsIn(typedSearchAttributes),
    ...defined({ waitingSince: timeText(since) }),
    interrupt,
  };
}

function openStatus(hasInterrupts: boolean, attribute: unknown): RunStatus {
  if (hasInterrupts || attribute === 'waiting') return 'waiting';
  return attribute === 'idle' ? 'idle' : 'running';
}

export function endOf(status: string): EndStatus {
  if (status === 'COMPLETED') return 'completed';
  return status === 'CANCELLED' ? 'cancelled' : 'failed';
}

function timeText(milliseconds: number | undefined): string | undefined {
  return milliseconds === undefined ? undefined : new Date(milliseconds).toISOString();
}
