import { relative } from 'node:path';
import { checkKeyedEnvironment } from '../../activities/models/providers/keyed';
import { defined } from '../../contract/defined';
import { codeOf, errorTable } from '../../contract/errors';
import type { MaybePromise } from '../../contract/maybe-promise';
import type { Project } from '../../service/project/load-project';
import { bundleAgents } from '../../worker/bundle/bundle';
import type { HoldfastWorker } from '../../worker/create-worker';
import { prepareThread } from '../../worker/threads/spare-thread';
import { defaultModel } from './default-model';
import { FreshProject, configurationFiles } from './fresh-project';
import { ofProject } from './open-worker';
import { toldFailure } from './place-in-source';
import type { ProcessSettings } from './process-settings';
import { WatchedFiles } from './watched-files';

interface WatchParts {
  readonly config: string | undefined;
  readonly settings: ProcessSettings;
  readonly loaded: FreshProject;
  readonly startedAt: number;
  readonly worker: HoldfastWorker;
  readonly onProject: (project: Project) => MaybePromise<void>;
}

/** Changes during a load cause another round, so constant saving needs a bound. */
const mostRounds = 5;

/** Takes over changed files, and reports changes that a running process cannot take over. */
export class ProjectWatch {
  private readonly files = new WatchedFiles(() => this.look());
  private project: Project;
  private agentFiles: ReadonlySet<string>;
  private isBundleOld = false;
  private hasFailed = false;
  /** Changes of a load that came too early. */
  private unsettled: string[] = [];
  private toldOfRestart = '';
  private isBusy = false;
  private isAsked = false;
  private isClosed = false;
  private working: Promise<void> = Promise.resolve();

  constructor(private readonly parts: WatchParts) {
    const { loaded, settings, startedAt } = parts;
    this.project = settings.project;
    this.agentFiles = loaded.agentFiles;
    this.files.set([...loaded.files], startedAt);
    prepareThread(settings.configuration.maxCachedRuns);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.files.close();
    await this.working;
  }

  private look(): void {
    this.isAsked = true;
    if (this.isBusy || this.isClosed) return;
    this.isBusy = true;
    this.working = this.rounds().finally(() => (this.isBusy = false));
  }

  private async rounds(): Promise<void> {
    while (this.isAsked && !this.isClosed) {
      this.isAsked = false;
      const { changed, touched } = this.files.take();
      const mayHelp = this.hasFailed && [...touched].some((path) => /\.([cm]?[jt]sx?|json)$/.test(path));
      const all = new Set([...this.unsettled.splice(0), ...changed]);
      if (changed.length > 0 || mayHelp) await this.takeOver(all);
    }
  }

  private async takeOver(changed: Set<string>): Promise<void> {
    const { logger } = this.parts.settings;
    const began = performance.now();
    try {
      for (let round = 1; ; round++) {
        const isDone = await this.round(changed, round === mostRounds);
        if (isDone || this.isClosed) break;
        for (const file of this.files.take().changed) changed.add(file);
      }
      this.hasFailed = false;
      const seconds = ((performance.now() - began) / 1000).toFixed(1);
      if (!this.isClosed) logger.info(`${named(changed)}: taken over in ${seconds} s.`, { build: this.parts.worker.buildId });
    } catch (error) {
      this.hasFailed = true;
      // A half-written file is not reported.
      if (this.files.hasChanged) return this.again(changed);
      const code = codeOf(error) ?? 'internal';
      const { reason, place } = toldFailure(error);
      logger.error(`${named(changed)}: not taken over, and what ran before goes on. ${reason}`, {
        code,
        fix: errorTable[code].fix,
        ...place,
      });
    }
  }

  private again(changed: ReadonlySet<string>): void {
    this.unsettled = [...changed];
    this.isAsked = true;
  }

  private async round(changed: ReadonlySet<string>, isLast: boolean): Promise<boolean> {
    const since = Date.now();
    const fresh = new FreshProject();
    const project = await this.load(fresh, changed, since);
    if (project.agentsFile !== this.project.agentsFile) this.isBundleOld = true;
    const bundle = this.isBundleOld ? await bundleAgents(project.agentsFile) : undefined;
    if (!isLast && this.files.hasChanged) return false;
    checkKeyedEnvironment(process.env);
    const { worker, settings } = this.parts;
    const before = defaultModel(worker);
    await worker.takeOver({ ...ofProject(project, true), ...defined({ bundle }) });
    const model = defaultModel(worker);
    if (model !== before) settings.logger.info(`The model \`default\` is now ${model}.`);
    this.isBundleOld = false;
    this.agentFiles = fresh.agentFiles;
    this.tellOfRestart(project);
    this.project = project;
    await this.parts.onProject(project);
    prepareThread(settings.configuration.maxCachedRuns);
    return true;
  }

  /** A failed load may miss files, so the known files stay watched. */
  private async load(fresh: FreshProject, changed: ReadonlySet<string>, since: number): Promise<Project> {
    const { config } = this.parts;
    let known: readonly string[] = [...this.files.paths];
    try {
      const project = await fresh.load(config);
      known = configurationFiles(config);
      return project;
    } finally {
      this.files.set(new Set([...fresh.files, ...known]), since);
      if ([...changed].some((file) => this.agentFiles.has(file) || fresh.agentFiles.has(file))) this.isBundleOld = true;
    }
  }

  /** Options of open parts need a restart, and each change is reported once. */
  private tellOfRestart({ config }: Project): void {
    const { config: before } = this.parts.settings.project;
    const fields = ['http', 'access', 'feed', 'notify', 'taskQueue', 'tenant', 'compress'] as const;
    const differ = fields.filter((field) => JSON.stringify(config[field]) !== JSON.stringify(before[field]));
    const objects = (['storage', 'store'] as const).filter((field) => (config[field] === undefined) !== (before[field] === undefined));
    const names = [...differ, ...objects];
    const isKnown = names.join() === this.toldOfRestart;
    this.toldOfRestart = names.join();
    if (names.length === 0 || isKnown) return;
    const [are, they] = names.length === 1 ? ['has', 'It takes'] : ['have', 'They take'];
    this.parts.settings.logger.warn(
      `${names.map((name) => `\`${name}\``).join(' and ')} of the configuration ${are} changed. ${they} effect when \`holdfast dev\` is started again.`,
    );
  }
}

function named(files: ReadonlySet<string>): string {
  const names = [...files].map((file) => relative(process.cwd(), file));
  if (names.length === 0) return 'The project';
  return names.length > 3 ? `${names.slice(0, 3).join(', ')} and ${names.length - 3} more` : names.join(', ');
}
