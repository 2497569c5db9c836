import { WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import type { BatchEnd, BatchHead, BatchInput, BatchLine, BatchPage, BatchProgress, BatchStop, ListedBatch } from '../contract/batches';
import { batchBegin, batchQueueOf, batchTag, runIdOfLine } from '../contract/batches';
import type { ShownBatch, StartedBatch } from '../contract/batches';
import { defined } from '../contract/defined';
import { HoldfastError, codeOf } from '../contract/errors';
import type { RunStatus } from '../contract/events';
import type { Failure } from '../contract/messages/messages';
import { isOfTenant, names, workflowIdOf } from '../contract/names';
import type { Authority, RunForCaller } from './connection/authority';
import type { ClientParts } from './connection/client-parts';
import { withCode } from './connection/lost-server';
import { listedRun, quoted, rowForCaller } from './listing/run-lists';
import type { ListedExecution } from './reading/executions';
import { retriedCalls } from './reading/retried-calls';
import { hashOfStart, startOperation } from './runs/start-operation';

const runLike = { version: 1, input: null, values: {}, stream: false, options: {} } as const;

/** A workflow for each batch lets services start the runs. */
export class Batches {
  constructor(
    private readonly parts: ClientParts,
    private readonly acting: Authority,
    private readonly tenant: string,
  ) {}

  /** Throws if the caller may not start the run of a line. */
  async checkLine(
    batch: string,
    line: BatchLine,
    { agent, tags }: { readonly agent: string; readonly tags: readonly string[] },
  ): Promise<void> {
    const { by: startedBy } = this.acting.author({});
    const run: RunForCaller = { id: runIdOfLine(batch, line), agent, tags: [...tags, ...(line.tags ?? [])], ...defined({ startedBy }) };
    await this.acting.check('runs:start', workflowIdOf(this.tenant, run.id), run);
  }

  /** `uses`: whether this upload of the lines counts. */
  async start(head: BatchHead): Promise<StartedBatch & { readonly uses: boolean }> {
    const { tenant } = this;
    const { workflow, taskQueue } = this.parts;
    const author = this.acting.author({});
    const { id, agent, lines, tags } = head;
    const batch: BatchInput = { ...head, tenant, author, queue: batchQueueOf(taskQueue) };
    const start = { ...runLike, tenant, id, agent, tags: [...tags, batchTag(id)], ...defined({ by: author.by }) };
    const { typedSearchAttributes, priority } = startOperation(start, taskQueue, head.hash, {});
    try {
      await workflow.start(names.batchWorkflow, {
        workflowId: this.workflowIdOf(id),
        taskQueue,
        args: [batch],
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
        workflowIdConflictPolicy: 'FAIL',
        memo: { [names.memo.batch]: head },
        ...defined({ typedSearchAttributes, priority }),
      });
      return { id, agent, lines, isNew: true, uses: true };
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) {
        await this.parts.reader.executions.explain(error);
        throw withCode(error);
      }
      const known = headOf(await this.described(id));
      if (known.hash !== head.hash)
        throw new HoldfastError('batch-in-use', `The id "${id}" belongs to a batch with another agent or other lines.`);
      return { id, agent, lines, isNew: false, uses: known.store === head.store };
    }
  }

  async head(id: string): Promise<BatchHead> {
    return headOf(await this.found(id));
  }

  async view(id: string): Promise<ShownBatch> {
    const execution = await this.found(id);
    const { progress, problem } = await this.standing(id, endOf(execution));
    const { started, refused } = progress;
    const { running, waiting, completed, failed, cancelled } = await this.parts.of(this.tenant).counter.ofTag(batchTag(id));
    const batch = listedBatch(execution);
    const counted = running + waiting + completed + failed + cancelled;
    // Lists of the server lag, and lack runs that another start made.
    const isCounted = batch.status !== 'completed' || counted === started;
    const counts = isCounted ? { running, waiting, completed, failed, cancelled } : { running: 0, waiting: 0, ...progress.ended };
    return { ...batch, started, counts: { ...counts, refused }, ...defined({ problem }) };
  }

  async list({ limit = 50, after }: { readonly limit?: number; readonly after?: string } = {}): Promise<BatchPage> {
    const { tenant } = this;
    const query = `WorkflowType = '${names.batchWorkflow}' AND HoldfastTenant = ${quoted(tenant)}`;
    const token = after === undefined ? undefined : Buffer.from(after, 'base64url');
    const page = await this.parts.reader.executions.page(query, limit, token);
    const own = page.executions.filter(({ workflowId }) => isOfTenant(workflowId, `batch:${tenant}`));
    const rows = await this.acting.readable(own, rowForCaller);
    return { batches: rows.map(listedBatch), ...defined({ next: page.token && Buffer.from(page.token).toString('base64url') }) };
  }

  async stop(id: string, { cancelRuns = false }: { readonly cancelRuns?: boolean } = {}): Promise<void> {
    await this.acting.check('runs:control', this.workflowIdOf(id)).catch((error: unknown) => Promise.reject(unknownBatch(id, error)));
    const { status } = await this.described(id);
    const { caller } = this.acting;
    if (cancelRuns && caller?.mayWith !== undefined)
      throw new HoldfastError(
        'action-forbidden',
        `${caller.user} may cancel only some runs. Stop without the runs, and cancel these by id.`,
      );
    const request: BatchStop = cancelRuns ? { cancels: this.acting.author({}) } : {};
    try {
      if (status.name === 'RUNNING')
        return await this.parts.workflow.getHandle(this.workflowIdOf(id)).signal(names.batchStopSignal, request);
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw withCode(error);
    }
    throw new HoldfastError('batch-ended', `The batch "${id}" has ended.`);
  }

  /** How the run of a line stands. Undefined: there is no run, or the run has another agent or input. */
  async runOf({ id, agent }: Pick<BatchHead, 'id' | 'agent'>, line: BatchLine): Promise<RunStatus | undefined> {
    try {
      const execution = await this.parts.reader.executions.describe(workflowIdOf(this.tenant, runIdOfLine(id, line)));
      return execution.memo[names.memo.start] === hashOfStart({ agent }, line.input) ? listedRun(execution).status : undefined;
    } catch (error) {
      if (codeOf(error) === 'run-unknown') return undefined;
      throw error;
    }
  }

  private async found(id: string): Promise<ListedExecution> {
    await this.acting.check('runs:read', this.workflowIdOf(id)).catch((error: unknown) => Promise.reject(unknownBatch(id, error)));
    return this.described(id);
  }

  private async described(id: string): Promise<ListedExecution> {
    try {
      return await this.parts.reader.executions.describe(this.workflowIdOf(id));
    } catch (error) {
      throw unknownBatch(id, error);
    }
  }

  private async standing(id: string, end: BatchEnd | undefined): Promise<{ readonly progress: BatchProgress; readonly problem?: Failure }> {
    if (end !== undefined) return end;
    const { histories } = this.parts.reader;
    const { pendingActivities } = await histories.describe(this.workflowIdOf(id));
    const details = pendingActivities?.[0]?.heartbeatDetails?.payloads?.[0];
    const progress = details == null ? batchBegin : ((await histories.payloads.value(details)) as BatchProgress);
    return { progress, ...defined({ problem: retriedCalls(pendingActivities)[0]?.error }) };
  }

  private workflowIdOf(id: string): string {
    return workflowIdOf(`batch:${this.tenant}`, id);
  }
}

function unknownBatch(id: string, error: unknown): unknown {
  return codeOf(error) === 'run-unknown' ? new HoldfastError('batch-unknown', `There is no batch "${id}".`, { cause: error }) : error;
}

function headOf({ memo }: ListedExecution): BatchHead {
  return memo[names.memo.batch] as BatchHead;
}

function endOf({ memo }: ListedExecution): BatchEnd | undefined {
  return memo[names.memo.batchEnd] as BatchEnd | undefined;
}

function listedBatch(execution: ListedExecution): ListedBatch {
  const { id, agent, lines, concurrency, perMinute, tags } = headOf(execution);
  const { status, startTime, closeTime } = execution;
  const isWhole = status.name === 'COMPLETED' && endOf(execution)?.isStopped === false;
  return {
    id,
    agent,
    lines,
    concurrency,
    tags,
    status: status.name === 'RUNNING' ? 'running' : isWhole ? 'completed' : 'stopped',
    startedAt: startTime.toISOString(),
    ...defined({ perMinute, closedAt: closeTime?.toISOString(), startedBy: rowForCaller(execution).startedBy }),
  };
}
