import { execFile } from 'node:child_process';
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { commandLineOf } from './process-probe';

export interface PortOwner {
  readonly pid: number;
  /** The beginning of its command line, without what may be secret in its options. */
  readonly program: string;
}

/** The process that listens on a port of this machine; undefined when it belongs to somebody else, or nobody can say it. */
export async function ownerOfPort(port: number): Promise<PortOwner | undefined> {
  const pid = inProc(port) ?? (await inTable(port));
  const commandLine = pid === undefined ? undefined : await commandLineOf(pid);
  return pid === undefined || commandLine === undefined ? undefined : { pid, program: withoutOptions(commandLine) };
}

/** Words before the first option: a program, its script and a command. */
function withoutOptions(commandLine: string): string {
  const words = commandLine.split(/\s+/);
  const first = words.findIndex((word, position) => position > 0 && word.startsWith('-'));
  return words.slice(0, first < 0 ? 3 : Math.min(first, 3)).join(' ');
}

const listening = '0A';

/** Linux: which sockets listen on the port, and which process has one of them open. */
function inProc(port: number): number | undefined {
  try {
    const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
    const sockets = ['tcp', 'tcp6'].flatMap((table) => {
      const rows = readFileSync(`/proc/net/${table}`, 'utf8').split('\n').slice(1);
      return rows.flatMap((row) => {
        const [, local = '', , state, , , , , , inode] = row.trim().split(/\s+/);
        return local.endsWith(suffix) && state === listening ? [`socket:[${inode ?? ''}]`] : [];
      });
    });
    if (sockets.length === 0) return undefined;
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    return pids.map(Number).find((pid) => hasOpen(pid, sockets));
  } catch {
    return undefined;
  }
}

/** Nothing for a process of somebody else, and for one that has just ended. */
function hasOpen(pid: number, sockets: readonly string[]): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((file) => sockets.includes(targetOf(`/proc/${pid}/fd/${file}`)));
  } catch {
    return false;
  }
}

function targetOf(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    return '';
  }
}

/** Elsewhere. */
function inTable(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    execFile('lsof', ['-nP', `-iTCP:${port}`, '-sTCP:LISTEN', '-t'], { timeout: 5_000 }, (error, stdout) => {
      const pid = Number(stdout.split('\n')[0]);
      resolve(error === null && pid > 0 ? pid : undefined);
    });
  });
}
