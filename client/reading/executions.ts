import { defined } from '../../contract/defined';
import type { ConnectionLike, RawWorkflowExecutionInfo, WorkflowExecutionInfo, WorkflowExecutionStatusName } from '@temporalio/client';
import { defineSearchAttributeKey, TypedSearchAttributes } from '@temporalio/common';
import type { RunFacts } from '../../contract/events';
import type { Interrupt } from '../../contract/interrupts';
import { isInterrupt } from '../../contract/interrupts';
import { interruptMemoPrefix, sinceMemoPrefix } from '../../contract/names';
import { addressOf } from '../../host/server-address';
import { checkSearchAttributes } from '../../host/search-attributes';
import type { VisibilityGate } from '../../host/visibility-gate';
import { visibilityGate } from '../../host/visibility-gate';
import type { Histories } from './histories';
import { answered } from '../connection/lost-server';
import type { Payload, SearchAttributePair } from '@temporalio/common';
import { millisecondsOf } from '../../host/history/history-facts';

const longestAnswerMs = 10_000;

export interface OpenInterrupt {
  readonly interrupt: Interrupt;
  /** In milliseconds since 1970. */
  readonly since?: number;
}

export function openInterruptsIn(memo: ListedExecution['memo']): readonly OpenInterrupt[] {
  return Object.entries(memo).flatMap(([key, interrupt]) => {
    if (!key.startsWith(interruptMemoPrefix) || !isInterrupt(interrupt)) return [];
    const since = memo[sinceMemoPrefix + key.slice(interruptMemoPrefix.length)];
    return [{ interrupt, ...defined({ since: Number.isSafeInteger(since) ? (since as number) : undefined }) }];
  });
}

export interface ListedExecution extends ExecutionInfo {
  readonly memo: Readonly<Record<string, unknown>>;
  /** Set for a run that continued as new. */
  readonly startedAt?: Date;
}

export interface ExecutionPage {
  readonly executions: readonly ListedExecution[];
  readonly token?: Uint8Array;
}

export type AskPage = (query: string, size: number, token?: Uint8Array) => Promise<ExecutionPage>;

const largestPage = 1000;

export async function* pagesOf(ask: AskPage, query: string): AsyncGenerator<ExecutionPage> {
  let token: Uint8Array | undefined;
  do {
    const page: ExecutionPage = await ask(query, largestPage, token);
    yield page;
    token = page.token;
  } while (token !== undefined);
}

const startedAtKey = defineSearchAttributeKey('HoldfastStartedAt', 'DATETIME');
const tagsKey = defineSearchAttributeKey('HoldfastTags', 'KEYWORD_LIST');
const startedByKey = defineSearchAttributeKey('HoldfastStartedBy', 'KEYWORD');
const grpcInvalidArgument = 3;

export function labelsIn(attributes: ListedExecution['typedSearchAttributes']): {
  readonly tags: readonly string[];
  readonly startedBy?: string;
} {
  return { tags: attributes.get(tagsKey) ?? [], ...defined({ startedBy: attributes.get(startedByKey) }) };
}

/** Skips unreadable memo entries, which would hide other runs. */
export class Executions {
  private readonly gate: VisibilityGate;

  constructor(private readonly histories: Histories) {
    this.gate = visibilityGate(addressOf(histories.connection), histories.namespace);
  }

  async describe(workflowId: string): Promise<ListedExecution> {
    return this.executionOf((await this.histories.describe(workflowId)).workflowExecutionInfo ?? {});
  }

  readonly page: AskPage = async (query, pageSize, token) => {
    const request = { namespace: this.histories.namespace, query, pageSize, ...defined({ nextPageToken: token }) };
    const key = JSON.stringify([query, pageSize, Buffer.from(token ?? []).toString('base64')]);
    const page = await this.ask(key, (service) => service.listWorkflowExecutions(request));
    const executions = await Promise.all(page.executions.map((raw) => this.executionOf(raw)));
    return { executions, ...(page.nextPageToken?.length ? { token: page.nextPageToken } : {}) };
  };

  async count(query: string): Promise<number> {
    const { count } = await this.ask(`count ${query}`, (service) =>
      service.countWorkflowExecutions({ namespace: this.histories.namespace, query }),
    );
    return Number(count);
  }

