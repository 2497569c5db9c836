import { defined } from '../../contract/defined';
import type { ConnectionLike } from '@temporalio/client';
import { executionInfoFromRaw } from '@temporalio/client/lib/helpers';
import type { LoadedDataConverter } from '@temporalio/common';
import type { Interrupt } from '../../contract/interrupts';
import { isInterrupt } from '../../contract/interrupts';
import { interruptMemoPrefix } from '../../contract/names';
import { addressOf } from '../../host/server-address';
import type { VisibilityGate } from '../../host/visibility-gate';
import { visibilityGate } from '../../host/visibility-gate';
import { PayloadReader } from '../../host/history/payload-reader';
import { found } from './chain';
import { answered } from '../lost-server';

type ListPage = Awaited<ReturnType<ConnectionLike['workflowService']['listWorkflowExecutions']>>;

const longestAnswerMs = 10_000;

type Raw = Parameters<typeof executionInfoFromRaw>[0];

/** What the memo of a run shows as open. */
export function interruptsIn(memo: ListedExecution['memo']): readonly Interrupt[] {
  return Object.entries(memo).flatMap(([key, value]) => (key.startsWith(interruptMemoPrefix) && isInterrupt(value) ? [value] : []));
}

export type ListedExecution = Pick<
  Awaited<ReturnType<typeof executionInfoFromRaw>>,
  'workflowId' | 'status' | 'typedSearchAttributes' | 'startTime' | 'closeTime'
> & { readonly memo: Readonly<Record<string, unknown>> };

/** What the server says of workflow executions. What of their memos nobody can read is left out: one of them must not hide the others. */
export class Executions {
  private readonly payloads: PayloadReader;
  private readonly gate: VisibilityGate;

  constructor(
    private readonly connection: ConnectionLike,
    private readonly namespace: string,
    private readonly converter: LoadedDataConverter,
  ) {
    this.payloads = new PayloadReader(converter);
    this.gate = visibilityGate(addressOf(connection), namespace);
  }

  async describe(workflowId: string, id: string): Promise<ListedExecution> {
    const { namespace } = this;
    const description = this.connection.workflowService.describeWorkflowExecution({ namespace, execution: { workflowId } });
    return this.executionOf((await answered(found(description, id))).workflowExecutionInfo as Raw);
  }

  async *list(query: string, pageSize: number): AsyncGenerator<ListedExecution> {
    const { namespace } = this;
    let nextPageToken: Uint8Array | undefined;
    do {
      const request = { namespace, query, pageSize, ...defined({ nextPageToken }) };
      const key = JSON.stringify([query, pageSize, Buffer.from(nextPageToken ?? []).toString('base64')]);
      const page: ListPage = await answered(this.gate.ask(this, key, () => this.page(request)));
      for (const raw of page.executions) yield await this.executionOf(raw);
      nextPageToken = page.nextPageToken?.length ? page.nextPageToken : undefined;
    } while (nextPageToken !== undefined);
  }

  private page(request: Parameters<ConnectionLike['workflowService']['listWorkflowExecutions']>[0]): Promise<ListPage> {
    return this.connection.withDeadline(Date.now() + longestAnswerMs, () =>
      this.connection.workflowService.listWorkflowExecutions(request),
    );
  }

  /** A run was changed from here: the next list is a new one. */
  changed(): void {
    this.gate.forget();
  }

  private async executionOf(raw: Raw): Promise<ListedExecution> {
    // What is not set stands in the prototype of a message of protobuf: a copy would lose it.
    const withoutMemo = Object.create(raw, { memo: { value: null } }) as Raw;
    const info = await executionInfoFromRaw(withoutMemo, this.converter, undefined, this.namespace);
    return { ...info, memo: await this.payloads.readable(raw.memo?.fields ?? {}) };
  }
}
