import { posix } from 'node:path';
import type { FileBackend, FileEntry } from './backend';
import { checkedPath, fileMissing } from './backend';

/** Files in memory, for tests. `files` shows what there is. */
export interface MemoryBackend extends FileBackend {
  readonly files: Readonly<Record<string, string>>;
}

export function memoryBackend(given: Readonly<Record<string, string>> = {}): MemoryBackend {
  const files = new Map(Object.entries(given).map(([path, text]) => [checkedPath(path), text]));
  return {
    get files() {
      return Object.fromEntries([...files].sort(([a], [b]) => (a < b ? -1 : 1)));
    },
    async list(path) {
      const folder = checkedPath(path);
      const below = [...files.keys()].filter((file) => file.startsWith(folder === '/' ? '/' : `${folder}/`));
      if (below.length === 0 && folder !== '/') throw fileMissing(folder);
      const entries = new Map<string, FileEntry>();
      for (const file of below) {
        const [first = '', ...rest] = posix.relative(folder, file).split('/');
        const entry = posix.join(folder, first);
        entries.set(entry, { path: entry, kind: rest.length === 0 ? 'file' : 'folder' });
      }
      return [...entries.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
    },
    async read(path) {
      const file = checkedPath(path);
      const text = files.get(file);
      if (text === undefined) throw fileMissing(file);
      return text;
    },
    async write(path, text) {
      files.set(checkedPath(path), text);
    },
    async remove(path) {
      const file = checkedPath(path);
      if (!files.delete(file)) throw fileMissing(file);
    },
  };
}
