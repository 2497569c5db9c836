import type { InterruptPage, ListedInterrupt, ListedRun, RunPage } from '../../contract/service';
import { defineSearchAttributeKey } from '@temporalio/common';
import { defined } from '../../contract/defined';
import { agentOfChildRun } from '../../contract/record/child-runs';
import type { ListStatus, RunStatus } from '../../contract/events';
import { mayAnswer as mayAnswerAt } from '../../contract/who-may-answer';
import { names, runIdOf, workflowIdOf } from '../../contract/names';
import type { Executions, ListedExecution, OpenInterrupt } from '../reading/executions';
import { labelsIn, openInterruptsIn } from '../reading/executions';
import type { InterruptPlace, PageEnd, RunPlace } from './cursor';
import { compareInterrupts, cursorOf, pageEndOf } from './cursor';
import type { AskedList, InterruptListOptions, ListOptions, RunFilter } from './list-options';
import { askedList, filterOf, isAskable } from './list-options';
import type { AskPage, PlacedRun } from './ordered-runs';
import { clausesOf, orderedRuns, startOf } from './ordered-runs';
import { countRetried, withoutRetried } from './retried-runs';

/** So many runs at most are asked for at a time. */
const mostAtOnce = 400;

const agentKey = defineSearchAttributeKey('HoldfastAgent', 'KEYWORD');
const statusKey = defineSearchAttributeKey('HoldfastStatus', 'KEYWORD');

/** The lists of a client. They need no worker. */
export class RunLists {
  constructor(
    private readonly executions: Executions,
    private readonly tenant: string,
    private readonly now: () => number = Date.now,
  ) {}

  async runs(options: ListOptions): Promise<RunPage> {
    const asked = askedList('list', this.tenant, options);
    const end = pageEndOf(asked);
    const filter = { ...filterOf(asked, this.now()), ...end?.times };
    const rows: { readonly row: ListedRun; readonly place: RunPlace }[] = [];
    let more = false;
    for await (const { place, execution } of this.ordered(asked, filter, end?.run)) {
      if (!fitsHere(execution, filter, this.now())) continue;
      more = rows.length === asked.limit;
      if (more) break;
      rows.push({ row: listedRun(execution, filter), place });
    }
    const last = rows.at(-1);
    const next = more && last !== undefined ? cursorOf(asked, { run: last.place, times: timesOf(filter) }) : undefined;
    const runs = rows.map(({ row }) => row);
    const isWhole = !more && end === undefined;
    const total = !asked.total ? undefined : isWhole ? runs.length : await this.total(filter);
    return { runs, more, ...defined({ next, total }) };
  }

  async interrupts(options: InterruptListOptions): Promise<InterruptPage> {
    const asked = askedList('interrupts', this.tenant, options);
    const end = pageEndOf(asked);
    const filter = { ...filterOf(asked, this.now()), ...end?.times };
    const rows: { readonly row: ListedInterrupt; readonly run: RunPlace; readonly interrupt: InterruptPlace }[] = [];
    let more = false;
    const from = end === undefined ? undefined : { ...end.run, isIncluded: true as const };
    for await (const { place, execution } of this.ordered(asked, filter, from)) {
      if (!fitsHere(execution, filter, this.now())) continue;
      const seen = place.workflowId === end?.run.workflowId ? end.interrupt : undefined;
      for (const open of openHere(execution, filter, this.now())) {
        const interrupt = placeOf(open);
        if (seen !== undefined && compareInterrupts(interrupt, seen) <= 0) continue;
        more = rows.length === asked.limit;
        if (more) break;
        rows.push({ row: listedInterrupt(execution, open), run: place, interrupt });
      }
      if (more) break;
    }
    const last = rows.at(-1);
    const next = more && last !== undefined ? cursorOf(asked, { ...last, times: timesOf(filter) }) : undefined;
    return { interrupts: rows.map(({ row }) => row), more, ...defined({ next }) };
  }

