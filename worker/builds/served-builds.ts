import type { Worker } from '@temporalio/worker';
import { HoldfastError, codeOf, messageOf } from '../../contract/errors';
import { runIdOf } from '../../contract/names';
import type { WorkflowBundle } from '../bundle/bundle';
import type { BundleStore } from '../bundle/bundle-store';
import type { Deployment } from './deployment';
import { Findings } from './findings';
import { Succession } from './succession';
import { memoryLossOf } from '../threads/memory-loss';

interface BuildServing {
  readonly start: (bundle: WorkflowBundle, isNewest: boolean) => Promise<Worker>;
  readonly store: BundleStore;
  readonly keep: (bundle: WorkflowBundle) => Promise<void>;
  readonly deployment: Deployment;
  readonly buildCheckMs: number;
  readonly unservedMs: number;
  readonly onProblem: (problem: HoldfastError) => void;
  readonly retired: (buildId: string) => void;
  /** Called for a worker that stopped unasked. */
  readonly failed: (error: HoldfastError) => void;
}

interface ServedBuild {
  readonly worker: Worker;
  readonly done: Promise<void>;
}

/** How long the server may take to list a run that began just before its build was replaced. */
const listedMs = 3_000;
/** A replaced build is kept for at least this time, but not for ever, because saving all day would fill the disk. */
const keptMs = 60_000;

export class ServedBuilds {
  private readonly served = new Map<string, ServedBuild>();
  private readonly draining = new Map<string, Promise<void>>();
  private readonly replaced = new Map<string, number>();
  private readonly findings: Findings;
  private readonly succession: Succession;
  private stopping = false;
  private line: Promise<void> = Promise.resolve();
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

  get newest(): string {
    return this.newestId;
  }

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
    // A server that was too busy to list open runs is asked again soon.
    this.lookAgain(this.findings.untold ? Math.min(1000, this.parts.buildCheckMs) : this.parts.buildCheckMs);
  }

  /**
   * `switchParts` is called when the build is served and only the server can still fail, and returns an undo function. Checks of builds
   * yield to a change.
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

  /** A build is served even if a manager decides alone. */
  private async makeCurrent(buildId: string): Promise<void> {
    const managed = await this.parts.deployment.makeCurrent(buildId, () => !this.stopping);
    if (managed !== undefined) this.parts.onProblem(managed);
  }

  /** Serves exactly the older builds with open runs. */
  check(): Promise<void> {
    return this.inLine(() => this.serveOpen());
  }

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

  private get hasFresh(): boolean {
    return this.parts.buildCheckMs > listedMs && [...this.replaced.keys()].some((buildId) => this.wasReplaced(buildId, listedMs));
  }

  private wasReplaced(buildId: string, milliseconds: number): boolean {
    return Date.now() - (this.replaced.get(buildId) ?? -Infinity) < milliseconds;
  }

  /** Problems are reported, never thrown. */
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

  /** Calls of ended runs may go on until their timeout, and are not awaited. */
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

function memoryLossText(error: unknown): string | undefined {
  const running = memoryLossOf(error)?.map(runIdOf);
  if (running === undefined) return undefined;
  const [likely, ...others] = running;
  if (likely === undefined) return 'No run was in a task.';
  return `The run ${likely} was in a task${others.length === 0 ? '' : `, or about to be: ${others.join(', ')}`}.`;
}
