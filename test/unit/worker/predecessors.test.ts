import { processMark } from '../../../host/process-mark';
import { identityOf } from '../../../worker/builds/deployment';
import { retryCallsOf } from '../../../worker/builds/predecessors';

const started = 2;
const now = { seconds: Math.floor(Date.now() / 1000) };

function serverWith(calls: Readonly<Record<string, string>>) {
  const failed: (string | undefined)[] = [];
  const workflowService = {
    listWorkflowExecutions: () => Promise.resolve({ executions: [{ execution: { workflowId: 'w', runId: 'r' } }] }),
    describeWorkflowExecution: () =>
      Promise.resolve({
        pendingActivities: Object.entries(calls).map(([activityId, lastWorkerIdentity]) => ({
          activityId,
          lastWorkerIdentity,
          state: started,
          lastStartedTime: now,
        })),
      }),
    resetStickyTaskQueue: () => Promise.resolve({}),
    respondActivityTaskFailedById: ({ activityId }: { activityId?: string }) => Promise.resolve(void failed.push(activityId)),
  };
  return { failed, place: { connection: { workflowService } as never, namespace: 'default', taskQueue: 'q' } };
}

it('calls of a dead process are made again, and those of a live process with its number are left alone', async () => {
  const dead = `${process.pid}-00000000`;
  const { failed, place } = serverWith({
    newest: identityOf(true, dead),
    older: identityOf(false, dead),
    alive: identityOf(true),
    aliveToo: identityOf(false),
  });
  expect(processMark).toMatch(new RegExp(`^${process.pid}-`));
  expect(await retryCallsOf([dead], place)).toBe(2);
  expect(failed).toEqual(['newest', 'older']);
});
