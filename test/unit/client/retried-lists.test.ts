import type { WorkflowExecutionStatusName } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import { countRetried, withoutRetried } from '../../../client/listing/retried-runs';
import type { ListedExecution } from '../../../client/reading/executions';

const execution = (id: string, name: WorkflowExecutionStatusName, start: number): ListedExecution => ({
  workflowId: `t/${id}`,
  runId: `${id}-${start}`,
  status: { name, code: 1 },
  startTime: new Date(start),
  typedSearchAttributes: new TypedSearchAttributes([]),
  memo: {},
});

const all = [
  ...[execution('twice', 'FAILED', 1), execution('twice', 'FAILED', 2), execution('twice', 'FAILED', 3)],
  ...[execution('open', 'FAILED', 1), execution('open', 'RUNNING', 2)],
  execution('never', 'FAILED', 1),
  execution('stopped', 'TERMINATED', 1),
];
const asked: string[] = [];
const ask = async (query: string, _: number, token?: Uint8Array) => {
  asked.push(query);
  const fitting = query.includes('WorkflowId IN') ? all.filter(({ workflowId }) => query.includes(`'${workflowId}'`)) : all;
  const from = Number(Buffer.from(token ?? []).toString() || '0');
  const executions = fitting.slice(from, from + 2);
  return { executions, ...(from + 2 < fitting.length ? { token: Buffer.from(String(from + 2)) } : {}) };
};

describe('failed runs in lists', () => {
  it('are those whose last execution failed, over all pages of the server', async () => {
    const failed = all.filter(({ status }) => status.name !== 'RUNNING');
    const { executions } = await withoutRetried(ask, { executions: failed });
    expect(executions.map(({ workflowId, startTime }) => `${workflowId} ${startTime.getTime()}`)).toEqual([
      't/twice 3',
      't/never 1',
      't/stopped 1',
    ]);
    expect(await countRetried(ask, 'failed')).toBe(3);
  });

  it('ask nothing where none has failed', async () => {
    asked.length = 0;
    const page = { executions: [execution('stopped', 'TERMINATED', 1)] };
    expect(await withoutRetried(ask, page)).toEqual(page);
    expect(asked).toEqual([]);
  });
});
