import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { HoldfastError } from '../../contract/errors';
import type * as AskedServer from './asked-server';
import { endProcess, guardOf, isHeldBy } from './orphans';
import { isAlive } from './process-probe';
import { isRefreshed, readServerRecord, recordedServerRuns, removeServerRecord, type ServerRecord } from './server-record';

const deathPatienceMs = 10_000;
const watchMs = 1_000;

/**
 * The server that runs in a directory and answers, with its owner alive. A server whose owner is dead is about to die itself and is none.
 * Throws 'server-locked' when one runs there that cannot be used: it does not answer, or keeps its data elsewhere than asked for.
 */
export async function findLiveServer(directory: string, database: 'file' | 'memory'): Promise<ServerRecord | undefined> {
  const record = readServerRecord(directory);
  if (record === undefined || !record.ready || !(await recordedServerRuns(record))) return undefined;
  // An id may belong to another process by now: who holds the server is seen by its guard.
  if (!(await isHeldBy(record.pid, record.ownerPid))) return undefined;
  if ((record.database === 'memory') !== (database === 'memory')) {
    throw new HoldfastError(
      'server-locked',
      `A server with ${record.database === 'memory' ? 'a database in memory' : 'a database file'} runs in ${directory} (process ${record.pid}). Use another directory.`,
    );
  }
  if (await askedServer().answers(record.address)) return record;
  if (!(await recordedServerRuns(record))) return undefined;
  throw new HoldfastError(
    'server-locked',
    `The Temporal server of ${directory} (process ${record.pid}, started by ${record.ownerPid}) runs but does not answer at ${record.address}. End that process.`,
  );
}

/**
 * To be called with the lock held and no live server: waits until the server of a dead owner is gone, because two must not open one database. It is on
 * its way out by itself; one that hangs, or that nobody holds any more, is ended. Throws 'server-locked' when it runs where its processes are not to be seen.
 */
export async function awaitRemains(directory: string, onProgress: (message: string) => void): Promise<void> {
  const record = readServerRecord(directory);
  if (record === undefined) return;
  const deadline = Date.now() + deathPatienceMs;
  let told = false;
  const isThere = (): Promise<boolean> => recordedServerRuns(record);
  while (await isThere()) {
    if (!told) onProgress(`Waiting for the Temporal server ${record.pid} of a dead process to end.`);
    told = true;
    // Nobody else ends one whose guard is gone, too: it is ours now, and ends.
    if (Date.now() > deadline || (await guardOf(record.pid)) === undefined) await endProcess(record.pid, isThere);
    await sleep(50);
  }
  if (!told && record.host !== hostname() && (await isRefreshed(directory)))
    throw new HoldfastError(
      'server-locked',
      `The Temporal server of ${directory} runs on "${record.host}", which shares this directory. Stop it there, or use another directory.`,
    );
  removeServerRecord(directory, record.pid);
}

/** Calls once when the server of another process is gone. Returns what ends the watch. It does not keep this process alive. */
export function watchServer({ pid }: ServerRecord, onGone: () => void): () => void {
  const timer = setInterval(() => {
    if (isAlive(pid)) return;
    clearInterval(timer);
    onGone();
  }, watchMs);
  timer.unref();
  return () => clearInterval(timer);
}

/**
 * What needs Temporal's client, which takes longer to load than a server takes to start. So it is loaded when there is a server to be asked.
 */
export function askedServer(): typeof AskedServer {
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- tests load the source, where `import()` finds no file that ends in .js
  return require('./asked-server') as typeof AskedServer;
}
