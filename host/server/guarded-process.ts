import { spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { closeSync, openSync } from 'node:fs';
import { privateFile } from '../private-files';

export interface GuardedProcess {
  /** Of the command itself, not of its guard. */
  readonly pid: number;
  readonly exited: Promise<ProcessExit>;
  /** SIGTERM, after 3 s SIGKILL. Resolves when the process is gone. */
  stop(): Promise<ProcessExit>;
  /** SIGKILL. Resolves when the process is gone. */
  kill(): Promise<ProcessExit>;
}

export interface ProcessExit {
  /** As a shell reports it: 128 and the number of the signal when a signal ended it. */
  readonly code: number;
}

const graceSeconds = 3;

/**
 * The command runs under a shell that holds one end of a pipe; we hold the other. When we die, however we die, the pipe ends and the guard
 * stops the command. When the command ends, the shell ends its guard and itself, before the id of the command can be that of a stranger, whom
 * the guard would end. A line in the pipe says that its owner asks for the end. The guard ignores SIGTERM while it stops the command: who ends
 * the whole session does not keep it from that.
 */
const guardScript = `
umask 077
orphaned=$1
shift
exec 4<&0 </dev/null
"$@" 3>&- 4<&- &
server=$!
echo "$server" >&3
exec 3>&-
(
  asked=no
  while read -r _ <&4; do asked=yes; done
  trap '' TERM
  if [ "$asked" = no ]; then kill "-$orphaned" "$server" 2>/dev/null; fi
  kill -TERM "$server" 2>/dev/null
  ticks=0
  while kill -0 "$server" 2>/dev/null; do
    if [ "$ticks" -ge ${graceSeconds * 10} ]; then kill -KILL "$server" 2>/dev/null; break; fi
    sleep 0.1
    ticks=$((ticks + 1))
  done
) &
guard=$!
exec 4<&-
wait "$server"
code=$?
kill -KILL "$guard" 2>/dev/null
wait "$guard" 2>/dev/null
exit "$code"
`;

/**
 * Starts a command that never outlives this process, even if this process is killed with -9. It runs in a session of its own, so a
 * Ctrl-C in the terminal does not reach it: its owner decides when it goes. It does not keep this process alive.
 */
export async function startGuarded(
  command: string,
  args: readonly string[],
  options: {
    readonly logFile: string;
    readonly environment: NodeJS.ProcessEnv;
    /** What the command gets when this process has died. KILL is for one that is made for it, and that somebody waits for. Default: TERM, after 3 s KILL. */
    readonly orphaned?: 'TERM' | 'KILL';
  },
): Promise<GuardedProcess> {
  const log = openSync(options.logFile, 'w', privateFile);
  const shell = spawn('/bin/sh', ['-c', guardScript, 'holdfast-guard', options.orphaned ?? 'TERM', command, ...args], {
    detached: true,
    stdio: ['pipe', log, log, 'pipe'],
    env: options.environment,
  });
  closeSync(log);
  const leash = shell.stdin as Writable & { unref?(): void };
  const report = shell.stdio[3] as Readable & { unref?(): void };
  leash.on('error', () => undefined);

  const exited = new Promise<ProcessExit>((resolve, reject) => {
    shell.once('error', reject);
    shell.once('exit', (code, signal) => {
      // A guard that outlived its shell sees this and stops the command.
      leash.end('end\n');
      resolve({ code: code ?? (signal === 'SIGKILL' ? 137 : 143) });
    });
  });
  exited.catch(() => undefined);
  const pid = await readPid(report, exited);
  shell.unref();
  leash.unref?.();

  const end = (how: () => void): Promise<ProcessExit> => {
    shell.ref();
    how();
    return exited;
  };
  return {
    pid,
    exited,
    stop: () => end(() => leash.end('end\n')),
    kill: () => end(() => killQuietly(pid, shell.exitCode === null && shell.signalCode === null)),
  };
}

async function readPid(report: Readable, exited: Promise<ProcessExit>): Promise<number> {
  const said = (async () => {
    let text = '';
    for await (const chunk of report) text += String(chunk);
    return Number(text.trim());
  })();
  const pid = await Promise.race([said, exited.then(() => said)]);
  if (!Number.isInteger(pid) || pid <= 0) throw new Error('The guard of the server could not start it.');
  return pid;
}

function killQuietly(pid: number, running: boolean): void {
  if (!running) return;
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended in this moment.
  }
}
