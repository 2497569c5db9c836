import { readFileSync, readdirSync, realpathSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { HoldfastError } from '../../contract/errors';
import { privateFile } from '../private-files';
import { commandLineOf, isAlive } from './process-probe';

/** The databases of embedded servers in a directory, one for each version. */
export function databasesIn(directory: string): readonly string[] {
  return readdirSync(directory).filter((name) => /^runs-.+\.db$/.test(name));
}

/** Throws 'data-outdated' where an earlier version of Holdfast has its database: that one had another name, and no code here reads its runs. */
export function refuseEarlierData(directory: string): void {
  const found = readdirSync(directory).filter((name) => /^temporal-.+\.db$/.test(name));
  if (found.length === 0) return;
  const message = `The runs in ${directory} are of an earlier version of Holdfast (${found.join(', ')}), and this version cannot read them.`;
  throw new HoldfastError('data-outdated', `${message} To begin anew without them: rm -r "${directory}"`);
}

/** What `server.json` says about the server of a directory. It is there from the start of the process to its end. */
export interface ServerRecord {
  readonly pid: number;
  /** The process on whose leash the server is: it dies with that one. */
  readonly ownerPid: number;
  readonly address: string;
  readonly uiAddress: string | undefined;
  /** Of the server, not of the CLI around it. */
  readonly version: string;
  /** File name inside of the directory, or 'memory'. */
  readonly database: string;
  /** A copied directory brings its record along; that one is about another directory. */
  readonly directory: string;
  /** False until the server has answered for the first time. */
  readonly ready: boolean;
  /** The machine, or container, on which the process ids count. */
  readonly host: string;
}

export function readServerRecord(directory: string): ServerRecord | undefined {
  try {
    const record = JSON.parse(readFileSync(recordPath(directory), 'utf8')) as ServerRecord;
    return record.directory === realpathSync(directory) && Number.isInteger(record.pid) ? record : undefined;
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

/** Says whether the recorded server still runs, and not just some process that got its id. */
export async function recordedServerRuns(record: Pick<ServerRecord, 'pid' | 'address'>): Promise<boolean> {
  if (!isAlive(record.pid)) return false;
  const commandLine = await commandLineOf(record.pid);
  if (commandLine === undefined) return isAlive(record.pid);
  return commandLine.includes(' start-dev ') && `${commandLine} `.includes(` --port ${record.address.split(':').at(-1)} `);
}

/** Shows whoever cannot see our processes that the record is true. Ends with what is returned. */
export function refreshServerRecord(directory: string): () => void {
  const timer = setInterval(() => {
    try {
      utimesSync(recordPath(directory), new Date(), new Date());
    } catch {
      // The record is gone, and with it what it said.
    }
  }, refreshMs);
  timer.unref();
  return () => clearInterval(timer);
}

/** Whether a record of another machine or container is refreshed: then its server has the database open, though no process of it is to be seen here. */
export async function isRefreshed(directory: string): Promise<boolean> {
  const first = statSync(recordPath(directory), { throwIfNoEntry: false })?.mtimeMs;
  for (let waited = 0; waited < 3 * refreshMs; waited += pollMs) {
    await sleep(pollMs);
    const now = statSync(recordPath(directory), { throwIfNoEntry: false })?.mtimeMs;
    if (now === undefined) return false;
    if (now !== first) return true;
  }
  return false;
}

const refreshMs = 2_000;
const pollMs = 200;

function recordPath(directory: string): string {
  return join(directory, 'server.json');
}
