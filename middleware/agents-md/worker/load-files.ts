import { posix } from 'node:path';
import { messageOf } from '../../../contract/errors';
import type { FileBackend } from '../../filesystem/worker/backend';
import { checkedPath, isFileMissing, isNoText } from '../../filesystem/worker/backend';
import type { LoadedAgentsMd } from '../workflow';

const deepest = 5;
const endings = ['.md', '.txt', '.mdx', '.yaml', '.yml', '.json', '.toml'];

/** Missing files and circles are warnings. */
export async function loadFiles(
  backend: Pick<FileBackend, 'read'>,
  paths: readonly string[],
  maxBytes: number,
  signal?: AbortSignal,
): Promise<LoadedAgentsMd> {
  const files: { readonly path: string; readonly content: string }[] = [];
  const warnings: string[] = [];
  const seen = new Set<string>();
  let total = 0;
  for (const path of paths) await load(path, '/', []);
  return { files, warnings };

  async function load(written: string, folder: string, chain: readonly string[]): Promise<void> {
    const path = placeOf(written, folder);
    if (path === undefined) return;
    if (chain.includes(path)) return warn(`circular import of ${path} skipped: ${[...chain, path].join(' -> ')}`);
    if (seen.has(path)) return;
    if (chain.length > deepest) return warn(`import of ${path} skipped: it is more than ${deepest} levels deep`);
    const content = await contentOf(path, chain.length > 0);
    if (content === undefined) return;
    seen.add(path);
    const bytes = Buffer.byteLength(content);
    if (maxBytes > 0 && files.length > 0 && total + bytes > maxBytes)
      return warn(`${path} skipped: with its ${bytes} bytes the files would have more than ${maxBytes}`);
    total += bytes;
    if (content.trim() !== '') files.push({ path, content });
    for (const imported of importsOf(content)) await load(imported, posix.dirname(path), [...chain, path]);
  }

  function placeOf(written: string, folder: string): string | undefined {
    try {
      return checkedPath(written.startsWith('/') ? written : `${folder}/${written}`);
    } catch (error) {
      warn(messageOf(error));
      return undefined;
    }
  }

  /** Undefined after a warning: a written text must not end every run. */
  async function contentOf(path: string, isImport: boolean): Promise<string | undefined> {
    signal?.throwIfAborted();
    try {
      return await backend.read(path);
    } catch (error) {
      if (isFileMissing(error)) warn(`${path} not found`);
      else if (isImport && isNoText(error)) warn(`import of ${path} skipped: ${messageOf(error)}`);
      else throw new Error(`failed to load agent files: ${path}: ${messageOf(error)}`);
      return undefined;
    }
  }

  function warn(warning: string): void {
    warnings.push(warning);
  }
}

/** Paths begin outside of words, addresses, URLs and code. */
const importPattern = /(?<![\p{L}\p{N}.+\-/@\\`%&=#$]_*)(_*)@([^\s@]+)/gu;
const pathEnds = /[*|<>"`~“”„«»]/u;
const closers: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' };

/** A word without a folder and without the ending of a text file is prose. */
export function importsOf(content: string): readonly string[] {
  const found = [...content.matchAll(importPattern)].map(([, emphasis = '', written = '']) => pathIn(written, emphasis !== ''));
  return [...new Set(found)].filter((path) => !path.endsWith('/') && (path.includes('/') || isTextName(path)));
}

function isTextName(path: string): boolean {
  return endings.includes(posix.extname(path).toLowerCase());
}

function pathIn(written: string, isEmphasized: boolean): string {
  const end = written.search(pathEnds);
  const inBrackets = untilUnbalanced(end < 0 ? written : written.slice(0, end));
  const path = inBrackets.replace(isEmphasized ? /[.,;:!?'’_]+$/u : /[.,;:!?'’]+$/u, '');
  const anchor = path.indexOf('#');
  return anchor > 0 && isTextName(path.slice(0, anchor)) ? path.slice(0, anchor) : path;
}

function untilUnbalanced(text: string): string {
  const open: string[] = [];
  for (const [position, sign] of [...text].entries()) {
    if (Object.values(closers).includes(sign)) open.push(sign);
    else if (closers[sign] !== undefined && open.pop() !== closers[sign]) return [...text].slice(0, position).join('');
  }
  return text;
}
