import type { BatchHead, BatchInput } from '../../contract/batches';
import { batchQueueOf, batchTag } from '../../contract/batches';
import { defined } from '../../contract/defined';
import { names, workflowIdOf } from '../../contract/names';
import { startOperation } from './start-operation';

const runLike = { version: 1, input: null, values: {}, stream: false, options: {} } as const;

type BatchOwner = Pick<BatchInput, 'tenant' | 'author' | 'schedule'> & { readonly taskQueue: string };

export function batchOperation(head: BatchHead, { taskQueue, ...owner }: BatchOwner) {
  const { id, agent, tags, hash } = head;
  const { tenant, author } = owner;
  const start = { ...runLike, tenant, id, agent, tags: [...tags, batchTag(id)], ...defined({ by: author.by }) };
  const { typedSearchAttributes, priority } = startOperation(start, taskQueue, hash, {});
  return {
    workflowId: batchWorkflowOf(tenant, id),
    taskQueue,
    args: [{ ...head, ...owner, queue: batchQueueOf(taskQueue) } satisfies BatchInput] as const,
    memo: { [names.memo.batch]: head },
    ...defined({ typedSearchAttributes, priority }),
  };
}

export function batchWorkflowOf(tenant: string, id: string): string {
  return workflowIdOf(`batch:${tenant}`, id);
}
