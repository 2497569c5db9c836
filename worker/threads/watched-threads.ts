import { ApplicationFailure } from '@temporalio/common';
import { names } from '../../contract/names';
import type { ThreadParts, Workflow, WorkflowCreateOptions, WorkflowCreator } from '../sdk-internals';
import { WatchedThread, isThreadEnded } from '../sdk-internals';
import { takeThread } from './spare-thread';

/** Workflows that looped; the oldest are forgotten. */
const mostLoopers = 1000;
/** Each waiting workflow holds one of the worker's 16 places for tasks. */
const mostWaiting = 8;
const mostTries = 5;

/**
 * One thread for all workflows, and one for workflows that have looped. Their first tasks run one after another; otherwise each would end
 * the thread of the others before their own code has shown a loop.
 */
export class WatchedThreads implements WorkflowCreator {
  private readonly loopers = new Set<string>();
  private readonly main: ThreadPlace;
  private readonly apart: ThreadPlace;
  private lastTurn: Promise<void> = Promise.resolve();
  private waiting = 0;
  private isDestroyed = false;

  private constructor(parts: ThreadParts) {
    const start = (): Promise<WatchedThread> =>
      WatchedThread.start(takeThread(parts.stackTraces, parts.cachedRuns), parts, (workflowId) => this.noteLoop(workflowId));
    this.main = new ThreadPlace(start);
    this.apart = new ThreadPlace(start);
  }

  static async create(parts: ThreadParts): Promise<WatchedThreads> {
    const threads = new WatchedThreads(parts);
    await threads.main.thread();
    return threads;
  }

  async createWorkflow(options: WorkflowCreateOptions): Promise<Workflow> {
    for (let tries = 1; ; tries++) {
      if (this.loopers.has(options.info.workflowId)) return this.createApart(options);
      try {
        return await (await this.main.thread()).createWorkflow(options);
      } catch (error) {
        if (!isThreadEnded(error) || tries === mostTries) throw error;
      }
    }
  }

  async destroy(): Promise<void> {
    this.isDestroyed = true;
    for (const place of [this.main, this.apart]) await place.destroy();
  }

  private async createApart(options: WorkflowCreateOptions): Promise<Workflow> {
    const turn = await this.turn();
    try {
      return firstTask(await (await this.apart.thread()).createWorkflow(options), turn);
    } catch (error) {
      turn();
      throw error;
    }
  }

  /** The caller gives the turn back. */
  private async turn(): Promise<() => void> {
    if (this.waiting >= mostWaiting)
      throw ApplicationFailure.create({
        type: names.threadEnded,
        message: 'The code of this run has gone on without a pause before, and so has that of others, which have their turn first.',
      });
    this.waiting += 1;
    const before = this.lastTurn;
    let giveBack: () => void = () => undefined;
    this.lastTurn = new Promise((resolve) => (giveBack = resolve));
    await before;
    this.waiting -= 1;
    return giveBack;
  }

  private noteLoop(workflowId: string | undefined): void {
    if (workflowId !== undefined) {
      this.loopers.delete(workflowId);
      this.loopers.add(workflowId);
    }
    const [oldest] = this.loopers;
    if (this.loopers.size > mostLoopers && oldest !== undefined) this.loopers.delete(oldest);
    if (!this.isDestroyed) void this.main.thread().catch(() => undefined);
  }
}

/** After a failed start the next caller starts a thread. */
class ThreadPlace {
  private current: Promise<WatchedThread> | undefined;

  constructor(private readonly start: () => Promise<WatchedThread>) {}

  async thread(): Promise<WatchedThread> {
    const known = this.current;
    const thread = await known?.catch(() => undefined);
    if (thread?.hasEnded === false) return thread;
    // Another caller may have seen the end first.
    if (this.current === known) this.current = this.start();
    return this.current as Promise<WatchedThread>;
  }

  async destroy(): Promise<void> {
    await (await this.current?.catch(() => undefined))?.destroy();
  }
}

function firstTask(workflow: Workflow, giveBack: () => void): Workflow {
  return {
    activate: (activation) => workflow.activate(activation).finally(giveBack),
    getAndResetSinkCalls: () => workflow.getAndResetSinkCalls(),
    dispose: () => {
      giveBack();
      return workflow.dispose();
    },
  };
}
