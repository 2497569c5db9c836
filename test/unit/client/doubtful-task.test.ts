import { temporal } from '@temporalio/proto';
import { loadDataConverter } from '@temporalio/common/lib/internal-non-workflow';
import { settleDoubt } from '../../../client/reading/doubtful-task';
import { HistoryFold } from '../../../contract/record/fold';
import { FactReader } from '../../../host/history/history-facts';

const { TIMEOUT_TYPE_SCHEDULE_TO_START: unpolled, TIMEOUT_TYPE_START_TO_CLOSE: unanswered } = temporal.api.enums.v1.TimeoutType;

async function statusAfter(timeoutType: temporal.api.enums.v1.TimeoutType, ...attempts: readonly number[]): Promise<object> {
  const fold = new HistoryFold();
  const timedOut = { workflowTaskTimedOutEventAttributes: { timeoutType } };
  for (const fact of await new FactReader(loadDataConverter()).read([timedOut], 'default/r')) fold.add(fact);
  for (const attempt of attempts) settleDoubt(fold, { attempt });
  return fold.view();
}

describe('a run whose first task timed out, as of a loop on a busy host', () => {
  it('is stuck when two attempts have failed, which no history shows', async () => {
    expect(await statusAfter(unanswered, 3)).toMatchObject({
      status: 'stuck',
      error: { message: expect.stringContaining('Its task has failed or timed out 2 times.') as string },
    });
    expect(await statusAfter(unanswered, 2)).toMatchObject({ status: 'running' });
  });

  it('is not stuck any more when a new event has set the count of attempts back', async () => {
    expect(await statusAfter(unanswered, 3, 1)).toMatchObject({ status: 'running' });
  });

  it('is not stuck when no worker has polled for the task', async () => {
    expect(await statusAfter(unpolled, 3)).toMatchObject({ status: 'running' });
  });
});
