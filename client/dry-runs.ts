import { defined } from '../contract/defined';
import type { BulkAction } from '../contract/service-facts';
import type { DeploymentReader } from '../host/deployment';
import { checkMoves, ended } from './refusals';
import type { RunReader } from './reading/run-reader';
import type { GoOnOptions } from './retry';

/** What would come of it. */
export interface DryRun {
  /** Of an upgrade: the newest build, and whether the run would be asked to move to it. Only that build itself can say whether its code fits. */
  readonly build?: string;
  readonly moved?: boolean;
}

const keptMs = 1000;

/** Says what would become of an action, and changes nothing. It throws what the action would be refused with, as far as the record of the run says so. */
export class DryRuns {
  private newest: { readonly at: number; readonly build: Promise<string | undefined> } | undefined;

  constructor(
    private readonly reader: RunReader,
    private readonly deployment: Pick<DeploymentReader, 'standing'>,
    private readonly now: () => number = Date.now,
  ) {}

  async of(workflowId: string, id: string, action: BulkAction, options: GoOnOptions = {}): Promise<DryRun> {
    const { reader } = this;
    if (action === 'retry') {
      await reader.retries.prepare(workflowId, 'run-retry', options);
      return {};
    }
    if (action === 'cancel') {
      const { status } = await reader.executions.describe(workflowId);
      if (status.name !== 'RUNNING') throw ended(id, status.name.toLowerCase());
      return {};
    }
    const view = await reader.view(workflowId);
    checkMoves(view, id);
    const build = await this.newestBuild();
    return defined({ build, moved: build !== view.build });
  }

  /** Many runs are asked about at once. */
  private newestBuild(): Promise<string | undefined> {
    if (this.newest === undefined || this.now() - this.newest.at >= keptMs)
      this.newest = { at: this.now(), build: this.deployment.standing().then(({ current }) => current) };
    return this.newest.build;
  }
}
