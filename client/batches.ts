import { WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import type { BatchEnd, BatchHead, BatchLine, BatchPage, BatchProgress, BatchStop, ListedBatch } from '../contract/batches';
import { batchBegin, batchTag, batchWaits, runIdOfLine } from '../contract/batches';
import type { ShownBatch, StartedBatch } from '../contract/batches';
import { defined } from '../contract/defined';
import { HoldfastError, codeOf } from '../contract/errors';
import type { RunStatus } from '../contract/events';
import type { Failure } from '../contract/messages/messages';
import { isOfTenant, names, runIdOf, workflowIdOf } from '../contract/names';
import type { Authority, RunForCaller } from './connection/authority';
import type { ClientParts } from './connection/client-parts';
import { withCode } from './connection/lost-server';
import { listedRun, quoted, rowForCaller } from './listing/run-lists';
import type { ListedExecution } from './reading/executions';
import { retriedCalls } from './reading/retried-calls';
import { batchOperation, batchWorkflowOf } from './runs/batch-operation';
import { hashOfStart } from './runs/start-operation';

/** A workflow for each batch lets services start the runs. */
export class Batches {
  constructor(
    private readonly parts: ClientParts,
    private readonly acting: Authority,
    private readonly tenant: string,
  ) {}

  async checkLine(run: Omit<RunForCaller, 'startedBy'>): Promise<void> {
    const { by: startedBy } = this.acting.author({});
    await this.acting.check('runs:start', workflowIdOf(this.tenant, run.id), { ...run, ...defined({ startedBy }) });
  }

  /** `uses`: whether this upload of the lines counts. */
  async start(head: BatchHead): Promise<StartedBatch & { readonly uses: boolean }> {
    const { workflow, taskQueue } = this.parts;
    const { id, agent, lines } = head;
    try {
      await workflow.start(names.batchWorkflow, {
        ...batchOperation(head, { tenant: this.tenant, author: this.acting.author({}), taskQueue }),
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
        workflowIdConflictPolicy: 'FAIL',
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
    const { progress, problem } = await this.standing(execution);
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
    await this.acting
      .check('runs:control', batchWorkflowOf(this.tenant, id))
      .catch((error: unknown) => Promise.reject(unknownBatch(id, error)));
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
        return await this.parts.workflow.getHandle(batchWorkflowOf(this.tenant, id)).signal(names.batchStopSignal, request);
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
    await this.acting
      .check('runs:read', batchWorkflowOf(this.tenant, id))
      .catch((error: unknown) => Promise.reject(unknownBatch(id, error)));
    return this.described(id);
  }

  private async described(id: string): Promise<ListedExecution> {
    try {
      return await this.parts.reader.executions.describe(batchWorkflowOf(this.tenant, id));
    } catch (error) {
      throw unknownBatch(id, error);
    }
  }

  private async standing(execution: ListedExecution): Promise<{ readonly progress: BatchProgress; readonly problem?: Failure }> {
    const { progress = batchBegin } = endOf(execution) ?? {};
    if (execution.status.name !== 'RUNNING') return { progress };
    const { histories } = this.parts.reader;
    const { pendingActivities } = await histories.describe(execution.workflowId);
    const details = pendingActivities?.[0]?.heartbeatDetails?.payloads?.[0];
    const failed = pendingActivities?.filter(({ lastFailure }) => lastFailure?.applicationFailureInfo?.type !== batchWaits);
    return {
      progress: details == null ? progress : ((await histories.payloads.value(details)) as BatchProgress),
      ...defined({ problem: retriedCalls(failed)[0]?.error }),
    };
  }
}

function unknownBatch(id: string, error: unknown): unknown {
  return codeOf(error) === 'run-unknown' ? new HoldfastError('batch-unknown', `There is no batch "${id}".`, { cause: error }) : error;
}

/** The memo of a schedule's batch lacks the time in the id. */
function headOf({ memo, workflowId }: ListedExecution): BatchHead {
  return { ...(memo[names.memo.batch] as BatchHead), id: runIdOf(workflowId) };
}

function endOf({ memo }: ListedExecution): BatchEnd | undefined {
  return memo[names.memo.batchEnd] as BatchEnd | undefined;
}

function listedBatch(execution: ListedExecution): ListedBatch {
  const { id, agent, lines, concurrency, perMinute, tags } = headOf(execution);
  const { status, startTime, closeTime } = execution;
  const { error, isStopped = true } = endOf(execution) ?? {};
  const ended = error !== undefined ? 'failed' : status.name === 'COMPLETED' && !isStopped ? 'completed' : 'stopped';
  return {
    id,
    agent,
    lines,
    concurrency,
    tags,
    status: status.name === 'RUNNING' ? 'running' : ended,
    startedAt: startTime.toISOString(),
    ...defined({ perMinute, closedAt: closeTime?.toISOString(), startedBy: rowForCaller(execution).startedBy, error }),
  };
}
