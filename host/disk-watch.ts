import { statfs } from 'node:fs/promises';
import { HoldfastError } from '../contract/errors';

export interface DiskWatchOptions {
  readonly everyMs?: number;
  /** Below this many free bytes the disk counts as full: the server's database grows in steps. */
  readonly leastBytes?: number;
  /** What is free in a directory. */
  readonly freeBytes?: (directory: string) => Promise<number>;
}

/**
 * A server whose disk is full goes on to answer, and its runs only stop to get on. Says so when it happens, once each time, as 'disk-full'. Returns what
 * ends the watch, which does not keep this process alive.
 */
export function watchDisk(directory: string, report: (problem: HoldfastError) => void, options: DiskWatchOptions = {}): () => void {
  const { everyMs = 10_000, leastBytes = 8 * 1024 * 1024, freeBytes = freeIn } = options;
  let full = false;
  const look = async (): Promise<void> => {
    const free = await freeBytes(directory).catch(() => Infinity);
    if (free >= leastBytes) full = false;
    else if (!full) {
      full = true;
      report(
        new HoldfastError(
          'disk-full',
          `The disk of ${directory} has ${Math.floor(free / 1024)} KB left: the Temporal server can hardly write, and its runs do not get on.`,
        ),
      );
    }
  };
  const timer = setInterval(() => void look(), everyMs);
  timer.unref();
  return () => clearInterval(timer);
}

async function freeIn(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize;
}
