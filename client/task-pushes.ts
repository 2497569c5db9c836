import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkflowClient } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/client';
import { HoldfastError, codeOf } from '../contract/errors';
import { limits } from '../contract/limits';
import { names } from '../contract/names';
import type { PushCommand, PushConfig, PushedTask, ShownPushConfig, TaskPushInput } from '../contract/task-push';
import { pushBegin, pushQueuesOf, shownPushConfig } from '../contract/task-push';
import { withCode } from './connection/lost-server';
import type { Executions } from './reading/executions';

const patienceMs = 5000;
const lookMs = 50;

interface PushSettings {
  readonly workflow: WorkflowClient;
  readonly executions: Executions;
  readonly tenant: string;
  readonly taskQueue: string;
}

/** A workflow for each task stores them. */
export class TaskPushes {
  constructor(private readonly settings: PushSettings) {}

  /** Sends all states of a new task to a receiver. Needs no worker. A repeated call changes nothing. */
  async begin(task: PushedTask, config: PushConfig): Promise<void> {
    await this.signal(task, { type: 'set', config, fromBeginning: true }, true);
  }

  /** Sends the current and later states of a task to a receiver. */
  async set(task: PushedTask, config: PushConfig): Promise<void> {
    const known = await this.list(task);
    if (known.length >= limits.pushConfigs && known.every(({ id }) => id !== config.id)) throw tooMany();
    await this.signal(task, { type: 'set', config }, false);
    const shown = JSON.stringify(shownPushConfig(config));
    await this.until(task, (configs) => configs.some((one) => JSON.stringify(shownPushConfig(one)) === shown), tooMany);
  }

  async list(task: PushedTask): Promise<readonly PushConfig[]> {
    const { executions } = this.settings;
    try {
      const { status, memo } = await executions.describe(this.workflowIdOf(task));
      const kept = memo[names.memo.pushes] as readonly ShownPushConfig[] | undefined;
      if (status.name !== 'RUNNING' || kept === undefined) return [];
      return kept.map(({ scheme, ...rest }) => ({ ...rest, ...(scheme === undefined ? {} : { authentication: { scheme } }) }));
    } catch (error) {
      if (codeOf(error) === 'run-unknown') return [];
      throw error;
    }
  }

  async remove(task: PushedTask, id: string): Promise<void> {
    const command: PushCommand = { type: 'remove', id };
    try {
      await this.settings.workflow.getHandle(this.workflowIdOf(task)).signal(names.pushSignal, command);
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return;
      throw withCode(error);
    }
    await this.until(task, (configs) => configs.every((one) => one.id !== id));
  }

  private async signal(task: PushedTask, command: Extract<PushCommand, { type: 'set' }>, once: boolean): Promise<void> {
    const { workflow, taskQueue, tenant } = this.settings;
    const { config, fromBeginning = false } = command;
    const input: TaskPushInput = {
      task: { ...task, tenant },
      queues: pushQueuesOf(taskQueue),
      receivers: [pushBegin(config, fromBeginning)],
    };
    try {
      await workflow.signalWithStart(names.pushWorkflow, {
        workflowId: this.workflowIdOf(task),
        taskQueue,
        args: [input],
        workflowIdReusePolicy: once ? 'REJECT_DUPLICATE' : 'ALLOW_DUPLICATE',
        workflowIdConflictPolicy: 'USE_EXISTING',
        memo: { [names.memo.pushes]: [shownPushConfig(config)] },
        signal: names.pushSignal,
        signalArgs: [command],
      });
    } catch (error) {
      if (!once || (error as { name?: unknown }).name !== 'WorkflowExecutionAlreadyStartedError') throw withCode(error);
    }
  }

  /** The change counts even after a timeout, as soon as a worker polls. */
  private async until(task: PushedTask, isSo: (configs: readonly PushConfig[]) => boolean, otherwise?: () => HoldfastError): Promise<void> {
    const end = Date.now() + patienceMs;
    for (;;) {
      const configs = await this.list(task);
      if (isSo(configs)) return;
      if (otherwise !== undefined && configs.length >= limits.pushConfigs) throw otherwise();
      if (Date.now() > end)
        throw new HoldfastError('worker-missing', `No worker took the change of receivers within ${patienceMs / 1000} s.`);
      await sleep(lookMs);
    }
  }

  private workflowIdOf({ contextId, message }: PushedTask): string {
    return `push:${this.settings.tenant}/${contextId}~${message}`;
  }
}

function tooMany(): HoldfastError {
  return new HoldfastError('push-refused', `A task has at most ${limits.pushConfigs} receivers. Delete one first.`);
}
