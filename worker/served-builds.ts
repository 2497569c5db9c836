import type { Worker } from '@temporalio/worker';
import { HoldfastError, codeOf, messageOf } from '../contract/errors';
import { runIdOf } from '../contract/names';
import type { WorkflowBundle } from './bundle';
import type { BundleStore } from './bundle-store';
import type { Deployment } from './deployment';
import { Findings } from './findings';
import { Succession } from './succession';
import { memoryLossOf } from './threads/memory-loss';

/** What the builds of a process need of it. */
export interface BuildServing {
  readonly start: (bundle: WorkflowBundle, isNewest: boolean) => Promise<Worker>;
  readonly store: BundleStore;
  /** Checks a bundle and keeps it, where it is not kept yet. */
  readonly keep: (bundle: WorkflowBundle) => Promise<void>;
  readonly deployment: Deployment;
  readonly buildCheckMs: number;
  readonly unservedMs: number;
  readonly onProblem: (problem: HoldfastError) => void;
  /** Told of a build that is served no more. */
  readonly retired: (buildId: string) => void;
  /** Told of a worker that stopped unasked. */
  readonly failed: (error: HoldfastError) => void;
}

interface ServedBuild {
  readonly worker: Worker;
  readonly done: Promise<void>;
}

/** So long the server may take to list a run that has begun just before another build took its place. */
const listedMs = 3_000;
/** The code of a build that another replaced here is kept for so long at least: who saves all day would fill the disk. */
const keptMs = 60_000;

/** The Temporal workers of one process: of the newest build, and of each older build with open runs. */
export class ServedBuilds {
  private readonly served = new Map<string, ServedBuild>();
  /** Builds that are served no more, until their last call has ended. */
  private readonly draining = new Map<string, Promise<void>>();
  /** Builds that another replaced in this process, and when. */
  private readonly replaced = new Map<string, number>();
  private readonly findings: Findings;
  private readonly succession: Succession;
  private stopping = false;
  /** Looks at builds, and changes of the newest one: one after another. */
  private line: Promise<void> = Promise.resolve();
  /** How many of the changes have not ended. */
  private changes = 0;
  private timer: NodeJS.Timeout | undefined;
  private newestId: string;

  constructor(
    newest: string,
    private readonly parts: BuildServing,
  ) {
    const { deployment, onProblem, unservedMs, buildCheckMs } = parts;
    this.newestId = newest;
    this.succession = new Succession(deployment, newest, Math.max(unservedMs, 4 * buildCheckMs));
    this.findings = new Findings((problem) => {
      if (!this.stopping) onProblem(problem);
    });
  }

  /** The build that new runs go to. */
  get newest(): string {
    return this.newestId;
  }

  /** The builds that this process serves now. */
  get ids(): readonly string[] {
    return [...this.served.keys()];
  }

  get cachedRuns(): number {
    return [...this.served.values()].reduce((sum, { worker }) => sum + worker.getStatus().numCachedWorkflows, 0);
  }

  async open(bundle: WorkflowBundle, checkNamespace: () => Promise<void>): Promise<void> {
    await this.serve(bundle, true);
    await this.makeCurrent(bundle.buildId);
    await this.findings.during({ name: 'namespace', failed: 'How long runs are kept could not be looked up', work: checkNamespace });
    await this.check();
    // A server that was too busy to say which builds have open runs is asked again soon.
    this.lookAgain(this.findings.untold ? Math.min(1000, this.parts.buildCheckMs) : this.parts.buildCheckMs);
  }

  /**
   * New runs go to another build from now on, unless it is the same. `switchParts` is called when it is served and nothing can go wrong but the server. What
   * it returns undoes it. A look at builds lets a change go first.
   */
  async change(bundle: WorkflowBundle | undefined, switchParts: () => () => void): Promise<void> {
    this.changes++;
    await this.inLine(async () => {
      if (this.stopping) throw new HoldfastError('internal', 'The worker shuts down, and takes over nothing more.');
      if (bundle === undefined || bundle.buildId === this.newestId) return void switchParts();
      const { buildId } = bundle;
      await this.parts.keep(bundle);
      if (!this.served.has(buildId)) await this.serve(bundle, true);
      const undo = switchParts();
      try {
        await this.makeCurrent(buildId);
      } catch (error) {
        undo();
        this.replaced.set(buildId, Date.now());
        throw error;
      }
      this.replaced.set(this.newestId, Date.now());
      this.replaced.delete(buildId);
      this.newestId = buildId;
      this.succession.become(buildId);
      this.lookAgain(Math.min(listedMs + 50, this.parts.buildCheckMs));
    }).finally(() => this.changes--);
  }

  /** Where somebody else decides that, the build is served all the same, and a person is told. */
  private async makeCurrent(buildId: string): Promise<void> {
    const managed = await this.parts.deployment.makeCurrent(buildId, () => !this.stopping);
    if (managed !== undefined) this.parts.onProblem(managed);
  }

  /** Looks whether new runs find a worker, and which older builds still have open runs, and serves exactly those. */
  check(): Promise<void> {
    return this.inLine(() => this.serveOpen());
  }

