import { Worker } from '@temporalio/worker';
import { globalHandlers } from '@temporalio/worker/lib/workflow/vm-shared';
import { strayRejections } from './stray-rejections';
import { HoldfastError, messageOf } from '../contract/errors';
import { names } from '../contract/names';
import { withSandboxHint } from '../contract/sandbox-lacks';
import type { WorkflowBundle } from './bundle';

const checked = new Set<string>();

/** Loads a bundle in the sandbox before anything is polled: a module that throws there would leave every run stuck. */
export async function checkBundle(bundle: WorkflowBundle): Promise<void> {
  if (checked.has(bundle.buildId)) return;
  await strayRejections.guard(() => loadInSandbox(bundle, 'The agents module does not'));
  checked.add(bundle.buildId);
}

type SourceMap = NonNullable<ReturnType<typeof globalHandlers.bundleFilenameToSourceMapConsumer.get>>;

/** A worker for a replay in this thread. `onMap` gets what the SDK has read of the map of the bundle. */
function checkWorker(onMap: (map: SourceMap) => void): typeof Worker {
  return class CheckWorker extends Worker {
    protected static override async createWorkflowCreator(
      ...given: Parameters<typeof Worker.createWorkflowCreator>
    ): ReturnType<typeof Worker.createWorkflowCreator> {
      const creator = await super.createWorkflowCreator(...given);
      const map = globalHandlers.bundleFilenameToSourceMapConsumer.get(given[0].filename);
      if (map !== undefined) onMap(map);
      return creator;
    }
  };
}

/** Loads code in the sandbox. `what` is the beginning of a sentence about it. */
export async function loadInSandbox({ buildId, code }: WorkflowBundle, what: string): Promise<void> {
  let map: SourceMap | undefined;
  try {
    await checkWorker((read) => (map = read)).runReplayHistory({ workflowBundle: { code }, replayName: `check-${buildId}` }, firstTask());
  } catch (error) {
    throw new HoldfastError('agents-invalid', `${what} load in the workflow sandbox: ${withSandboxHint(reasonOf(error))}`, {
      cause: error,
    });
  } finally {
    removePromiseHooks();
    // The SDK lets go of it, but what it has read stands in memory that is not collected.
    map?.destroy();
  }
}

/** Temporal quotes the failure of the task; what was thrown stands in it as its message. */
function reasonOf(error: unknown): string {
  const text = messageOf((error as { cause?: unknown }).cause ?? error);
  return /Failure \{ message: "((?:[^"\\]|\\.)*)", source/.exec(text)?.[1]?.replace(/\\(["'\\])/g, '$1') ?? text;
}

/** A replay runs in this thread and leaves a hook on every promise of it behind, which costs a millisecond a turn. */
export function removePromiseHooks(): void {
  globalHandlers.uninstall();
}

/** A history of a run of no agent, which fails in its first task: replaying it loads the module and must come to the same end. */
function firstTask(): object {
  const input = {
    start: { version: 1, tenant: 'check', id: 'check', agent: '', input: '', values: {}, stream: false, options: {}, tags: [] },
  };
  const payload = {
    metadata: { encoding: Buffer.from('json/plain').toString('base64') },
    data: Buffer.from(JSON.stringify(input)).toString('base64'),
  };
  const eventTime = '2026-01-01T00:00:00Z';
  return {
    events: [
      {
        eventId: '1',
        eventTime,
        eventType: 'EVENT_TYPE_WORKFLOW_EXECUTION_STARTED',
        workflowExecutionStartedEventAttributes: {
          workflowType: { name: names.workflow },
          taskQueue: { name: 'check', kind: 'TASK_QUEUE_KIND_NORMAL' },
          input: { payloads: [payload] },
          workflowTaskTimeout: '10s',
          originalExecutionRunId: '00000000-0000-4000-8000-000000000000',
          firstExecutionRunId: '00000000-0000-4000-8000-000000000000',
          attempt: 1,
        },
      },
      {
        eventId: '2',
        eventTime,
        eventType: 'EVENT_TYPE_WORKFLOW_TASK_SCHEDULED',
        workflowTaskScheduledEventAttributes: { taskQueue: { name: 'check' }, startToCloseTimeout: '10s', attempt: 1 },
      },
      {
        eventId: '3',
        eventTime,
        eventType: 'EVENT_TYPE_WORKFLOW_TASK_STARTED',
        workflowTaskStartedEventAttributes: { scheduledEventId: '2' },
      },
      {
        eventId: '4',
        eventTime,
        eventType: 'EVENT_TYPE_WORKFLOW_TASK_COMPLETED',
        workflowTaskCompletedEventAttributes: { scheduledEventId: '2', startedEventId: '3' },
      },
      {
        eventId: '5',
        eventTime,
        eventType: 'EVENT_TYPE_WORKFLOW_EXECUTION_FAILED',
        workflowExecutionFailedEventAttributes: {
          failure: { message: 'no agent', applicationFailureInfo: { type: 'agent-unknown', nonRetryable: true } },
          workflowTaskCompletedEventId: '4',
        },
      },
    ],
  };
}
