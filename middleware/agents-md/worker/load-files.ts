import { posix } from 'node:path';
import { messageOf } from '../../../contract/plain/errors';
import type { FileBackend } from '../../filesystem/worker/backend';
import { checkedPath, isFileMissing } from '../../filesystem/worker/backend';
import type { LoadedAgentsMd } from '../loaded';

const deepest = 5;
const endings = ['.md', '.txt', '.mdx', '.yaml', '.yml', '.json', '.toml'];

/** Reads files, and behind each the files that it imports by `@path`. What is missing, or goes round in a circle, is a warning. */
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

  /** `chain` are the files that lead here, each importing the next. */
  async load(written: string, folder: string, chain: readonly string[]): Promise<void> {
    const path = this.placeOf(written, folder);
    if (path === undefined) return;
    if (chain.includes(path)) return this.warn(`circular import of ${path} skipped: ${[...chain, path].join(' -> ')}`);
    if (this.seen.has(path)) return;
    if (chain.length > deepest) return this.warn(`import of ${path} skipped: it is more than ${deepest} levels deep`);
    const content = await this.contentOf(path);
    if (content === undefined) return this.warn(`${path} not found`);
    this.seen.add(path);
    const bytes = Buffer.byteLength(content);
    if (this.maxBytes > 0 && this.files.length > 0 && this.bytes + bytes > this.maxBytes)
      return this.warn(`${path} skipped: with its ${bytes} bytes the files would have more than ${this.maxBytes}`);
    this.bytes += bytes;
    this.files.push({ path, content });
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

  private async contentOf(path: string): Promise<string | undefined> {
    this.signal?.throwIfAborted();
    try {
      return await this.backend.read(path);
    } catch (error) {
      if (isFileMissing(error)) return undefined;
      throw new Error(`failed to load agent files: ${path}: ${messageOf(error)}`);
    }
  }

  private warn(warning: string): void {
    this.warnings.push(warning);
  }
}

/** `@path` where a word begins. What has neither a folder nor the ending of a text is prose. */
export function importsOf(content: string): readonly string[] {
  const found = [...content.matchAll(/(?<=^|\s)@([^\s@]+)/gm)].map(([, path = '']) => path.replace(/[.,;:!?)\]}'"]+$/, ''));
  return [...new Set(found)].filter((path) => path.includes('/') || endings.includes(posix.extname(path).toLowerCase()));
}
