import { WorkflowNotFoundError, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { askedAgain, isPassing } from '../../../client/runs/asked-again';

const grpc = (code: number): Error =>
  Object.assign(new Error('raw'), { name: 'ServiceError', cause: Object.assign(new Error('grpc'), { code }) });
const refused = (type: string): Error => new WorkflowUpdateFailedError('refused', ApplicationFailure.nonRetryable('no', type));

describe('what the server refuses because a run is about to go on as new', () => {
  it('is told from what it refuses for good', () => {
    for (const code of [5, 8, 9, 10]) expect(isPassing(grpc(code))).toBe(true);
    for (const code of [3, 4, 7, 12]) expect(isPassing(grpc(code))).toBe(false);
    expect(isPassing(new WorkflowNotFoundError('gone', 'id', undefined))).toBe(true);
    expect(isPassing(refused('AcceptedUpdateCompletedWorkflow'))).toBe(true);
    expect(isPassing(refused('run-busy'))).toBe(true);
    expect(isPassing(refused('interrupt-answered'))).toBe(false);
    expect(isPassing('a text')).toBe(false);
  });

  it('is sent again until it is taken', async () => {
    let sent = 0;
    const send = async (): Promise<string> => {
      sent += 1;
      if (sent < 3) throw grpc(9);
      return 'taken';
    };
    expect(await askedAgain(send, async () => true, Date.now() + 5000)).toBe('taken');
    expect(sent).toBe(3);
  });

  it('is refused once the run is over, or the time is', async () => {
    const send = async (): Promise<never> => Promise.reject(grpc(5));
    await expect(askedAgain(send, async () => false, Date.now() + 5000)).rejects.toMatchObject({ cause: { code: 5 } });
    await expect(askedAgain(send, async () => true, Date.now())).rejects.toMatchObject({ cause: { code: 5 } });
  });
});
