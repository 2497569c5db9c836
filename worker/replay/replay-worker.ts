import type { DataConverter, Logger } from '@temporalio/common';
import type { coresdk } from '@temporalio/proto';
import { Worker } from '@temporalio/worker';
import type { CompiledWorkerOptions } from '@temporalio/worker/lib/worker-options';
import type { Workflow, WorkflowCreateOptions, WorkflowCreator } from '@temporalio/worker/lib/workflow/interface';
import { defined } from '../../contract/defined';
import type { HistoryFile } from '../../host/history/history-files';
import { startOf } from '../../host/history/history-files';
import type { ThreadParts } from '../threads/watched-thread';
import { WatchedThreads } from '../threads/watched-threads';
import { withQuietRuntime } from './quiet-runtime';

type Activation = Parameters<Workflow['activate']>[0];
type Completion = Awaited<ReturnType<Workflow['activate']>>;
export type TodayCommand = coresdk.workflow_commands.IWorkflowCommand;

/** What the code of today did when it was woken once. */
export interface Activated {
  /** The event of the history at which the task began that it was woken in. */
  readonly task: number;
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly commands: readonly TodayCommand[];
  /** Why the code failed, as the server would have it. */
  readonly failure?: coresdk.workflow_completion.IFailure['failure'];
  /** It was ended, as it went on without a pause. */
  readonly looped?: true;
}

export interface ReplayedRun {
  readonly file: HistoryFile;
  readonly activated: readonly Activated[];
  /** What Temporal's replay says against it. */
  readonly error?: Error;
}

/** How long code of a run may go on without a pause. A worker allows 5 s; tests run where other tests do. */
const limitMs = 10_000;

/** Replays one history after another, in a thread that is ended when code of a run goes on for ever. Temporal's log is not heard. */
export async function* replayRuns(
  code: string,
  files: readonly HistoryFile[],
  dataConverter: DataConverter | undefined,
): AsyncGenerator<ReplayedRun> {
  let activated: Activated[] = [];
  const ReplayWorker = replayWorker((one) => activated.push(one));
  const histories = files.map(({ id, history }) => ({ workflowId: startOf(history)?.workflowId || id, history }));
  const options = { workflowBundle: { code }, ...defined({ dataConverter }) };
  const replays = ReplayWorker.runReplayHistories(options, histories);
  try {
    for (const file of files) {
      const step = await (file === files[0] ? withQuietRuntime(() => replays.next()) : replays.next());
      if (step.done === true) return;
      const { error } = step.value;
      const run = activated;
      activated = [];
      yield { file, activated: run, ...defined({ error }) };
    }
  } finally {
    await replays.return?.();
  }
}

/** A worker of Temporal's SDK for replays that shows what the code of a run asks for, and with what. */
function replayWorker(observe: (activated: Activated) => void): typeof Worker {
  return class ReplayWorker extends Worker {
    protected static override async createWorkflowCreator(
      bundle: ThreadParts['bundle'],
      options: CompiledWorkerOptions,
      logger: Logger,
    ): Promise<WorkflowCreator> {
      const { reuseV8Context } = options;
      const threads = await WatchedThreads.create({
        bundle,
        activityNames: new Set<string>(),
        logger,
        limitMs,
        stackTraces: false,
        reuseV8Context,
      });
      return new ObservedWorkflows(threads, observe);
    }
  };
}

class ObservedWorkflows implements WorkflowCreator {
  constructor(
    private readonly inner: WorkflowCreator,
    private readonly observe: (activated: Activated) => void,
  ) {}

  async createWorkflow(options: WorkflowCreateOptions): Promise<Workflow> {
    const { observe } = this;
    const workflow = await this.inner.createWorkflow(options);
    return {
      async activate(activation) {
        const before = timeOf(activation);
        try {
          const completion = await workflow.activate(activation);
          observe({ ...before, ...resultOf(completion) });
          return completion;
        } catch (error) {
          const looped = /Script execution timed out/.test(String(error)) || undefined;
          observe({ ...before, commands: [], failure: { message: String(error) }, ...defined({ looped }) });
          throw error;
        }
      },
      getAndResetSinkCalls: () => workflow.getAndResetSinkCalls(),
      dispose: () => workflow.dispose(),
    };
  }

  destroy(): Promise<void> {
    return this.inner.destroy();
  }
}

function timeOf({ historyLength, timestamp }: Activation): Pick<Activated, 'task' | 'time'> {
  return { task: historyLength ?? 0, time: Number(timestamp?.seconds ?? 0) * 1000 + Math.floor((timestamp?.nanos ?? 0) / 1e6) };
}

function resultOf({ successful, failed }: Completion): Pick<Activated, 'commands' | 'failure'> {
  return { commands: successful?.commands ?? [], ...defined({ failure: failed?.failure ?? undefined }) };
}
