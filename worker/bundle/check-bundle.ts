import { HoldfastError, messageOf } from '../../contract/errors';
import { names } from '../../contract/names';
import { withSandboxHint } from '../../contract/sandbox-lacks';
import type { History } from '../../host/history/history-files';
import type { WorkflowBundle } from './bundle';
import { replayRuns } from '../replay/replay-worker';

const checked = new Set<string>();

/** A module that throws would block every run, so a bundle is loaded before the first poll. */
export async function checkBundle(bundle: WorkflowBundle): Promise<void> {
  if (checked.has(bundle.buildId)) return;
  await loadInSandbox(bundle, 'The agents module does not');
  checked.add(bundle.buildId);
}

export async function loadInSandbox({ code }: Pick<WorkflowBundle, 'code'>, what: string): Promise<void> {
  const error = await refusalOf(code);
  if (error === undefined) return;
  throw new HoldfastError('agents-invalid', `${what} load in the workflow sandbox: ${withSandboxHint(messageOf(error))}`, { cause: error });
}

async function refusalOf(code: string): Promise<unknown> {
  try {
    for await (const { activated, error } of replayRuns(
      code,
      [{ id: 'check', place: 'check', path: '', history: firstTask() }],
      undefined,
    )) {
      const thrown = activated.at(-1)?.failure;
      if (thrown != null) return new Error(thrown.message ?? '', { cause: error });
      if (error !== undefined) return error;
    }
    return undefined;
  } catch (error) {
    return error;
  }
}

/** JSON, which the SDK accepts. A run without an agent fails in its first task, and so must its replay. */
function firstTask(): History {
  const input = {
    start: { version: 1, tenant: 'check', id: 'check', agent: '', input: '', values: {}, stream: false, options: {}, tags: [] },
  };
  const payload = {
    metadata: { encoding: Buffer.from('json/plain').toString('base64') },
    data: Buffer.from(JSON.stringify(input)).toString('base64'),
  };
  const runId = '00000000-0000-4000-8000-000000000000';
  const failure = { message: 'no agent', applicationFailureInfo: { type: 'agent-unknown', nonRetryable: true } };
  const events: readonly object[] = [
    {
      eventType: 'EVENT_TYPE_WORKFLOW_EXECUTION_STARTED',
      workflowExecutionStartedEventAttributes: {
        workflowType: { name: names.workflow },
        taskQueue: { name: 'check', kind: 'TASK_QUEUE_KIND_NORMAL' },
        input: { payloads: [payload] },
        workflowTaskTimeout: '10s',
        originalExecutionRunId: runId,
        firstExecutionRunId: runId,
        attempt: 1,
      },
    },
    {
      eventType: 'EVENT_TYPE_WORKFLOW_TASK_SCHEDULED',
      workflowTaskScheduledEventAttributes: { taskQueue: { name: 'check' }, startToCloseTimeout: '10s', attempt: 1 },
    },
    { eventType: 'EVENT_TYPE_WORKFLOW_TASK_STARTED', workflowTaskStartedEventAttributes: { scheduledEventId: '2' } },
    {
      eventType: 'EVENT_TYPE_WORKFLOW_TASK_COMPLETED',
      workflowTaskCompletedEventAttributes: { scheduledEventId: '2', startedEventId: '3' },
    },
    {
      eventType: 'EVENT_TYPE_WORKFLOW_EXECUTION_FAILED',
      workflowExecutionFailedEventAttributes: { failure, workflowTaskCompletedEventId: '4' },
    },
  ];
  const history: object = { events: events.map((event, at) => ({ eventId: String(at + 1), eventTime: '2026-01-01T00:00:00Z', ...event })) };
  return history;
}
