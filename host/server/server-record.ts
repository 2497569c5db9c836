import { readFileSync, readdirSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { HoldfastError } from '../../contract/errors';
import { privateFile } from '../private-files';
import type * as AskedServer from './asked-server';
import { isListening } from './free-port';
import { isAlive } from './process-probe';

export interface ServerRecord {
  readonly address: string;
  readonly uiAddress: string | undefined;
  /** Tells another server at the address apart. */
  readonly clusterId: string;
  readonly pid: number;
  /** The server ends with this process. */
  readonly ownerPid: number;
  readonly version: string;
  readonly database: string;
  /** A copied directory has the original's record. */
  readonly directory: string;
}

const endPatienceMs = 10_000;
const watchMs = 1_000;

export function databasesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory).filter((name) => /^runs-.+\.db$/.test(name));
  } catch {
    return [];
  }
}

function readServerRecord(directory: string): ServerRecord | undefined {
  try {
    const record = JSON.parse(readFileSync(recordPath(directory), 'utf8')) as ServerRecord;
    return record.directory === realpathSync(directory) ? record : undefined;
  } catch {
    return undefined;
  }
}

export function writeServerRecord(record: ServerRecord): void {
  const path = recordPath(record.directory);
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(record, undefined, 2)}\n`, { mode: privateFile });
  renameSync(draft, path);
}

export function removeServerRecord(directory: string, pid: number): void {
  if (readServerRecord(directory)?.pid === pid) rmSync(recordPath(directory), { force: true });
}

/** Waits for the end of a server without its owner. Throws 'server-locked'. */
export async function findLiveServer(directory: string): Promise<ServerRecord | undefined> {
  const record = readServerRecord(directory);
  if (record === undefined) return undefined;
  const deadline = Date.now() + endPatienceMs;
  while (await answers(record)) {
    if (isAlive(record.ownerPid)) return record;
    if (Date.now() > deadline) {
      const message = `The Temporal server of ${directory} (process ${record.pid}) has outlived the process ${record.ownerPid}, which had started it. End it: kill ${record.pid}`;
      throw new HoldfastError('server-locked', message, { details: { pid: record.pid } });
    }
    await sleep(50);
  }
  return undefined;
}

async function answers({ address, clusterId }: ServerRecord): Promise<boolean> {
  for (let asked = 0; asked < 5 && (await isListening(Number(address.split(':').at(-1)))); asked++) {
    const found = await askedServer().clusterIdAt(address);
    if (found !== undefined) return found === clusterId;
  }
  return false;
}

/** Calls `onGone` once. Returns the end of the watch, which keeps no process alive. */
export function watchServer({ pid }: ServerRecord, onGone: () => void): () => void {
  const timer = setInterval(() => {
    if (isAlive(pid)) return;
    clearInterval(timer);
    onGone();
  }, watchMs);
  timer.unref();
  return () => clearInterval(timer);
}

/** Temporal's client loads more slowly than a server starts, so the load waits until a server can answer. */
export function askedServer(): typeof AskedServer {
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- tests load the source, where `import()` finds no file that ends in .js
  return require('./asked-server') as typeof AskedServer;
}

function recordPath(directory: string): string {
  return join(directory, 'server.json');
}
