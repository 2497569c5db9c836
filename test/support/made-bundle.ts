import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { WorkflowBundle } from '../../worker/bundle/bundle';
import { bundleOnce } from '../../worker/bundle/bundle-memory';
import { BundleStore } from '../../worker/bundle/bundle-store';

const packages = dirname(dirname(dirname(require.resolve('@temporalio/worker/package.json'))));
const folder = join(packages, '.cache', 'holdfast', 'bundles');
const keptMs = 2 * 24 * 3600_000;

/** Test files and Jest runs share the bundle until a source file changes. */
export async function madeBundle(agents: string): Promise<WorkflowBundle> {
  const store = new BundleStore(folder);
  const bundle = await bundleOnce(agents, folder, store);
  if (!(await store.holds(bundle.buildId))) await store.save(bundle);
  return bundle;
}

export function isOurs(path: string): boolean {
  return !relative(dirname(packages), path).startsWith('..');
}

export function forgetOldBundles(): void {
  if (!existsSync(folder)) return;
  for (const path of readdirSync(folder).map((name) => join(folder, name)))
    if (Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity) > keptMs) rmSync(path, { force: true });
}
