import { statfsSync } from 'node:fs';
import { readFile, readdir, statfs } from 'node:fs/promises';
import { HoldfastError } from '../contract/errors';
import { namedSystemError } from './system-errors';

export interface DiskWatchOptions {
  readonly everyMs?: number;
  /** Below this many free bytes the disk counts as full: the server's database grows in steps. */
  readonly leastBytes?: number;
  /** What is free in a directory. */
  readonly freeBytes?: (directory: string) => Promise<number>;
}

/** With fewer bytes free the server can hardly write. */
export const leastFree = 8 * 1024 * 1024;
/** The directories that this process watches. */
const watched = new Map<string, number>();

/**
 * A server whose disk is full goes on to answer, and its runs only stop to get on. Says so when it happens, once each time, as 'disk-full'. Returns what
 * ends the watch, which does not keep this process alive.
 */
export function watchDisk(directory: string, report: (problem: HoldfastError) => void, options: DiskWatchOptions = {}): () => void {
  const { everyMs = 10_000, leastBytes = leastFree, freeBytes = freeIn } = options;
  const look = async (): Promise<HoldfastError | undefined> => {
    const free = await freeBytes(directory).catch(() => Infinity);
    return free >= leastBytes ? undefined : diskFull(directory, free);
  };
  const end = watch(look, report, everyMs);
  watched.set(directory, (watched.get(directory) ?? 0) + 1);
  return () => {
    end();
    const left = (watched.get(directory) ?? 1) - 1;
    if (left > 0) watched.set(directory, left);
    else watched.delete(directory);
  };
}

/** Whether a server that gives no answer has no room to write, as far as this process can see. */
export function fullDiskWatched(cause: unknown): HoldfastError | undefined {
  for (const directory of watched.keys()) {
    try {
      const { bavail, bsize } = statfsSync(directory);
      if (bavail * bsize < leastFree) return diskFull(directory, bavail * bsize, cause);
    } catch {
      // Then nothing is known of it.
    }
  }
  return undefined;
}

/** With fewer left the process is about to end: Node itself aborts it where a workflow task finds none. */
const leastFiles = 32;

/**
 * A process that has nearly as many files and sockets open as it may have takes no connection and starts nothing. Says so when it happens, once each
 * time, as 'files-exhausted'. Returns what ends the watch.
 */
export function watchFiles(report: (problem: HoldfastError) => void, everyMs = 10_000): () => void {
  return watch(fewFilesLeft, report, everyMs);
}

/** Where the system does not say how many there are, only that there are none. */
async function fewFilesLeft(): Promise<HoldfastError | undefined> {
  try {
    const [limits, open] = await Promise.all([readFile('/proc/self/limits', 'utf8'), readdir('/proc/self/fd')]);
    const limit = Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? Infinity);
    if (limit - open.length >= leastFiles) return undefined;
    return new HoldfastError(
      'files-exhausted',
      `This process has ${open.length} files and sockets open, and may have ${limit}: it can hardly take a connection or start a call.`,
    );
  } catch (error) {
    const named = namedSystemError(error, 'counting open files');
    return named?.code === 'files-exhausted' ? named : undefined;
  }
}

function diskFull(directory: string, free: number, cause?: unknown): HoldfastError {
  const message = `The disk of ${directory} has ${Math.floor(free / 1024)} KB left: the Temporal server can hardly write, and its runs do not get on.`;
  return new HoldfastError('disk-full', message, cause === undefined ? {} : { cause });
}

/** Tells of what a look finds when the one before has found nothing. */
function watch(look: () => Promise<HoldfastError | void>, report: (problem: HoldfastError) => void, everyMs: number): () => void {
  let found = false;
  const tell = (problem: HoldfastError | void): void => {
    if (problem !== undefined && !found) report(problem);
    found = problem !== undefined;
  };
  const timer = setInterval(() => void look().then(tell), everyMs);
  timer.unref();
  return () => clearInterval(timer);
}

/** The bytes that are free in a directory. */
export async function freeIn(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize;
}
