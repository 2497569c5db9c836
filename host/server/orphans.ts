import { readdirSync, readlinkSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { HoldfastError } from '../../contract/errors';
import { commandLineOf, isAlive, parentOf, processesWith } from './process-probe';

const guardName = 'holdfast-guard';
const graceMs = 3_000;
const patienceMs = 10_000;

/** Whether the process that a server was started by still holds it: through the guard, which dies with the one or ends the other. */
export async function isHeldBy(pid: number, ownerPid: number): Promise<boolean> {
  const guard = await guardOf(pid);
  return guard !== undefined && isAlive(ownerPid) && (await parentOf(guard)) === ownerPid;
}

/** The process that ends a server with its owner. Without one a server is an orphan, and ends by nobody's doing. */
export async function guardOf(pid: number): Promise<number | undefined> {
  const parent = await parentOf(pid);
  if (parent === undefined || parent <= 1) return undefined;
  return (await commandLineOf(parent))?.includes(guardName) === true ? parent : undefined;
}

/** Asks a process to end, and sees that it does. */
export async function endProcess(pid: number, isSame: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + graceMs;
  for (let signal: NodeJS.Signals | undefined = 'SIGTERM'; await isSame(); await sleep(50)) {
    if (signal !== undefined || Date.now() > deadline) kill(pid, signal ?? 'SIGKILL');
    signal = undefined;
  }
}

/**
 * To be called before a server opens a database, with the lock held: two must not have it open. Servers without a guard are ended, those whose owner
 * is gone end by themselves. Throws 'server-locked' for one that somebody holds, whatever the record of the directory says.
 */
export async function freeDatabase(file: string, onProgress: (message: string) => void): Promise<void> {
  const deadline = Date.now() + patienceMs;
  for (let told = false; ; told = true) {
    const [pid] = await serversOn(file);
    if (pid === undefined) return;
    if (!told) onProgress(`Waiting for the Temporal server ${pid}, which has ${file} open, to end.`);
    if ((await guardOf(pid)) === undefined) await endProcess(pid, async () => (await serversOn(file)).includes(pid));
    else if (Date.now() > deadline)
      throw new HoldfastError(
        'server-locked',
        `The Temporal server ${pid} has ${file} open, and another process holds it. End that process, or use another directory.`,
        { details: { pid, path: file } },
      );
    await sleep(100);
  }
}

async function serversOn(file: string): Promise<readonly number[]> {
  const found = statSync(file, { throwIfNoEntry: false });
  const servers = await processesWith(' start-dev ');
  return servers.flatMap(({ pid, commandLine }) => {
    // The command line of a guard ends in that of its server.
    if (commandLine.includes(guardName)) return [];
    if (commandLine.includes(` --db-filename ${file} `) || commandLine.endsWith(` --db-filename ${file}`)) return [pid];
    return found !== undefined && hasOpen(pid, found) ? [pid] : [];
  });
}

/** Also by another path, such as that of a directory that has moved. Only Linux says it. */
function hasOpen(pid: number, { dev, ino }: { readonly dev: number; readonly ino: number }): boolean {
  const folder = `/proc/${pid}/fd`;
  try {
    return readdirSync(folder).some((name) => {
      if (!readlinkSync(`${folder}/${name}`).startsWith('/')) return false;
      const open = statSync(`${folder}/${name}`, { throwIfNoEntry: false });
      return open?.dev === dev && open.ino === ino;
    });
  } catch {
    return false;
  }
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended in this moment.
  }
}