  /** Drains: no new work begins, and running calls may end. */
  async stop(): Promise<void> {
    this.stopping = true;
    clearTimeout(this.timer);
    const drain = (): void => {
      for (const { worker } of this.served.values()) if (worker.getState() === 'RUNNING') worker.shutdown();
    };
    drain();
    await this.line.catch(() => undefined);
    drain();
    await Promise.allSettled([...[...this.served.values()].map(({ done }) => done), ...this.draining.values()]);
  }

  private inLine(work: () => Promise<void>): Promise<void> {
    const done = this.line.then(work);
    this.line = done.catch(() => undefined);
    return done;
  }

  private lookAgain(milliseconds: number): void {
    if (this.stopping) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      void this.check().then(() => this.lookAgain(this.hasFresh ? listedMs : this.parts.buildCheckMs));
    }, milliseconds);
    this.timer.unref();
  }

  /** A build that was replaced a moment ago is looked at soon. */
  private get hasFresh(): boolean {
    return this.parts.buildCheckMs > listedMs && [...this.replaced.keys()].some((buildId) => this.wasReplaced(buildId, listedMs));
  }

  /** Whether another build has replaced this one, no longer ago than that. */
  private wasReplaced(buildId: string, milliseconds: number): boolean {
    return Date.now() - (this.replaced.get(buildId) ?? -Infinity) < milliseconds;
  }

  /** Never fails: what cannot be looked at is told, and looked at again the next time. */
  private async serveOpen(): Promise<void> {
    const { findings } = this;
    const { store, deployment, onProblem } = this.parts;
    await findings.during({
      name: 'succession',
      failed: 'Which build new runs go to could not be looked up',
      work: async () => {
        const unserved = await this.succession.look(() => !this.stopping);
        if (unserved !== undefined) onProblem(unserved);
      },
    });
    const kept = await findings.during({
      name: 'bundles',
      failed: 'The directory of bundles could not be read, so that no other older build is served',
      work: () => store.builds(),
    });
    const known = await findings.during({
      name: 'builds',
      failed: 'Which builds there are could not be looked up',
      work: async () => {
        const { builds, drained } = await deployment.standing();
        return builds.filter((buildId) => !drained.has(buildId));
      },
    });
    for (const buildId of new Set([...(kept ?? []), ...(known ?? []), ...this.served.keys()])) {
      if (this.stopping || this.changes > 0) return;
      if (buildId === this.newestId) continue;
      await findings.during({
        name: `build ${buildId}`,
        failed: `Build ${buildId} could not be looked after, and runs of it may wait`,
        work: () => this.lookAfter(buildId),
      });
    }
  }

  /** Serves an older build while the build has open runs. Runs without code here wait, which is reported. */
  private async lookAfter(buildId: string): Promise<void> {
    const open = await this.parts.deployment.openRuns(buildId);
    const serving = this.served.get(buildId);
    if (open > 0 && serving === undefined) await this.serve(await this.codeFor(buildId, open), false);
    if (open > 0 || this.wasReplaced(buildId, listedMs)) return;
    if (serving !== undefined) this.retire(buildId, serving);
    if (!this.replaced.has(buildId) || this.wasReplaced(buildId, keptMs)) return;
    await this.parts.store.remove(buildId);
    this.replaced.delete(buildId);
  }

  /** Calls of runs that have ended may go on for as long as a tool may. Nobody waits for them. */
  private retire(buildId: string, { worker, done }: ServedBuild): void {
    this.served.delete(buildId);
    this.parts.retired(buildId);
    worker.shutdown();
    this.draining.set(
      buildId,
      done.finally(() => this.draining.delete(buildId)),
    );
  }

  private async codeFor(buildId: string, open: number): Promise<WorkflowBundle> {
    try {
      return await this.parts.store.load(buildId);
    } catch (error) {
      const waiting = open === 1 ? 'An open run was begun under it. It waits.' : `${open} open runs were begun under it. They wait.`;
      throw new HoldfastError(codeOf(error) ?? 'internal', `${messageOf(error)} ${waiting}`, { cause: error });
    }
  }

  private async serve(bundle: WorkflowBundle, isNewest: boolean): Promise<void> {
    const { start, failed } = this.parts;
    await this.draining.get(bundle.buildId);
    const worker = await start(bundle, isNewest);
    const done = worker.run().then(
      () => {
        if (!this.stopping && this.served.get(bundle.buildId)?.worker === worker)
          failed(new HoldfastError('internal', `The worker of build ${bundle.buildId} stopped unasked.`));
      },
      (error: unknown) => failed(failureOf(error, bundle.buildId)),
    );
    this.served.set(bundle.buildId, { worker, done });
  }
}

function failureOf(error: unknown, buildId: string): HoldfastError {
  const text = memoryLossText(error);
  if (text === undefined)
    return new HoldfastError('internal', `The worker of build ${buildId} failed: ${messageOf(error)}`, { cause: error });
  return new HoldfastError('out-of-memory', `The code of agents ran out of memory (build ${buildId}). ${text}`, { cause: error });
}

/** The run that used up the memory of workflow code, as a sentence. */
function memoryLossText(error: unknown): string | undefined {
  const running = memoryLossOf(error)?.map(runIdOf);
  if (running === undefined) return undefined;
  const [likely, ...others] = running;
  if (likely === undefined) return 'No run was in a task.';
  return `The run ${likely} was in a task${others.length === 0 ? '' : `, or about to be: ${others.join(', ')}`}.`;
}
