import { having } from '../../../contract/check';
import { posix } from 'node:path';
import { HoldfastError, messageOf } from '../../../contract/errors';
import type { Part } from '../../../contract/messages/messages';

/** What stands in a folder. */
export interface FileEntry {
  readonly path: string;
  readonly kind: 'file' | 'folder';
  /** It leads somewhere else; searches do not go there. */
  readonly link?: boolean;
}

/** The first and the last page of a document, from 1. */
export interface PageRange {
  readonly first: number;
  readonly last: number;
}

/**
 * Where tools keep files. Paths begin with "/", the folder that the backend has, and never lead out of it. What is missing is an error with
 * the code ENOENT, as Node has it.
 */
export interface FileBackend {
  list(path: string): Promise<readonly FileEntry[]>;
  read(path: string): Promise<string>;
  /** The same for a text that is changed and written back: a file that would be another one then is an error. Default: `read`. */
  readToEdit?(path: string): Promise<string>;
  /** Makes the file, with its folders, or writes it over. */
  write(path: string, text: string): Promise<void>;
  remove(path: string): Promise<void>;
  /** What a model may look at, such as images: parts, or the text of a file that is one. */
  readParts?(path: string, pages?: PageRange): Promise<readonly Part[] | string>;
}

/** A path as backends have it. One that leads out of them is refused. */
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

/** The same for a path of the configuration. */
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

/** Of something that is there, and has no text: a folder, a picture. */
export function noText(path: string, what: 'file' | 'text'): Error {
  return new HoldfastError('tool-failed', what === 'file' ? `"${path}" is no file.` : `The file "${path}" is no text.`, {
    details: { noText: true },
  });
}

export function isNoText(error: unknown): boolean {
  const { code, details } = (error ?? {}) as { readonly code?: unknown; readonly details?: { readonly noText?: unknown } | null };
  return code === 'EISDIR' || details?.noText === true;
}

/** A backend that has all that one needs. */
export const backendForm = having(['list', 'read', 'write', 'remove'], 'a backend, such as directoryBackend("./files")');
