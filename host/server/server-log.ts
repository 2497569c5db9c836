import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { HoldfastError } from '../../contract/errors';
import { fullDisk } from '../system-errors';

export function logOf(directory: string): string {
  return join(directory, 'server.log');
}

function endOfLog(logFile: string): string {
  try {
    return readFileSync(logFile, 'utf8').trim().slice(-1_000);
  } catch {
    return '';
  }
}

export function serverFailure(what: string, logFile: string, cause?: unknown): HoldfastError {
  const log = endOfLog(logFile);
  const said = log === '' ? `Its log, ${logFile}, is empty.` : `Its log ends: ${log}`;
  const full = fullDisk(new Error(log)) ?? fullDisk(cause);
  return new HoldfastError(full === undefined ? 'server-failed' : 'disk-full', `${what} ${said}`, cause === undefined ? {} : { cause });
}
