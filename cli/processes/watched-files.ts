import { createHash } from 'node:crypto';
import type { FSWatcher } from 'node:fs';
import { existsSync, readFileSync, statSync, watch } from 'node:fs';
import { dirname, join } from 'node:path';

/** Editors write in several steps. */
const quietMs = 30;
const emptyMs = 150;
const lookMs = 300;

/** Watches folders, because editors replace files, and deleted files may come back. */
export class WatchedFiles {
  private readonly folders = new Map<string, FSWatcher>();
  private readonly lost = new Set<string>();
  /** The hash of each file. Undefined: no file. */
  private files = new Map<string, string | undefined>();
  private touched = new Set<string>();
  private timer: NodeJS.Timeout | undefined;
  private search: NodeJS.Timeout | undefined;

  constructor(private readonly onTouched: () => void) {}

  /** A new file written after `since` counts as changed. */
  set(files: Iterable<string>, since: number): void {
    const before = this.files;
    this.files = new Map(
      [...files].map((file) => [file, before.has(file) ? before.get(file) : isNewer(file, since) ? 'unknown' : hashOf(file)]),
    );
    const folders = new Set([...this.files.keys()].map(dirname));
    for (const [folder, watcher] of this.folders) {
      if (folders.has(folder)) continue;
      watcher.close();
      this.folders.delete(folder);
    }
    for (const folder of folders) if (!this.folders.has(folder)) this.open(folder);
    if ([...this.files.values()].includes('unknown')) this.touch('');
  }

  take(): { readonly changed: readonly string[]; readonly touched: ReadonlySet<string> } {
    const touched = this.touched;
    this.touched = new Set();
    const changed: string[] = [];
    for (const [file, before] of this.files) {
      const now = hashOf(file);
      if (now === before) continue;
      this.files.set(file, now);
      changed.push(file);
    }
    return { changed, touched };
  }

  get paths(): Iterable<string> {
    return this.files.keys();
  }

  get hasChanged(): boolean {
    return [...this.files].some(([file, before]) => hashOf(file) !== before);
  }

  close(): void {
    clearTimeout(this.timer);
    clearTimeout(this.search);
    for (const watcher of this.folders.values()) watcher.close();
    this.folders.clear();
  }

  private open(folder: string): void {
    try {
      const watcher = watch(folder, (_, name) => {
        if (!existsSync(folder)) this.lose(folder);
        this.touch(join(folder, name ?? ''));
      });
      watcher.on('error', () => this.lose(folder));
      this.folders.set(folder, watcher);
    } catch {
      this.lose(folder);
    }
  }

  /** A deleted folder sends no event when it returns. */
  private lose(folder: string): void {
    this.folders.get(folder)?.close();
    this.folders.delete(folder);
    this.lost.add(folder);
    this.search ??= setTimeout(() => this.find(), lookMs).unref();
  }

  private find(): void {
    this.search = undefined;
    for (const folder of [...this.lost]) {
      this.lost.delete(folder);
      if (existsSync(folder)) {
        this.open(folder);
        this.touch(folder);
      } else if ([...this.files.keys()].some((file) => dirname(file) === folder)) this.lose(folder);
    }
  }

  private touch(path: string): void {
    this.touched.add(path);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.quiet(), quietMs);
  }

  /** A file is empty for a moment while it is written. */
  private quiet(): void {
    if (![...this.files].some(([file, before]) => before !== emptyHash && hashOf(file) === emptyHash)) return this.onTouched();
    this.timer = setTimeout(this.onTouched, emptyMs);
  }
}

const emptyHash = createHash('sha256').digest('hex');

function hashOf(file: string): string | undefined {
  try {
    return createHash('sha256').update(readFileSync(file)).digest('hex');
  } catch {
    return undefined;
  }
}

function isNewer(file: string, since: number): boolean {
  return (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0) >= since;
}
