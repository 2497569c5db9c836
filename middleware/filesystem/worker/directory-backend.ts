import { defined } from '../../../contract/defined';
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, mkdir, open, readdir, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { extname, isAbsolute, join, posix, relative, sep } from 'node:path';
import { HoldfastError } from '../../../contract/errors';
import { bound, checkOptions } from '../../../contract/check';
import type { FileBackend, FileEntry } from './backend';
import { checkedPath, fileMissing, isFileMissing, noText } from './backend';

export interface DirectoryBackendOptions {
  /** Largest readable file in bytes. Default: 4 MB. */
  readonly maxBytes?: number;
}

/**
 * Gives agents the files of a folder, and no files outside: a link that leads out counts as missing. A shell may lead anywhere.
 * @example
 * const backend = directoryBackend('workspace');
 * export const allTools = { ...tools, ...fileTools({ backend }) };
 * export default defineConfig({ agents: 'agents.ts', tools: allTools });
 */
export function directoryBackend(folder: string, options: DirectoryBackendOptions = {}): FileBackend {
  if (typeof folder !== 'string' || folder === '')
    throw new HoldfastError('config-invalid', 'directoryBackend needs the path of a folder.');
  const { maxBytes = 4 * 1024 * 1024 } = checkOptions<DirectoryBackendOptions>(
    'directoryBackend',
    options,
    { maxBytes: bound },
    'config-invalid',
  );
  const bytesOf = async (path: string): Promise<Buffer> => readRegular(await found(folder, path), path, maxBytes);
  const textBytesOf = async (path: string): Promise<Buffer> => {
    const bytes = await bytesOf(path);
    if (bytes.includes(0)) throw noText(path, 'text');
    return bytes;
  };
  const textOf = async (path: string): Promise<string> => (await textBytesOf(path)).toString('utf8');
  return {
    list: inOwnWords(async (path) => {
      const at = await found(folder, path);
      const entries = await readdir(at, { withFileTypes: true });
      const shown = await Promise.all(
        entries.map(async (entry): Promise<readonly FileEntry[]> => {
          const entryPath = posix.join(checkedPath(path), entry.name);
          if (!entry.isSymbolicLink()) return entry.isFile() || entry.isDirectory() ? [{ path: entryPath, kind: kindOf(entry) }] : [];
          const target = await found(folder, entryPath).then(stat, () => undefined);
          return target === undefined ? [] : [{ path: entryPath, kind: kindOf(target), link: true }];
        }),
      );
      return shown.flat().sort((a, b) => (a.path < b.path ? -1 : 1));
    }),
    read: inOwnWords(textOf),
    readToEdit: inOwnWords(async (path) => {
      const bytes = await textBytesOf(path);
      try {
        return exactly.decode(bytes);
      } catch {
        throw new HoldfastError(
          'tool-failed',
          `The file "${path}" is not in UTF-8: it cannot be changed without damage to the rest of it.`,
        );
      }
    }),
    write: inOwnWords(async (path, text) => {
      const { at, missing } = await located(folder, path);
      const target = join(at, ...missing);
      const before = missing.length === 0 ? await lstat(target) : undefined;
      if (before?.isFile() === false) throw new Error(`"${path}" is no file.`);
      if (missing.length > 1) await mkdir(join(target, '..'), { recursive: true });
      // Readers see the old or the new text, also after a crash.
      const draft = join(target, '..', `.${randomUUID()}.draft`);
      try {
        await writeFile(draft, text, { flag: 'wx', ...defined({ mode: before?.mode }) });
        await rename(draft, target);
      } catch (error) {
        await rm(draft, { force: true });
        throw error;
      }
    }),
    remove: inOwnWords(async (path) => {
      const { at, missing } = await located(folder, posix.dirname(checkedPath(path)));
      if (missing.length > 0) throw fileMissing(checkedPath(path));
      const target = join(at, posix.basename(checkedPath(path)));
      const entry = await lstat(target).catch(orMissing(path));
      if (entry.isDirectory()) throw new Error(`"${path}" is a folder.`);
      await rm(target);
    }),
    readParts: inOwnWords(async (path, pages) => {
      const mediaType = mediaTypes[extname(path).toLowerCase()];
      if (mediaType === undefined) return textOf(path);
      if (pages !== undefined) throw new Error(`The pages of "${path}" cannot be had one by one here. Read it without pages.`);
      return [{ type: 'file', mediaType, data: (await bytesOf(path)).toString('base64') }];
    }),
  };
}

const exactly = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Node's errors name the worker's folder, which the model must not see. */
function inOwnWords<Rest extends readonly unknown[], Result>(
  act: (path: string, ...rest: Rest) => Promise<Result>,
): (path: string, ...rest: Rest) => Promise<Result> {
  return async (path, ...rest) => {
    try {
      return await act(path, ...rest);
    } catch (error) {
      const { code, syscall } = error as { readonly code?: string; readonly syscall?: string };
      if (syscall === undefined) throw error;
      throw Object.assign(new Error(`"${path}" cannot be had: ${reasons[code ?? ''] ?? code}.`), { code });
    }
  };
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'it is not there',
  ENOTDIR: 'it is no folder',
  EISDIR: 'it is a folder',
  EACCES: 'the worker may not',
  EPERM: 'the worker may not',
  ENOSPC: 'there is no space left',
  ENAMETOOLONG: 'the name is too long',
};

const mediaTypes: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
  '.pdf': 'application/pdf',
};

function kindOf(entry: { isDirectory(): boolean }): FileEntry['kind'] {
  return entry.isDirectory() ? 'folder' : 'file';
}

async function found(folder: string, path: string): Promise<string> {
  const { at, missing } = await located(folder, path);
  if (missing.length > 0) throw fileMissing(checkedPath(path));
  return at;
}

async function located(folder: string, path: string): Promise<{ readonly at: string; readonly missing: readonly string[] }> {
  const whole = checkedPath(path);
  const root = await rootOf(folder);
  const parts = whole.split('/').filter((part) => part !== '');
  let at = root;
  for (const [position, part] of parts.entries()) {
    const next = join(at, part);
    const entry = await lstat(next).catch(orNothing);
    if (entry === undefined) return { at, missing: parts.slice(position) };
    // A write would follow a link to nowhere.
    at = entry.isSymbolicLink() ? await realpath(next).catch(orMissing(whole)) : next;
    if (!isInside(root, at)) throw fileMissing(whole);
  }
  return { at, missing: [] };
}

async function rootOf(folder: string): Promise<string> {
  const root = await realpath(folder).catch(orNothing);
  if (root !== undefined) return root;
  await mkdir(folder, { recursive: true });
  return realpath(folder);
}

function isInside(root: string, path: string): boolean {
  const way = relative(root, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

/** Opens without blocking: pipes and devices may never end. */
async function readRegular(at: string, path: string, maxBytes: number): Promise<Buffer> {
  const file = await open(at, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const { size, isFile } = await file.stat().then((entry) => ({ size: entry.size, isFile: entry.isFile() }));
    if (!isFile) throw noText(path, 'file');
    if (size > maxBytes) throw new Error(`The file "${path}" has ${size} bytes; at most ${maxBytes} are read.`);
    return await file.readFile();
  } finally {
    await file.close();
  }
}

function orNothing(error: unknown): undefined {
  if (isFileMissing(error) || (error as { code?: unknown }).code === 'ENOTDIR') return undefined;
  throw error;
}

function orMissing(path: string): (error: unknown) => never {
  return (error) => {
    throw isFileMissing(error) ? fileMissing(path) : error;
  };
}
