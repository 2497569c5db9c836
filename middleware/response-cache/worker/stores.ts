import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { HoldfastError } from '../../../contract/errors';
import type { FinishReason, Part } from '../../../contract/messages/messages';
import { isMessage } from '../../../contract/messages/messages';
import { bound, checkOptions } from '../../../contract/check';

export interface CachedResponse {
  readonly parts: readonly Part[];
  readonly finish?: FinishReason;
  /** Unix milliseconds. */
  readonly at: number;
}

/** Keys consist of hex digits. If the store loses an answer, the model is called again. */
export interface ResponseStore {
  get(key: string): Promise<CachedResponse | undefined>;
  set(key: string, response: CachedResponse): Promise<void>;
}

/**
 * A store of the most recently used answers, in this process.
 * @example
 * const store = memoryResponses({ entries: 100 });
 * const cache = cachedResponses({ store });
 * export default defineConfig({ agents: 'agents.ts', middleware: [cache] });
 */
export function memoryResponses(options: { readonly entries?: number } = {}): ResponseStore {
  const { entries = 1000 } = checkOptions<{ readonly entries?: number }>('memoryResponses', options, { entries: bound }, 'config-invalid');
  const kept = new Map<string, CachedResponse>();
  const keep = (key: string, response: CachedResponse): void => {
    kept.delete(key);
    kept.set(key, response);
    for (const oldest of kept.keys()) {
      if (kept.size <= entries) break;
      kept.delete(oldest);
    }
  };
  return {
    async get(key) {
      const found = kept.get(key);
      if (found !== undefined) keep(key, found);
      return found;
    },
    set: async (key, response) => keep(key, response),
  };
}

/**
 * A store of cached answers with a file for each answer. Processes may share the directory, and nothing removes files.
 * @example
 * const store = directoryResponses('/shared/answers');
 * const cache = cachedResponses({ store });
 * export default defineConfig({ agents: 'agents.ts', middleware: [cache] });
 */
export function directoryResponses(directory: string): ResponseStore {
  if (typeof directory !== 'string' || directory === '')
    throw new HoldfastError('config-invalid', 'directoryResponses takes the path of a directory.');
  const folderOf = (key: string): string => join(directory, key.slice(0, 2));
  const fileOf = (key: string): string => join(folderOf(key), `${key}.json`);
  return {
    async get(key) {
      const text = await readFile(fileOf(key), 'utf8').catch((error: unknown) => {
        if ((error as { code?: unknown }).code === 'ENOENT') return undefined;
        throw error;
      });
      return text === undefined ? undefined : readable(text);
    },
    async set(key, response) {
      await mkdir(folderOf(key), { recursive: true, mode: 0o700 });
      const draft = join(folderOf(key), `${key}.${randomUUID()}.tmp`);
      try {
        await writeFile(draft, JSON.stringify(response), { mode: 0o600 });
        await rename(draft, fileOf(key));
      } catch (error) {
        await rm(draft, { force: true }).catch(() => undefined);
        throw error;
      }
    },
  };
}

function readable(text: string): CachedResponse | undefined {
  try {
    const value = JSON.parse(text) as Partial<CachedResponse> | null;
    return isCached(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function isCached(value: unknown): value is CachedResponse {
  const { parts, at } = (value ?? {}) as Partial<CachedResponse>;
  return typeof at === 'number' && isMessage({ role: 'assistant', parts });
}
