import { closeSync, linkSync, openSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import { HoldfastError } from '../../contract/errors';
import { privateFile } from '../private-files';
import { isAlive } from './process-probe';

export interface FileLock {
  release(): void;
}

export interface FileLockOptions {
  /** Then 'server-locked'. */
  readonly waitMs: number;
  /** Called once when somebody else holds the lock. */
  readonly onWait?: (holderPid: number) => void;
}

interface Holder {
  readonly pid: number;
  readonly host: string;
  readonly token: string;
}

const pollMs = 50;
const refreshMs = 2_000;
const silenceMs = 15_000;

/**
 * Holds a file so that of all processes on the machine one at a time goes on. A lock whose process is dead is taken over at once; one whose
 * holder has not refreshed it for 15 s of our own watching, too (its process id may belong to another process by now, or to another container).
 */
export async function acquireFileLock(path: string, options: FileLockOptions): Promise<FileLock> {
  const own: Holder = { pid: process.pid, host: hostname(), token: randomUUID() };
  const deadline = Date.now() + options.waitMs;
  let told = false;
  let seen = '';
  let seenSince = Date.now();
  while (!tryCreate(path, own)) {
    const holder = readHolder(path);
    if (holder === undefined) continue;
    const sign = `${holder.token} ${modifiedAt(path)}`;
    if (sign !== seen) [seen, seenSince] = [sign, Date.now()];
    const dead = holder.host === own.host && !isAlive(holder.pid);
    if (dead || Date.now() - seenSince > silenceMs) removeStale(path, holder.token);
    else if (Date.now() > deadline) throw lockedBy(path, holder.pid, options.waitMs);
    else if (!told) {
      options.onWait?.(holder.pid);
      told = true;
    }
    await sleep(dead ? 1 : pollMs);
  }
  const refresh = setInterval(() => touch(path), refreshMs);
  refresh.unref();
  return {
    release: () => {
      clearInterval(refresh);
      if (readHolder(path)?.token === own.token) rmSync(path, { force: true });
    },
  };
}

/** The lock appears with its content in one step, so nobody ever reads half of it. */
function tryCreate(path: string, own: Holder): boolean {
  const draft = `${path}.${own.token}`;
  writeFileSync(draft, JSON.stringify(own), { mode: privateFile });
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

function readHolder(path: string): Holder | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Holder;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    return { pid: 0, host: '', token: 'unreadable' };
  }
}

/**
 * Two processes may both find the same lock stale. Only the one that holds the gate removes, and it looks again first; otherwise the second
 * would remove the lock that the first has just made. The gate is held for one synchronous moment.
 */
function removeStale(path: string, token: string): void {
  const gate = `${path}.takeover`;
  try {
    closeSync(openSync(gate, 'wx'));
  } catch {
    const age = Date.now() - modifiedAt(gate);
    if (age > silenceMs && modifiedAt(gate) > 0) rmSync(gate, { force: true });
    return;
  }
  try {
    if (readHolder(path)?.token === token) rmSync(path, { force: true });
  } finally {
    rmSync(gate, { force: true });
  }
}

function modifiedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function touch(path: string): void {
  try {
    utimesSync(path, new Date(), new Date());
  } catch {
    // The directory was removed; then there is nothing left to guard.
  }
}

function lockedBy(path: string, pid: number, waitMs: number): HoldfastError {
  return new HoldfastError('server-locked', `Process ${pid} has held ${path} for more than ${Math.round(waitMs / 1000)} s.`, {
    details: { path, pid },
  });
}
