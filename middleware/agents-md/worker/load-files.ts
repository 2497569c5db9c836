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
  const loading = new Loading(backend, maxBytes, signal);
  for (const path of paths) await loading.load(path, '/', []);
  return { files: loading.files, warnings: loading.warnings };
}

class Loading {
  readonly files: { readonly path: string; readonly content: string }[] = [];
  readonly warnings: string[] = [];
  private readonly seen = new Set<string>();
  private bytes = 0;

  constructor(
    private readonly backend: Pick<FileBackend, 'read'>,
    private readonly maxBytes: number,
    private readonly signal: AbortSignal | undefined,
  ) {}

  async load(written: string, folder: string, chain: readonly string[]): Promise<void> {
    const path = this.placeOf(written, folder);
    if (path === undefined) return;
    if (chain.includes(path)) return this.warn(`circular import of ${path} skipped: ${[...chain, path].join(' -> ')}`);
    if (this.seen.has(path)) return;
    if (chain.length > deepest) return this.warn(`import of ${path} skipped: it is more than ${deepest} levels deep`);
    const content = await this.contentOf(path, chain.length > 0);
    if (content === undefined) return;
    this.seen.add(path);
    const bytes = Buffer.byteLength(content);
    if (this.maxBytes > 0 && this.files.length > 0 && this.bytes + bytes > this.maxBytes)
      return this.warn(`${path} skipped: with its ${bytes} bytes the files would have more than ${this.maxBytes}`);
    this.bytes += bytes;
    if (content.trim() !== '') this.files.push({ path, content });
    for (const imported of importsOf(content)) await this.load(imported, posix.dirname(path), [...chain, path]);
  }

  private placeOf(written: string, folder: string): string | undefined {
    try {
      return checkedPath(written.startsWith('/') ? written : `${folder}/${written}`);
    } catch (error) {
      this.warn(messageOf(error));
      return undefined;
    }
  }

  /** Undefined after a warning: a written text must not end every run. */
  private async contentOf(path: string, isImport: boolean): Promise<string | undefined> {
    this.signal?.throwIfAborted();
    try {
      return await this.backend.read(path);
    } catch (error) {
      if (isFileMissing(error)) this.warn(`${path} not found`);
      else if (isImport && isNoText(error)) this.warn(`import of ${path} skipped: ${messageOf(error)}`);
      else throw new Error(`failed to load agent files: ${path}: ${messageOf(error)}`);
      return undefined;
    }
  }

  private warn(warning: string): void {
    this.warnings.push(warning);
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
