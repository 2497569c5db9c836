import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Says whether a process with this id exists. It may be another one than it was: ids are used again. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** The command line of a process, to tell it from another one that got its id; undefined when it cannot be read. */
export async function commandLineOf(pid: number): Promise<string | undefined> {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim() || undefined;
  } catch {
    return new Promise((resolve) => {
      execFile('ps', ['-ww', '-o', 'command=', '-p', String(pid)], (error, stdout) =>
        resolve(error ? undefined : stdout.trim() || undefined),
      );
    });
  }
}