  async countByStatus(query: string): Promise<ReadonlyMap<string, number>> {
    const grouped = `${query} GROUP BY ExecutionStatus`;
    const { groups } = await this.ask(`count ${grouped}`, (service) =>
      service.countWorkflowExecutions({ namespace: this.histories.namespace, query: grouped }),
    );
    return new Map(
      (groups ?? []).map(({ groupValues, count }) => {
        const status: unknown = JSON.parse(Buffer.from(groupValues?.[0]?.data ?? []).toString('utf8') || 'null');
        return [String(status), Number(count)];
      }),
    );
  }

  /** Throws 'search-attribute-missing' for an attribute that the namespace lacks. */
  async explain(error: unknown): Promise<void> {
    if (isInvalidArgument(error)) await checkSearchAttributes(this.histories.connection, this.histories.namespace);
  }

  private async ask<Answer>(key: string, ask: (service: ConnectionLike['workflowService']) => Promise<Answer>): Promise<Answer> {
    const { connection } = this.histories;
    try {
      return await answered(
        this.gate.ask(this, key, () => connection.withDeadline(Date.now() + longestAnswerMs, () => ask(connection.workflowService))),
      );
    } catch (error) {
      await this.explain(error);
      throw error;
    }
  }

  changed(): void {
    this.gate.forget();
  }

  factsOf(raw: RawWorkflowExecutionInfo): RunFacts {
    const { closeTime, startTime, startedAt = startTime, typedSearchAttributes } = knownOf(raw);
    return {
      startedAt: startedAt.toISOString(),
      ...defined({ closedAt: closeTime?.toISOString(), build: raw.versioningInfo?.deploymentVersion?.buildId || undefined }),
      ...labelsIn(typedSearchAttributes),
    };
  }

  private async executionOf(raw: RawWorkflowExecutionInfo): Promise<ListedExecution> {
    return { ...knownOf(raw), memo: await this.histories.payloads.readable(raw.memo?.fields ?? {}) };
  }
}

function knownOf(raw: RawWorkflowExecutionInfo): Omit<ListedExecution, 'memo'> {
  const info = infoOf(raw);
  return { ...info, ...defined({ startedAt: info.typedSearchAttributes.get(startedAtKey) }) };
}

function isInvalidArgument(error: unknown): boolean {
  for (let cause = error; typeof cause === 'object' && cause !== null; cause = (cause as { cause?: unknown }).cause)
    if ((cause as { code?: unknown }).code === grpcInvalidArgument) return true;
  return false;
}

type ExecutionInfo = Pick<WorkflowExecutionInfo, 'workflowId' | 'runId' | 'status' | 'typedSearchAttributes' | 'startTime' | 'closeTime'>;

/** The SDK's names, by number of temporal.api.enums.v1.WorkflowExecutionStatus. */
const statusNames: readonly WorkflowExecutionStatusName[] = [
  'UNSPECIFIED',
  'RUNNING',
  'COMPLETED',
  'FAILED',
  'CANCELLED',
  'TERMINATED',
  'CONTINUED_AS_NEW',
  'TIMED_OUT',
  'PAUSED',
];

/** Skips the memo, which another program may have written unreadably. */
export function infoOf({ execution, status, startTime, closeTime, searchAttributes }: RawWorkflowExecutionInfo): ExecutionInfo {
  const code = status ?? 0;
  return {
    workflowId: execution?.workflowId ?? '',
    runId: execution?.runId ?? '',
    status: { code, name: statusNames[code] ?? 'UNKNOWN' },
    typedSearchAttributes: attributesIn(searchAttributes?.indexedFields ?? {}),
    startTime: new Date(millisecondsOf(startTime)),
    ...(closeTime == null ? {} : { closeTime: new Date(millisecondsOf(closeTime)) }),
  };
}

function attributesIn(fields: Readonly<Record<string, Payload>>): TypedSearchAttributes {
  return new TypedSearchAttributes(
    Object.entries(fields).flatMap(([name, { metadata, data }]) => {
      const type = TypedSearchAttributes.toSearchAttributeType(textOf(metadata?.['type']));
      if (type === undefined) return [];
      const value: unknown = JSON.parse(textOf(data) || 'null');
      return [{ key: { name, type }, value: type === 'DATETIME' ? new Date(String(value)) : value } as SearchAttributePair];
    }),
  );
}

function textOf(bytes: Uint8Array | null | undefined): string {
  return Buffer.from(bytes ?? []).toString('utf8');
}
