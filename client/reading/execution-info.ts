import type { RawWorkflowExecutionInfo, WorkflowExecutionInfo, WorkflowExecutionStatusName } from '@temporalio/client';
import type { Payload, SearchAttributePair } from '@temporalio/common';
import { TypedSearchAttributes } from '@temporalio/common';
import { millisecondsOf } from '../../host/history/history-facts';

export type ExecutionInfo = Pick<
  WorkflowExecutionInfo,
  'workflowId' | 'runId' | 'status' | 'typedSearchAttributes' | 'startTime' | 'closeTime'
>;

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
