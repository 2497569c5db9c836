import type { Workflow, WorkflowCreateOptions, WorkflowCreator } from '@temporalio/worker/lib/workflow/interface';
import { codeAtHand } from '../../activities/health/code-at-hand';
import { names } from '../../contract/names';
import { OpenLocals, onlyQuery } from './beside-locals';
import { WrappedRun } from './wrapped-run';

type Activation = Parameters<Workflow['activate']>[0];
type Completion = Awaited<ReturnType<Workflow['activate']>>;

export interface IdleOptions {
  /** How long a run has no task until it leaves the memory of its worker. */
  readonly idleMs: number;
  /** Sends the query to a run. It fails by design, and what it fails with does not matter. */
  readonly query: (run: RunKey) => Promise<unknown>;
}

export interface RunKey {
  readonly workflowId: string;
  readonly runId: string;
}

/** Each is a task for the server. After a herd of starts they would keep others waiting. */
const mostQueries = 4;
/** Node takes a longer one for none. */
const longestTimer = 2 ** 31 - 1;

/**
 * Makes workflows that leave the memory of their worker when they had no task for a while. The SDK has no call for that. But Temporal's core lets go of a
 * run whose query it could not answer, and a query leaves nothing in the history. So an idle run is sent a query that is made to fail.
 */
export class IdleRuns implements WorkflowCreator {
  private readonly leaving: RunKey[] = [];
  private queries = 0;
  private isDestroyed = false;

  constructor(
    private readonly creator: WorkflowCreator,
    private readonly options: IdleOptions,
  ) {}

  async createWorkflow(options: WorkflowCreateOptions): Promise<Workflow> {
    const { workflowId, runId } = options.info;
    const workflow = await this.creator.createWorkflow(options);
    return new IdleRun(workflow, runId, Math.min(this.options.idleMs, longestTimer), () => this.leave({ workflowId, runId }));
  }

  destroy(): Promise<void> {
    this.isDestroyed = true;
    this.leaving.length = 0;
    return this.creator.destroy();
  }

  private leave(run: RunKey): void {
    this.leaving.push(run);
    this.next();
  }

  private next(): void {
    if (this.isDestroyed || this.queries >= mostQueries) return;
    const run = this.leaving.shift();
    if (run === undefined) return;
    this.queries += 1;
    const goOn = (): void => {
      this.queries -= 1;
      this.next();
    };
    void this.options.query(run).then(goOn, goOn);
  }
}

/** Temporal gives a workflow one activation after another, and disposes of it when it has left. */
class IdleRun extends WrappedRun {
  /** Set while the run may become idle. */
  private timer: NodeJS.Timeout | undefined;
  /** Their task is open, however long they take, and would be lost. */
  private readonly locals = new OpenLocals();
  /** The query was sent for this one. One that came into the memory for the query was not asked. */
  private isAsked = false;

  constructor(
    workflow: Workflow,
    private readonly runId: string,
    private readonly idleMs: number,
    private readonly onIdle: () => void,
  ) {
    super(workflow);
  }

  async activate(activation: Activation): Promise<Completion> {
    const asked = queryToLeave(activation);
    if (asked === onlyQuery && (this.isIdle || !this.isAsked)) return failedTask(activation);
    clearTimeout(this.timer);
    this.timer = undefined;
    try {
      // Code that was not woken for what came before refuses every query, and none that it runs has a handler for this one.
      return await this.worked(activation);
    } finally {
      if (this.locals.count === 0) this.wait();
    }
  }

  /** The time is over since its last task. A query to leave may come late, after other work. */
  private get isIdle(): boolean {
    return this.timer === undefined && this.locals.count === 0;
  }

  private wait(): void {
    this.timer = setTimeout(() => this.becomesIdle(), this.idleMs).unref();
  }

  /** Calls in this process are few, and their ends are tasks. Without the code they would ask more often whether they are told to stop. */
  private becomesIdle(): void {
    if (codeAtHand.hasCalls(this.runId)) return this.wait();
    this.timer = undefined;
    this.isAsked = true;
    this.onIdle();
  }

  private async worked(activation: Activation): Promise<Completion> {
    this.locals.came(activation);
    const completion = await this.workflow.activate(activation);
    this.locals.asked(completion);
    return completion;
  }

  override async dispose(): Promise<void> {
    clearTimeout(this.timer);
    await super.dispose();
  }
}

/** The id of the query that sends a run away. */
function queryToLeave({ jobs }: Activation): string | undefined {
  const [query] = (jobs ?? []).flatMap(({ queryWorkflow }) => (queryWorkflow?.queryType === names.leaveQuery ? [queryWorkflow] : []));
  return query === undefined ? undefined : (query.queryId ?? '');
}

/**
 * Nothing of it goes into the history: the task had a query only. It is also for a run that came into the memory for the query alone. Such a run has what
 * came since its last task, and would get what comes with the next one apart from that. A replay gets both at once.
 */
function failedTask({ runId }: Activation): Completion {
  return {
    runId: runId ?? '',
    failed: { failure: { message: 'The run leaves the memory of its worker, as it had no task for a while.' } },
  };
}
