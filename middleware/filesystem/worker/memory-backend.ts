import { shown } from '../../../contract/shown';
import { posix } from 'node:path';
import type { FileBackend, FileEntry } from './backend';
import { isRecord, refusing } from '../../../contract/check';
import { checkedPath, configuredPath, fileMissing } from './backend';

/** For tests. */
export interface MemoryBackend extends FileBackend {
  readonly files: Readonly<Record<string, string>>;
}

/**
 * Keeps files in memory, for tests of agents with file tools.
 * @example
 * const backend = memoryBackend({ '/notes.md': 'Order 42 is a teapot.' });
 * const run = await testRun(support, { input: 'Read the notes.', model, tools: fileTools({ backend }) });
 * console.log(await run.result());
 */
export function memoryBackend(given: Readonly<Record<string, string>> = {}): MemoryBackend {
  const files = checkedFiles(given);
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

function checkedFiles(given: unknown): Map<string, string> {
  const refuse = refusing('memoryBackend', 'config-invalid');
  if (!isRecord(given)) return refuse(`the files must be strings by their paths, such as { "/a.md": "text" }, not ${shown(given)}.`);
  const files = new Map<string, string>();
  for (const [path, text] of Object.entries(given)) {
    if (typeof text !== 'string') return refuse(`the file "${path}" must be a string, not ${shown(text)}.`);
    files.set(configuredPath('memoryBackend', path), text);
  }
  for (const file of files.keys())
    for (let folder = posix.dirname(file); folder !== '/'; folder = posix.dirname(folder))
      if (files.has(folder)) refuse(`"${folder}" is a file, and "${file}" needs a folder there.`);
  return files;
}
