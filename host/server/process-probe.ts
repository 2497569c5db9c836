import { execFile } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';

/** Says whether a process with this id runs. It may be another one than it was: ids are used again. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !isZombie(pid);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Ended, and nobody has asked how: in a container whose first process does not ask, for ever. */
function isZombie(pid: number): boolean {
  try {
    return /\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}

/** The command line of a process, to tell it from another one that got its id; undefined when it cannot be read. */
export async function commandLineOf(pid: number): Promise<string | undefined> {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim() || undefined;
  } catch {
    return (await ps(['-ww', '-o', 'command=', '-p', String(pid)])) || undefined;
  }
}

/** The process that a process belongs to; undefined when nobody can say it. */
export async function parentOf(pid: number): Promise<number | undefined> {
  try {
    const [, parent] = /\) \S (\d+) /.exec(readFileSync(`/proc/${pid}/stat`, 'latin1')) ?? [];
    return parent === undefined ? undefined : Number(parent);
  } catch {
    const said = await ps(['-o', 'ppid=', '-p', String(pid)]);
    return /^\d+$/.test(said) ? Number(said) : undefined;
  }
}

/** The processes whose command line has a text in it. */
export async function processesWith(text: string): Promise<readonly { readonly pid: number; readonly commandLine: string }[]> {
  const all = existsSync('/proc/self/cmdline') ? fromProc() : fromTable(await ps(['-axww', '-o', 'pid=,command=']));
  return all.filter(({ commandLine }) => commandLine.includes(text));
}

function fromProc(): readonly { readonly pid: number; readonly commandLine: string }[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        return [{ pid: Number(name), commandLine: readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ').trim() }];
      } catch {
        return [];
      }
    });
}

function fromTable(table: string): readonly { readonly pid: number; readonly commandLine: string }[] {
  return table.split('\n').flatMap((row) => {
    const [, pid, commandLine] = /^\s*(\d+)\s+(.*)$/.exec(row) ?? [];
    return pid === undefined || commandLine === undefined ? [] : [{ pid: Number(pid), commandLine }];
  });
}

/** What `ps` says, or nothing. */
function ps(args: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile('ps', [...args], { maxBuffer: 16 * 1024 * 1024 }, (error, stdout) => resolve(error ? '' : stdout.trim()));
  });
}
