import type { ConnectionLike } from '@temporalio/client';
import type { LoadedDataConverter } from '@temporalio/common';
import type { temporal } from '@temporalio/proto';
import { defined } from '../../contract/defined';
import { HoldfastError, codeOf } from '../../contract/errors';
import { names, runIdOf } from '../../contract/names';
import type { HistoryFact } from '../../contract/record/history-fact';
import { factSource } from '../../host/history/history-connection';
import type { FactEvent } from '../../host/history/history-facts';
import { FactReader } from '../../host/history/history-facts';
import type { HistorySource } from '../../host/history/history-pages';
import { newestPages, oldestPages } from '../../host/history/history-pages';
import { PayloadReader } from '../../host/history/payload-reader';
import { answered } from '../connection/lost-server';

export interface HistoryMark {
  readonly runId: string;
  readonly length: number;
  readonly isClosed?: boolean;
}

export interface RunChain {
  readonly firstRunId: string;
  /** The successors of retried or resumed Temporal runs. */
  readonly retries: ReadonlyMap<string, string>;
  readonly mark: HistoryMark;
}

interface LinkedRun {
  readonly runId: string;
  /** Empty: the first. */
  readonly previousId: string;
  readonly isRetry: boolean;
}

type Service = ConnectionLike['workflowService'];
type StartedEvent = temporal.api.history.v1.IWorkflowExecutionStartedEventAttributes;

const grpcNotFound = 5;

export class Histories {
  readonly payloads: PayloadReader;
  readonly reader: FactReader;

  constructor(
    readonly connection: ConnectionLike,
    readonly namespace: string,
    readonly converter: LoadedDataConverter,
  ) {
    this.payloads = new PayloadReader(converter);
    this.reader = new FactReader(converter);
  }

  get workflowService(): Service {
    return this.connection.workflowService;
  }

  /** Without `runId`: the latest Temporal run. */
  async describe(workflowId: string, runId?: string): ReturnType<Service['describeWorkflowExecution']> {
    const execution = { workflowId, ...defined({ runId }) };
    return this.ask(workflowId, (service) => service.describeWorkflowExecution({ namespace: this.namespace, execution }));
  }

  async mark(workflowId: string): Promise<HistoryMark> {
    return markOf((await this.describe(workflowId)).workflowExecutionInfo);
  }

  async chain(workflowId: string): Promise<RunChain> {
    const { workflowExecutionInfo: info } = await this.describe(workflowId);
    const mark = markOf(info);
    const retries = new Map<string, string>();
    let firstRunId = mark.runId;
    if (isFirst(info)) return { firstRunId, retries, mark };
    let isRetry = false;
    for await (const run of this.back(workflowId, mark.runId)) {
      if (isRetry) retries.set(run.runId, firstRunId);
      ({ runId: firstRunId, isRetry } = run);
    }
    return { firstRunId, retries, mark };
  }

  /** Ends with the oldest Temporal run on the server. */
  async *back(workflowId: string, latest: string): AsyncGenerator<LinkedRun> {
    for (let runId = latest; runId !== '';) {
      const run = await this.linked(workflowId, runId);
      if (run === undefined) return;
      yield run;
      runId = run.previousId;
    }
  }

  private async linked(workflowId: string, runId: string): Promise<LinkedRun | undefined> {
    try {
      const { continuedExecutionRunId, memo } = await this.started(workflowId, runId);
      if (continuedExecutionRunId) return { runId, previousId: continuedExecutionRunId, isRetry: false };
      const retryOf = memo?.fields?.[names.memo.retryOf];
      const previous = retryOf == null ? undefined : await this.payloads.value(retryOf);
      return typeof previous === 'string' ? { runId, previousId: previous, isRetry: true } : { runId, previousId: '', isRetry: false };
    } catch (error) {
      if (codeOf(error) === 'run-unknown') return undefined;
      throw error;
    }
  }

  async started(workflowId: string, runId: string): Promise<StartedEvent> {
    const request = { namespace: this.namespace, execution: { workflowId, runId }, maximumPageSize: 1 };
    const page = await this.ask(workflowId, (service) => service.getWorkflowExecutionHistory(request));
    return page.history?.events?.[0]?.workflowExecutionStartedEventAttributes ?? {};
  }

  async newest(workflowId: string, runId: string, most: number): Promise<readonly temporal.api.history.v1.IHistoryEvent[]> {
    const request = { namespace: this.namespace, execution: { workflowId, runId }, maximumPageSize: most };
    const page = await this.ask(workflowId, (service) => service.getWorkflowExecutionHistoryReverse(request));
    return page.history?.events ?? [];
  }

  newestPages(workflowId: string, runId: string): AsyncGenerator<readonly FactEvent[]> {
    return newestPages(factSource(this.connection, this.namespace), { workflowId, runId });
  }

  async *pages(
    workflowId: string,
    runId: string,
    source: HistorySource<FactEvent> = factSource(this.connection, this.namespace),
  ): AsyncGenerator<{ readonly events: readonly FactEvent[]; readonly facts: readonly HistoryFact[] }> {
    for await (const events of oldestPages(source, { workflowId, runId }, false))
      yield { events, facts: await this.reader.read(events, workflowId) };
  }

  private async ask<T>(workflowId: string, ask: (service: Service) => Promise<T>): Promise<T> {
    try {
      return await answered(ask(this.workflowService));
    } catch (error) {
      if ((error as { code?: unknown }).code !== grpcNotFound) throw error;
      throw new HoldfastError('run-unknown', `There is no run "${runIdOf(workflowId)}".`, { cause: error });
    }
  }
}

type Info = Awaited<ReturnType<Service['describeWorkflowExecution']>>['workflowExecutionInfo'];

function markOf(info: Info): HistoryMark {
  return { runId: info?.execution?.runId ?? '', length: Number(info?.historyLength ?? 0), isClosed: info?.closeTime != null };
}

/** Also false where the server does not tell. */
function isFirst(info: Info): boolean {
  return !!info?.firstRunId && info.firstRunId === info.execution?.runId && info.memo?.fields?.[names.memo.retryOf] == null;
}
