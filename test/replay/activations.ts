import type { Logger } from '@temporalio/common';
import { coresdk } from '@temporalio/proto';
import { Worker } from '@temporalio/worker';
import type { CompiledWorkerOptions } from '@temporalio/worker/lib/worker-options';
import type { Workflow, WorkflowCreateOptions, WorkflowCreator } from '@temporalio/worker/lib/workflow/interface';
import type { WorkflowBundleWithSourceMapAndFilename } from '@temporalio/worker/lib/workflow/workflow-worker-thread/input';
import { defined } from '../../contract/defined';
import type { HistoryFile } from '../../host/history/history-files';
import { startOf } from '../../host/history/history-files';
import { withCompression } from '../../host/payloads/compression';
import { WatchedThreads } from '../../worker/threads/watched-threads';
import { quietRuntime } from '../../worker/runtime';

export const { WorkflowActivation, WorkflowActivationJob } = coresdk.workflow_activation;
export type Activation = coresdk.workflow_activation.WorkflowActivation;
export type Job = coresdk.workflow_activation.IWorkflowActivationJob;
export type Command = coresdk.workflow_commands.IWorkflowCommand;

export interface Step {
  readonly activation: Activation;
  readonly commands: readonly Command[];
  readonly failure?: string;
}

export interface PlayedRun {
  readonly id: string;
  readonly options: WorkflowCreateOptions;
  readonly steps: readonly Step[];
  readonly error?: Error;
}

/** Core plays a history once; afterwards, new workflows of the run take activations without core. */
export class Sandbox {
  private played = 0;

  private constructor(
    readonly runs: readonly PlayedRun[],
    private readonly workflows: readonly WorkflowCreator[],
  ) {}

  static async open(code: string, files: readonly HistoryFile[]): Promise<Sandbox> {
    quietRuntime();
    const seen: { options: WorkflowCreateOptions; steps: Step[] }[] = [];
    const workflows: WorkflowCreator[] = [];
    class Recording extends Worker {
      protected static override async createWorkflowCreator(
        bundle: WorkflowBundleWithSourceMapAndFilename,
        options: CompiledWorkerOptions,
        logger: Logger,
      ): Promise<WorkflowCreator> {
        const start = (): Promise<WorkflowCreator> =>
          WatchedThreads.create({
            ...{ bundle, logger, activityNames: new Set(), limitMs: 10_000, stackTraces: false },
            reuseV8Context: options.reuseV8Context,
            cachedRuns: options.maxCachedWorkflows,
          });
        for (let thread = 0; thread < threads; thread++) workflows.push(await start());
        const inner = await start();
        return {
          async createWorkflow(given) {
            const steps: Step[] = [];
            seen.push({ options: given, steps });
            return recorded(await inner.createWorkflow(given), steps);
          },
          destroy: () => inner.destroy(),
        };
      }
    }
    const histories = files.map(({ id, history }) => ({ workflowId: startOf(history)?.workflowId || id, history }));
    const replays = Recording.runReplayHistories({ workflowBundle: { code }, dataConverter: withCompression(undefined) }, histories);
    const runs: PlayedRun[] = [];
    for await (const { error } of replays) {
      const { id = '' } = files[runs.length] ?? {};
      const run = seen[runs.length];
      if (run === undefined) throw error ?? new Error(`Nothing of ${id} was played.`);
      runs.push({ id, ...run, ...defined({ error }) });
    }
    return new Sandbox(runs, workflows);
  }

  async play({ options }: PlayedRun, activations: readonly Activation[]): Promise<readonly Step[]> {
    const thread = this.workflows[this.played++ % threads] as WorkflowCreator;
    const workflow = await thread.createWorkflow(options);
    const steps: Step[] = [];
    try {
      for (const activation of activations) {
        const step = await stepOf(workflow, activation);
        steps.push(step);
        if (step.failure !== undefined) break;
      }
      return steps;
    } finally {
      await workflow.dispose();
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.workflows.map((one) => one.destroy()));
  }
}

export const threads = 2;

function recorded(workflow: Workflow, steps: Step[]): Workflow {
  return {
    async activate(given) {
      const activation = copyOf(WorkflowActivation.fromObject(given));
      const completion = await workflow.activate(given);
      steps.push({ activation, ...doneIn(completion) });
      return completion;
    },
    getAndResetSinkCalls: () => workflow.getAndResetSinkCalls(),
    dispose: () => workflow.dispose(),
  };
}

async function stepOf(workflow: Workflow, activation: Activation): Promise<Step> {
  try {
    const completion = await workflow.activate(copyOf(activation));
    await workflow.getAndResetSinkCalls();
    return { activation, ...doneIn(completion) };
  } catch (error) {
    return { activation, commands: [], failure: (error as Error).message };
  }
}

function doneIn({ successful, failed }: Awaited<ReturnType<Workflow['activate']>>): Pick<Step, 'commands' | 'failure'> {
  return { commands: successful?.commands ?? [], ...defined({ failure: failed?.failure?.message ?? undefined }) };
}

/** A copy, because the SDK mutates activations. */
function copyOf(activation: Activation): Activation {
  return WorkflowActivation.decode(WorkflowActivation.encode(activation).finish());
}
