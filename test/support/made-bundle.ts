import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { WorkflowBundle } from '../../worker/bundle';
import { bundleOnce } from '../../worker/bundle-memory';
import { BundleStore } from '../../worker/bundle-store';

const packages = dirname(dirname(dirname(require.resolve('@temporalio/worker/package.json'))));
const folder = join(packages, '.cache', 'holdfast', 'bundles');
const keptMs = 2 * 24 * 3600_000;

/** The bundle of an agents module of ours. Test files and runs of Jest share it while no file of it has changed. */
export async function madeBundle(agents: string): Promise<WorkflowBundle> {
  const store = new BundleStore(folder);
  const bundle = await bundleOnce(agents, folder, store);
  if (!(await store.holds(bundle.buildId))) await store.save(bundle);
  return bundle;
}

/** Whether a file is one of this repository, and no test's own. */
export function isOurs(path: string): boolean {
  return !relative(dirname(packages), path).startsWith('..');
}

/** What nobody has made for days is made again when it is wanted. */
export function forgetOldBundles(): void {
  if (!existsSync(folder)) return;
  for (const path of readdirSync(folder).map((name) => join(folder, name)))
    if (Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity) > keptMs) rmSync(path, { force: true });
}
