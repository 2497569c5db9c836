import type { ServiceStore } from '../../service/store/store';

/** A store in memory, whose entries end with the time of the test. */
export function memoryStore(): ServiceStore & { readonly entries: Map<string, string> } {
  const entries = new Map<string, string>();
  const ends = new Map<string, number>();
  const log: string[] = [];
  const has = (key: string): boolean => entries.has(key) && (ends.get(key) ?? Infinity) > Date.now();
  return {
    entries,
    get: async (key) => (has(key) ? entries.get(key) : undefined),
    async set(key, value, { ttlMs, ifAbsent } = {}) {
      if (ifAbsent === true && has(key)) return false;
      entries.set(key, value);
      if (ttlMs === undefined) ends.delete(key);
      else ends.set(key, Date.now() + ttlMs);
      return true;
    },
    async delete(key) {
      const had = has(key);
      entries.delete(key);
      return had;
    },
    list: async (prefix) => [...entries.keys()].filter((key) => key.startsWith(prefix) && has(key)),
    append: async (line) => void log.push(line),
    async *lines() {
      yield* log;
    },
  };
}
