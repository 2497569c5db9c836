import { createHash } from 'node:crypto';
import type { WorkflowStartOptions } from '@temporalio/client';
import { defineSearchAttributeKey } from '@temporalio/common';
import { millisecondsOf } from '../../contract/duration';
import { canonicalJson } from '../../contract/messages/messages';
import { names, workflowIdOf } from '../../contract/names';
import type { AgentRunInput, StartInput } from '../../contract/record/wire';
import type { StartOptions } from './start-input';

const agentKey = defineSearchAttributeKey('HoldfastAgent', 'KEYWORD');
export const tenantKey = defineSearchAttributeKey('HoldfastTenant', 'KEYWORD');
const statusKey = defineSearchAttributeKey('HoldfastStatus', 'KEYWORD');
const tagsKey = defineSearchAttributeKey('HoldfastTags', 'KEYWORD_LIST');
const startedByKey = defineSearchAttributeKey('HoldfastStartedBy', 'KEYWORD');

export type StartOperation = WorkflowStartOptions & { readonly workflowId: string; readonly taskQueue: string };

export function hashOfStart({ agent }: Pick<StartInput, 'agent'>, input: unknown): string {
  return createHash('sha256')
    .update(canonicalJson([agent, input]))
    .digest('hex');
}

/** Tenants share the workers of a task queue fairly. A key has at most 64 bytes. */
export function fairnessKeyOf(tenant: string): string {
  return tenant.length <= 64 ? tenant : createHash('sha256').update(tenant).digest('hex');
}

export function startOperation(
  start: StartInput,
  taskQueue: string,
  hash: string,
  { deadline, startDelay }: Pick<StartOptions, 'deadline' | 'startDelay'>,
): StartOperation {
  return {
    workflowId: workflowIdOf(start.tenant, start.id),
    taskQueue,
    priority: { fairnessKey: fairnessKeyOf(start.tenant) },
    args: [{ start } satisfies AgentRunInput],
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    memo: { [names.memo.start]: hash },
    typedSearchAttributes: [
      { key: agentKey, value: start.agent },
      { key: tenantKey, value: start.tenant },
      { key: statusKey, value: start.conversation === undefined ? 'running' : 'idle' },
      ...(start.tags === undefined || start.tags.length === 0 ? [] : [{ key: tagsKey, value: [...start.tags] }]),
      ...(start.by === undefined ? [] : [{ key: startedByKey, value: start.by }]),
    ],
    ...(deadline === undefined ? {} : { workflowExecutionTimeout: millisecondsOf(deadline, 'input-invalid') }),
    ...(startDelay === undefined ? {} : { startDelay: millisecondsOf(startDelay, 'input-invalid') }),
  };
}
