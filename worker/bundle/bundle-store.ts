import { createHash, randomUUID } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { HoldfastError, messageOf } from '../../contract/errors';
import { isHashed, makePrivate, privateFile } from '../../host/private-files';
import type { WorkflowBundle } from './bundle';

/** The build id ignores paths in the code, so the bytes need a hash of their own. */
const head = /^\/\/ holdfast build ([0-9a-f]{16}) sha256 ([0-9a-f]{64})$/;

/**
 * Keeps the code of builds in a directory, because open runs keep the code of their first build. A worker saves a build after a load in the
 * sandbox, so undamaged files load.
 * @example
 * const store = new BundleStore('.holdfast/bundles');
 * for (const build of await store.builds()) {
 *   console.log(build, await store.holds(build));
 * }
 */
export class BundleStore {
  constructor(private readonly directory: string) {}

  async holds(buildId: string): Promise<boolean> {
    return 'code' in (await this.find(buildId));
  }

  async save({ buildId, code }: WorkflowBundle): Promise<void> {
    makePrivate(this.directory, isHashed);
    const path = this.pathOf(buildId);
    const draft = `${path}.${randomUUID()}`;
    try {
      // Renamed after the flush, so the name never stands for a part of the file, even after a power failure.
      await writeFile(draft, `// holdfast build ${buildId} sha256 ${hashOf(Buffer.from(code))}\n${code}`, {
        mode: privateFile,
        flush: true,
      });
      await rename(draft, path);
    } catch (error) {
      await rm(draft, { force: true });
      if (isFolder(path))
        throw new HoldfastError('build-damaged', `A folder stands where the bundle of build ${buildId} belongs: ${path}. Remove it.`, {
          cause: error,
        });
      throw error;
    }
  }

  /** Throws 'build-missing' or 'build-damaged'. */
  async load(buildId: string): Promise<WorkflowBundle> {
    const found = await this.find(buildId);
    if ('code' in found) return { buildId, code: found.code };
    const bundle = `The bundle of build ${buildId}`;
    if (found.problem === undefined) throw new HoldfastError('build-missing', `${bundle} is not in ${this.directory}.`);
    throw new HoldfastError('build-damaged', `${bundle} in ${this.directory} is damaged: ${found.problem}.`, { cause: found.cause });
  }

  remove(buildId: string): Promise<void> {
    return rm(this.pathOf(buildId), { force: true });
  }

  async builds(): Promise<readonly string[]> {
    if (!existsSync(this.directory)) return [];
    return (await readdir(this.directory)).flatMap((name) => /^([0-9a-f]{16})\.js$/.exec(name)?.[1] ?? []);
  }

  private async find(buildId: string): Promise<FoundBundle> {
    try {
      return foundIn(await readFile(this.pathOf(buildId)), buildId);
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return { problem: undefined };
      return { problem: `it cannot be read (${messageOf(cause)})`, cause };
    }
  }

  private pathOf(buildId: string): string {
    return join(this.directory, `${buildId}.js`);
  }
}

/** Undefined: the file is missing. */
type FoundBundle = { readonly code: string } | { readonly problem: string | undefined; readonly cause?: unknown };

function foundIn(bytes: Buffer, buildId: string): FoundBundle {
  const end = bytes.indexOf('\n');
  const [, build, hash] = head.exec(bytes.toString('latin1', 0, Math.max(end, 0))) ?? [];
  if (hash === undefined) return { problem: 'its first line is not what was written' };
  if (build !== buildId) return { problem: `it has the code of build ${String(build)}` };
  const code = bytes.subarray(end + 1);
  return hashOf(code) === hash ? { code: code.toString('utf8') } : { problem: 'its content does not have the hash that stands in it' };
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function hashOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
