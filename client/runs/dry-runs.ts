import { defined } from '../../contract/defined';
import { runIdOf } from '../../contract/names';
import type { BulkAction } from '../../contract/service-facts';
import type { KeptAnswer } from './kept-answer';
import type { RunReader } from '../reading/run-reader';
import { checkMoves, ended } from '../connection/refusals';
import type { GoOnOptions } from './retry';

export interface DryRun {
  /** For an upgrade: the newest build, and whether the run would be asked to move. Only the build can tell whether its code fits. */
  readonly build?: string;
  readonly moved?: boolean;
}

export async function dryRun(
  { reader, newest }: { readonly reader: RunReader; readonly newest: KeptAnswer<string | undefined> },
  workflowId: string,
  action: BulkAction,
  options: GoOnOptions,
): Promise<DryRun> {
  if (action === 'retry') await reader.retries.prepare(workflowId, 'run-retry', options);
  if (action === 'cancel') {
    const { status } = await reader.executions.describe(workflowId);
    if (status.name !== 'RUNNING') throw ended(runIdOf(workflowId), status.name.toLowerCase());
  }
  if (action !== 'upgrade') return {};
  const view = await reader.view(workflowId);
  checkMoves(view, runIdOf(workflowId));
  const build = await newest.get();
  return defined({ build, moved: build !== view.build });
}
