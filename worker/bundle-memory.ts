import { createHash, randomUUID } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { isHashed, makePrivate, privateFile } from '../host/private-files';
import type { WorkflowBundle } from './bundle';
import { bundleFrom } from './bundle';
import type { BundleStore } from './bundle-store';

/** What a bundle was made of. */
export interface BundleInputs {
  readonly files: readonly string[];
  /** Where the bundler looked and found nothing. A file there would be bundled in place of another. */
  readonly absent: readonly string[];
}

interface KnownBundle {
  readonly buildId: string;
  /** The hash of each file's content. */
  readonly files: Readonly<Record<string, string>>;
  readonly absent: readonly string[];
}

/** Bundling takes a second, and most starts of a worker find everything as it was. */
export async function bundleOnce(agentsPath: string, directory: string, store: BundleStore): Promise<WorkflowBundle> {
  const memory = new BundleMemory(directory, store);
  const known = await memory.find(agentsPath);
  if (known !== undefined) return known;
  const began = Date.now();
  const { bundle, inputs } = await bundleFrom(agentsPath);
  // What somebody writes meanwhile may not be what was bundled.
  if (!inputs.files.some((path) => statSync(path).mtimeMs >= began)) await memory.remember(agentsPath, bundle, inputs);
  return bundle;
}

/** Remembers what the bundle of an agents module was made of, beside the bundles. While all of that is the same, it need not be made again. */
class BundleMemory {
  constructor(
    private readonly directory: string,
    private readonly store: BundleStore,
  ) {}

  /** The bundle that bundling would make; undefined where that is not known. */
  async find(agentsPath: string): Promise<WorkflowBundle | undefined> {
    try {
      const known = JSON.parse(await readFile(await this.pathOf(agentsPath), 'utf8')) as KnownBundle;
      if (known.absent.some((path) => existsSync(path))) return undefined;
      const hashes = await Promise.all(Object.entries(known.files).map(async ([path, hash]) => (await hashOfFile(path)) === hash));
      return hashes.every(Boolean) ? await this.store.load(known.buildId) : undefined;
    } catch {
      // Nothing is known, or it cannot be read: the bundle is made, and remembered anew.
      return undefined;
    }
  }

  /** Where it cannot be written, the next start takes longer, and no more. */
  async remember(agentsPath: string, { buildId }: WorkflowBundle, { files, absent }: BundleInputs): Promise<void> {
    const path = await this.pathOf(agentsPath);
    const draft = `${path}.${randomUUID()}`;
    try {
      const hashes = await Promise.all(files.map(async (file) => [file, await hashOfFile(file)] as const));
      const known: KnownBundle = { buildId, files: Object.fromEntries(hashes), absent };
      makePrivate(this.directory, isHashed);
      await writeFile(draft, JSON.stringify(known), { mode: privateFile });
      await rename(draft, path);
    } catch {
      await rm(draft, { force: true });
    }
  }

  /** By all that has a say in how files become a bundle. */
  private async pathOf(agentsPath: string): Promise<string> {
    const own = await Promise.all([
      hashOfFile(__filename),
      hashOfFile(require.resolve('./bundle')),
      hashOfFile(require.resolve('./bundler-look')),
    ]);
    const path = resolve(agentsPath);
    const settings = await Promise.all(
      [process.cwd(), dirname(path)].map((folder) => hashOfFile(join(folder, '.swcrc')).catch(() => 'none')),
    );
    const key = JSON.stringify([path, process.cwd(), process.env['NODE_ENV'] ?? '', versionsOfBundler(), own, settings]);
    return join(this.directory, `${createHash('sha256').update(key).digest('hex').slice(0, 32)}.inputs.json`);
  }
}

function versionsOfBundler(): readonly string[] {
  const ofSdk = createRequire(require.resolve('@temporalio/worker'));
  return ['@temporalio/worker', '@swc/core', 'swc-loader', 'webpack'].map((name) => {
    try {
      return `${name} ${(ofSdk(`${name}/package.json`) as { version: string }).version}`;
    } catch {
      return name;
    }
  });
}

async function hashOfFile(path: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(path))
    .digest('hex');
}
