import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { defined } from '../../contract/defined';
import { fileState } from '../../host/file-state';
import { isHashed, keepIfPossible, makePrivate } from '../../host/private-files';
import type { WorkflowBundle } from './bundle';
import { bundleFrom } from './bundle';
import type { BundleStore } from './bundle-store';
import type { BundleInputs } from './bundler-look';

interface KnownBundle {
  readonly buildId: string;
  readonly files: Readonly<Record<string, KnownFile>>;
  readonly absent: readonly string[];
}

interface KnownFile {
  readonly hash: string;
  /** State in the file system. Absent: the content is read each time. */
  readonly state?: string;
}

/** `isKept`: the bundle comes from the store. */
interface BundleOfStart extends WorkflowBundle {
  readonly isKept: boolean;
}

export async function bundleOnce(agentsPath: string, directory: string, store: BundleStore): Promise<BundleOfStart> {
  const memory = new BundleMemory(directory, store);
  const known = await memory.find(agentsPath);
  if (known !== undefined) return { ...known, isKept: true };
  const began = Date.now();
  const { bundle, inputs } = await bundleFrom(agentsPath);
  // A file that changes during bundling may differ from the bundled content.
  if (!inputs.files.some((path) => statSync(path).mtimeMs >= began)) memory.remember(agentsPath, bundle, inputs);
  return { ...bundle, isKept: false };
}

class BundleMemory {
  constructor(
    private readonly directory: string,
    private readonly store: BundleStore,
  ) {}

  async find(agentsPath: string): Promise<WorkflowBundle | undefined> {
    try {
      const known = JSON.parse(await readFile(this.pathOf(agentsPath), 'utf8')) as KnownBundle;
      if (known.absent.some((path) => existsSync(path))) return undefined;
      const now = Date.now();
      const files = Object.entries(known.files).map(([path, file]) => [path, sameFile(path, file, now)] as const);
      if (!files.every((file): file is [string, KnownFile] => file[1] !== undefined)) return undefined;
      const bundle = await this.store.load(known.buildId);
      // After a copy of all files only the states differ.
      if (files.some(([path, { state }]) => state !== known.files[path]?.state))
        this.write(agentsPath, { ...known, files: Object.fromEntries(files) });
      return bundle;
    } catch {
      // An unreadable entry only costs a new bundle.
      return undefined;
    }
  }

  remember(agentsPath: string, { buildId }: WorkflowBundle, { files, absent }: BundleInputs): void {
    const now = Date.now();
    this.write(agentsPath, { buildId, files: Object.fromEntries(files.map((path) => [path, knownFile(path, now)])), absent });
  }

  /** Without write access only the next start takes longer. */
  private write(agentsPath: string, known: KnownBundle): void {
    try {
      makePrivate(this.directory, isHashed);
    } catch {
      return;
    }
    keepIfPossible(this.pathOf(agentsPath), JSON.stringify(known));
  }

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

/** Undefined: the content has changed. */
function sameFile(path: string, known: KnownFile, now: number): KnownFile | undefined {
  const { state } = known;
  if (state !== undefined && fileState(path, now) === state) return known;
  const file = knownFile(path, now);
  return file.hash === known.hash ? file : undefined;
}

function knownFile(path: string, now: number): KnownFile {
  // Read before the content, so a later change of the file changes the state.
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
