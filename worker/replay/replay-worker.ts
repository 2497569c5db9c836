import type { DataConverter } from '@temporalio/common';
import type { coresdk } from '@temporalio/proto';
import { defined } from '../../contract/defined';
import { messageOf } from '../../contract/errors';
import type { HistoryFile } from '../../host/history/history-files';
import { startOf } from '../../host/history/history-files';
import type { Workflow, WorkflowCreator } from '../sdk-internals';
import { hasLooped, replayInThread } from '../sdk-internals';
import { watchedReplayer } from '../threads/watched-worker';

type Activation = Parameters<Workflow['activate']>[0];
type Completion = Awaited<ReturnType<Workflow['activate']>>;
export type TodayCommand = coresdk.workflow_commands.IWorkflowCommand;

export interface Activated {
  /** The event at which the task of the activation began. */
  readonly task: number;
  readonly time: number;
  readonly commands: readonly TodayCommand[];
  readonly failure?: coresdk.workflow_completion.IFailure['failure'];
  readonly looped?: true;
}

export interface ReplayedRun {
  readonly file: HistoryFile;
  readonly activated: readonly Activated[];
  readonly error?: Error;
}

/** More than a worker's 5 s, because tests share their processors. */
const limitMs = 10_000;

export async function* replayRuns(
  code: string,
  files: readonly HistoryFile[],
  dataConverter: DataConverter | undefined,
): AsyncGenerator<ReplayedRun> {
  let activated: Activated[] = [];
  const replayer = watchedReplayer((workflows) => observed(workflows, (one) => activated.push(one)));
  const histories = files.map(({ id, history }) => ({ workflowId: startOf(history)?.workflowId || id, history }));
  const options = { ...replayInThread, workflowBundle: { code }, isolateExecutionTimeout: limitMs, ...defined({ dataConverter }) };
  const replays = replayer.runReplayHistories(options, histories);
  try {
    for (const file of files) {
      const step = await replays.next();
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

function observed(workflows: WorkflowCreator, observe: (activated: Activated) => void): WorkflowCreator {
  const noteFailure = (before: Pick<Activated, 'task' | 'time'>, error: unknown): void =>
    observe({ ...before, commands: [], failure: { message: messageOf(error) }, ...loopedIn(error) });
  return {
    async createWorkflow(options) {
      const { historyLength, startTime } = options.info;
      const workflow = await workflows.createWorkflow(options).catch((error: unknown) => {
        noteFailure({ task: historyLength, time: startTime.getTime() }, error);
        throw error;
      });
      return {
        async activate(activation) {
          const before = timeOf(activation);
          try {
            const completion = await workflow.activate(activation);
            observe({ ...before, ...resultOf(completion) });
            return completion;
          } catch (error) {
            noteFailure(before, error);
            throw error;
          }
        },
        getAndResetSinkCalls: () => workflow.getAndResetSinkCalls(),
        dispose: () => workflow.dispose(),
      };
    },
    destroy: () => workflows.destroy(),
  };
}

function timeOf({ historyLength, timestamp }: Activation): Pick<Activated, 'task' | 'time'> {
  return { task: historyLength ?? 0, time: Number(timestamp?.seconds ?? 0) * 1000 + Math.floor((timestamp?.nanos ?? 0) / 1e6) };
}

function resultOf({ successful, failed }: Completion): Pick<Activated, 'commands' | 'failure' | 'looped'> {
  const { failure } = failed ?? {};
  return { commands: successful?.commands ?? [], ...(failure == null ? {} : { failure, ...loopedIn(failure.message) }) };
}

function loopedIn(error: unknown): Pick<Activated, 'looped'> {
  return hasLooped(error) ? { looped: true } : {};
}
