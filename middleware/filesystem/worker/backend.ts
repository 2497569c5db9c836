import { having } from '../../../contract/check';
import { posix } from 'node:path';
import { HoldfastError, messageOf } from '../../../contract/errors';
import type { Part } from '../../../contract/messages/messages';

export interface FileEntry {
  readonly path: string;
  readonly kind: 'file' | 'folder';
  /** Searches do not follow links. */
  readonly link?: boolean;
}

export interface PageRange {
  readonly first: number;
  readonly last: number;
}

/** Paths begin with "/" and never lead out. A missing file is an error with the code `ENOENT`. */
export interface FileBackend {
  list(path: string): Promise<readonly FileEntry[]>;
  read(path: string): Promise<string>;
  /** For a text to edit: fails where writing back would damage the file. Default: `read`. */
  readToEdit?(path: string): Promise<string>;
  /** Creates or overwrites the file, and creates its folders. */
  write(path: string, text: string): Promise<void>;
  remove(path: string): Promise<void>;
  /** Images and documents as parts, or a text. */
  readParts?(path: string, pages?: PageRange): Promise<readonly Part[] | string>;
}

export function checkedPath(path: string): string {
  if (typeof path !== 'string') throw new HoldfastError('tool-input-invalid', `A path is a text, and not ${typeof path}.`);
  if (path.includes('\0')) throw new HoldfastError('tool-input-invalid', 'A path has no NUL in it.');
  let depth = 0;
  for (const part of path.split('/')) {
    if (part === '..') depth -= 1;
    else if (part !== '' && part !== '.') depth += 1;
    if (depth < 0) throw new HoldfastError('tool-input-invalid', `The path "${path}" leads out of the files. Give one below "/".`);
  }
  const whole = posix.normalize(`/${path}`);
  return whole.length > 1 && whole.endsWith('/') ? whole.slice(0, -1) : whole;
}

export function configuredPath(owner: string, path: unknown): string {
  try {
    return checkedPath(path as string);
  } catch (error) {
    throw new HoldfastError('config-invalid', `${owner}: ${messageOf(error)}`);
  }
}

export function fileMissing(path: string): Error {
  return Object.assign(new Error(`There is no file "${path}".`), { code: 'ENOENT' });
}

export function isFileMissing(error: unknown): boolean {
  return (error as { code?: unknown } | null | undefined)?.code === 'ENOENT';
}

export async function ifThere<Result>(read: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await read();
  } catch (error) {
    if (isFileMissing(error)) return undefined;
    throw error;
  }
}

export function noText(path: string, what: 'file' | 'text'): Error {
  return new HoldfastError('tool-failed', what === 'file' ? `"${path}" is no file.` : `The file "${path}" is no text.`, {
    details: { noText: true },
  });
}

export function isNoText(error: unknown): boolean {
  const { code, details } = (error ?? {}) as { readonly code?: unknown; readonly details?: { readonly noText?: unknown } | null };
  return code === 'EISDIR' || details?.noText === true;
}

export const backendForm = having(['list', 'read', 'write', 'remove'], 'a backend, such as directoryBackend("./files")');