  private ordered(asked: AskedList, filter: RunFilter, after?: RunPlace & { readonly isIncluded?: true }): AsyncGenerator<PlacedRun> {
    const { status, since, until } = filter;
    const ask: AskPage = (query, size, token) => this.executions.page(query, size, token);
    return orderedRuns({
      ask: status === 'failed' ? async (...asked) => withoutRetried(ask, await ask(...asked)) : ask,
      clauses: clausesFor(filter),
      isOpenOnly: waitsOnly(filter) || ['open', 'running', 'idle'].includes(status ?? ''),
      // One more says whether there are more.
      want: Math.min(asked.limit + 1, mostAtOnce),
      ...defined({ since, until, after }),
    });
  }

  private async total(filter: RunFilter): Promise<number> {
    const { since, until, status } = filter;
    const window = clausesOf({ from: since, to: until === undefined ? undefined : until - 1 });
    const queryFor = (of: RunFilter): string => [...clausesFor(of), ...window].join(' AND ');
    const count = await this.executions.count(queryFor(filter));
    // Only there an execution stands beside the last one of its run.
    if (count === 0 || waitsOnly(filter) || (status !== undefined && status !== 'failed')) return count;
    const ask: AskPage = (query, size, token) => this.executions.page(query, size, token);
    return count - (await countRetried(ask, queryFor({ ...filter, status: 'failed' })));
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
    // Isolated agents have no attribute that says which one they are.
    ...(agent === undefined || parent !== undefined ? [] : [`HoldfastAgent = ${quoted(agent)}`]),
    ...tags.filter(isAskable).map((tag) => `HoldfastTags = ${quoted(tag)}`),
    ...(startedBy === undefined || !isAskable(startedBy) ? [] : [`HoldfastStartedBy = ${quoted(startedBy)}`]),
    known === undefined ? "ExecutionStatus != 'ContinuedAsNew'" : statusClauses[known],
  ];
}

function quoted(text: string): string {
  return `'${text.replace(/\\/g, '\\\\').replace(/'/g, "\\'")}'`;
}

function waitsOnly({ status, mayAnswer, waitingSince }: RunFilter): boolean {
  return status === 'waiting' || mayAnswer !== undefined || waitingSince !== undefined;
}

/** What the server does not know, or not exactly. */
function fitsHere(execution: ListedExecution, filter: RunFilter, at: number): boolean {
  const { parent, agent, tags, startedBy, mayAnswer, waitingSince } = filter;
  // SQLite takes small and capital letters of tags for the same.
  const labels = labelsIn(execution.typedSearchAttributes);
  if (!tags.every((tag) => labels.tags.includes(tag)) || (startedBy !== undefined && labels.startedBy !== startedBy)) return false;
  if (parent !== undefined && agent !== undefined && agentOfChildRun(execution.workflowId) !== agent) return false;
  return (mayAnswer === undefined && waitingSince === undefined) || openHere(execution, filter, at).length > 0;
}

function openHere(execution: ListedExecution, { mayAnswer, roles, waitingSince }: RunFilter, at: number): readonly OpenInterrupt[] {
  return openInterruptsIn(execution.memo)
    .filter(({ interrupt, since }) => {
      if (mayAnswer !== undefined && !mayAnswerAt(interrupt, { by: mayAnswer, roles }, at)) return false;
      return waitingSince === undefined || (since !== undefined && since <= waitingSince);
    })
    .sort((one, other) => compareInterrupts(placeOf(one), placeOf(other)));
}

function placeOf({ interrupt, since = 0 }: OpenInterrupt): InterruptPlace {
  return { since, id: interrupt.id };
}

function timesOf({ since, until, waitingSince }: RunFilter): PageEnd['times'] {
  return defined({ since, until, waitingSince });
}

function listedRun(execution: ListedExecution, { parent }: RunFilter): ListedRun {
  const { workflowId, status, closeTime } = execution;
  const isOpen = status.name === 'RUNNING';
  const open = isOpen ? openHere(execution, { tenant: '', tags: [], roles: [] }, 0) : [];
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

function endOf(status: string): RunStatus {
  if (status === 'COMPLETED') return 'completed';
  return status === 'CANCELLED' ? 'cancelled' : 'failed';
}

function timeText(milliseconds: number | undefined): string | undefined {
  return milliseconds === undefined ? undefined : new Date(milliseconds).toISOString();
}
