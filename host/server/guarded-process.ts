import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { constants } from 'node:os';
import type { Socket } from 'node:net';
import { privateFile } from '../private-files';

export interface GuardedProcess {
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

const graceMs = 3_000;

/**
 * The shell becomes the command. Its child reads a pipe whose other end we hold, and ends the command when the pipe ends, as it does however we die. A
 * line in the pipe says that the command has ended: its id may soon be a stranger's.
 */
const guardScript = `
umask 077
exec 4<&0 </dev/null
(read -r _ <&4 || kill -KILL $$) >/dev/null 2>&1 &
exec "$@" 4<&-
`;

/**
 * Starts a command that never outlives this process, even if this process is killed with -9. It runs in a session of its own, so a
 * Ctrl-C in the terminal does not reach it: its owner decides when it goes. It does not keep this process alive.
 */
export async function startGuarded(
  command: string,
  args: readonly string[],
  options: { readonly logFile: string; readonly environment: NodeJS.ProcessEnv },
): Promise<GuardedProcess> {
  const log = openSync(options.logFile, 'w', privateFile);
  const child = spawn('/bin/sh', ['-c', guardScript, 'holdfast-guard', command, ...args], {
    detached: true,
    stdio: ['pipe', log, log],
    env: options.environment,
  });
  closeSync(log);
  const leash = child.stdin as Socket;
  leash.on('error', () => undefined);
  const exited = new Promise<ProcessExit>((resolve) => {
    child.once('exit', (code, signal) => {
      leash.end('ended\n');
      resolve({ code: code ?? 128 + constants.signals[signal ?? 'SIGTERM'] });
    });
  });
  await once(child, 'spawn');
  child.unref();
  leash.unref();
  const end = (signal: NodeJS.Signals): Promise<ProcessExit> => {
    child.ref();
    child.kill(signal);
    return exited;
  };
  return {
    pid: child.pid ?? 0,
    exited,
    kill: () => end('SIGKILL'),
    stop: async () => {
      const impatience = setTimeout(() => child.kill('SIGKILL'), graceMs);
      return end('SIGTERM').finally(() => clearTimeout(impatience));
    },
  };
}
