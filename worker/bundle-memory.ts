import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { defined } from '../contract/defined';
import { fileState } from '../host/file-state';
import { isHashed, keepIfPossible, makePrivate } from '../host/private-files';
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
  readonly files: Readonly<Record<string, KnownFile>>;
  readonly absent: readonly string[];
}

interface KnownFile {
  readonly hash: string;
  /** What the operating system said of it. Without it the content is read each time. */
  readonly state?: string;
}

/** `isKept`: it comes from the store, whole. */
export interface BundleOfStart extends WorkflowBundle {
  readonly isKept: boolean;
}

/** Bundling takes a second, and most starts of a worker find everything as it was. */
export async function bundleOnce(agentsPath: string, directory: string, store: BundleStore): Promise<BundleOfStart> {
  const memory = new BundleMemory(directory, store);
  const known = await memory.find(agentsPath);
  if (known !== undefined) return { ...known, isKept: true };
  const began = Date.now();
  const { bundle, inputs } = await bundleFrom(agentsPath);
  // What somebody writes meanwhile may not be what was bundled.
  if (!inputs.files.some((path) => statSync(path).mtimeMs >= began)) memory.remember(agentsPath, bundle, inputs);
  return { ...bundle, isKept: false };
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
      const known = JSON.parse(await readFile(this.pathOf(agentsPath), 'utf8')) as KnownBundle;
      if (known.absent.some((path) => existsSync(path))) return undefined;
      const now = Date.now();
      const files = Object.entries(known.files).map(([path, file]) => [path, sameFile(path, file, now)] as const);
      if (!files.every((file): file is [string, KnownFile] => file[1] !== undefined)) return undefined;
      const bundle = await this.store.load(known.buildId);
      // Such as after a copy of everything: from the next start on nothing need be read.
      if (files.some(([path, { state }]) => state !== known.files[path]?.state))
        this.write(agentsPath, { ...known, files: Object.fromEntries(files) });
      return bundle;
    } catch {
      // Nothing is known, or it cannot be read: the bundle is made, and remembered anew.
      return undefined;
    }
  }

  remember(agentsPath: string, { buildId }: WorkflowBundle, { files, absent }: BundleInputs): void {
    const now = Date.now();
    this.write(agentsPath, { buildId, files: Object.fromEntries(files.map((path) => [path, knownFile(path, now)])), absent });
  }

  /** Where it cannot be written, the next start takes longer, and no more. */
  private write(agentsPath: string, known: KnownBundle): void {
    try {
      makePrivate(this.directory, isHashed);
    } catch {
      return;
    }
    keepIfPossible(this.pathOf(agentsPath), JSON.stringify(known));
  }

  /** By all that has a say in how files become a bundle. */
  private pathOf(agentsPath: string): string {
    const own = [__filename, require.resolve('./bundle'), require.resolve('./bundler-look')].map(hashOfFile);
    const path = resolve(agentsPath);
    const settings = [process.cwd(), dirname(path)].map((folder) => {
      const file = join(folder, '.swcrc');
      return existsSync(file) ? hashOfFile(file) : 'none';
    });
    const key = JSON.stringify([path, process.cwd(), process.env['NODE_ENV'] ?? '', versionsOfBundler(), own, settings]);
    return join(this.directory, `${createHash('sha256').update(key).digest('hex').slice(0, 32)}.inputs.json`);
  }
}

/** What is known of a file that has the same content; undefined when it has another. */
function sameFile(path: string, known: KnownFile, now: number): KnownFile | undefined {
  const { state } = known;
  if (state !== undefined && fileState(path, now) === state) return known;
  const file = knownFile(path, now);
  return file.hash === known.hash ? file : undefined;
}

function knownFile(path: string, now: number): KnownFile {
  // Before its content: what is written meanwhile changes its state.
  const state = fileState(path, now);
  return { hash: hashOfFile(path), ...defined({ state }) };
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

function hashOfFile(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}
