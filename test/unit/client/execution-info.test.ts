import { defaultPayloadConverter } from '@temporalio/common';
import { executionInfoFromRaw } from '@temporalio/client/lib/helpers';
import { loadDataConverter } from '@temporalio/common/lib/internal-non-workflow';
import { temporal } from '@temporalio/proto';
import { infoOf } from '../../../client/reading/executions';

const { WorkflowExecutionInfo } = temporal.api.workflow.v1;

const attribute = (type: string, value: unknown) => ({
  metadata: { encoding: Buffer.from('json/plain'), type: Buffer.from(type) },
  data: Buffer.from(JSON.stringify(value)),
});

const indexedFields = {
  Amount: attribute('Double', 1.5),
  Count: attribute('Int', 7),
  Done: attribute('Bool', false),
  HoldfastStartedAt: attribute('Datetime', '2026-11-27T08:00:00.125Z'),
  HoldfastStatus: attribute('Keyword', 'running'),
  HoldfastTags: attribute('KeywordList', ['a', 'b']),
  Note: attribute('INDEXED_VALUE_TYPE_TEXT', 'ö'),
  Untyped: defaultPayloadConverter.toPayload('x'),
  Unknown: attribute('Vector', [1]),
  Wrong: attribute('Int', 'seven'),
};

it.each([...Array(10).keys()])('an execution with status %s is read as the SDK reads it', async (status) => {
  const raw = WorkflowExecutionInfo.fromObject({
    execution: { workflowId: 'default/run', runId: 'r' },
    type: { name: 'w' },
    status,
    startTime: { seconds: 1_790_000_000, nanos: 125_000_000 },
    ...(status === 1 ? {} : { closeTime: { seconds: 1_790_000_001 } }),
    searchAttributes: { indexedFields },
  });
  const { workflowId, runId, startTime, closeTime, ...others } = await executionInfoFromRaw(
    raw as never,
    loadDataConverter(),
    {},
    'default',
  );
  const info = infoOf(raw);
  expect({ ...info, closeTime: info.closeTime }).toEqual({
    workflowId,
    runId,
    startTime,
    closeTime,
    status: others.status,
    typedSearchAttributes: info.typedSearchAttributes,
  });
  expect(info.typedSearchAttributes.getAll()).toEqual(others.typedSearchAttributes.getAll());
  expect(info.typedSearchAttributes.getAll()).toHaveLength(7);
});
