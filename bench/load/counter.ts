import { join } from 'node:path';
import type { Started } from './processes';
import { startProgram } from './processes';

/** What the process that counts was asked for under one label. */
export interface Counted {
  readonly requests: number;
  /** Different idempotency keys: a provider of payments takes the second request under a key for the first one. */
  readonly keys: number;
}

export type Counts = Readonly<Record<string, Counted>>;

export interface Counter extends Started {
  readonly url: string;
  counts(): Promise<Counts>;
  has(label: string): Promise<boolean>;
}

/** A process of its own that outlives workers, services and servers. */
export async function startCounter(directory: string): Promise<Counter> {
  const started = await startProgram('counter', process.execPath, [join(__dirname, 'counter-process.js')], {
    directory,
    until: 'listens at ',
  });
  const url = /listens at (\S+)/.exec(started.said())?.[1] ?? '';
  return {
    ...started,
    url,
    counts: async () => (await (await fetch(`${url}/effects`)).json()) as Counts,
    has: async (label) => (await fetch(`${url}/effects/${encodeURIComponent(label)}`)).ok,
  };
}

export interface Tally {
  /** Labels that should have been counted and were not, and such that nobody asked for. */
  readonly lost: readonly string[];
  readonly doubled: readonly string[];
}

/** `once` labels may be asked for once; of others all requests have one key. */
export function tallied(counts: Counts, wanted: readonly string[], isOnce: (label: string) => boolean): Tally {
  const known = new Set(wanted);
  return {
    lost: wanted.filter((label) => counts[label] === undefined),
    doubled: Object.entries(counts)
      .filter(([label, { requests, keys }]) => keys > 1 || (isOnce(label) && requests > 1) || !known.has(label))
      .map(([label]) => label),
  };
}
