import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandLineOf, isAlive } from './process-probe';

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
}

export function readServerRecord(directory: string): ServerRecord | undefined {
  try {
    const record = JSON.parse(readFileSync(recordPath(directory), 'utf8')) as ServerRecord;
    return record.directory === directory && Number.isInteger(record.pid) ? record : undefined;
  } catch {
    return undefined;
  }
}

export function writeServerRecord(record: ServerRecord): void {
  const path = recordPath(record.directory);
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(record, undefined, 2)}\n`);
  renameSync(draft, path);
}

export function removeServerRecord(directory: string, pid: number): void {
  if (readServerRecord(directory)?.pid === pid) rmSync(recordPath(directory), { force: true });
}

/** Says whether the recorded server still runs, and not just some process that got its id. */
export async function recordedServerRuns(record: ServerRecord): Promise<boolean> {
  if (!isAlive(record.pid)) return false;
  const commandLine = await commandLineOf(record.pid);
  if (commandLine === undefined) return isAlive(record.pid);
  return commandLine.includes(' start-dev ') && commandLine.includes(` --port ${record.address.split(':').at(-1)}`);
}

function recordPath(directory: string): string {
  return join(directory, 'server.json');
}
